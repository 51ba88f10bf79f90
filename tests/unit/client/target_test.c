/* SPDX-License-Identifier: Apache-2.0 */
#include "client/target.h"

#include <criterion/criterion.h>

Test(target, accepts_every_good_spelling)
{
    static const char *const good[] = {
        "127.0.0.1:8081", "localhost:1",    "weir.example:65535",    "[::1]:8081",
        "unix:/run/w",    "unix:w.sock",    "unix:///run/weir.sock", "dns:///weir.default.svc:8081",
        "dns:weir:8081",  "ipv4:1.2.3.4:5", "ipv6:[::1]:8081",       "dns://10.0.0.1/weir:8081",
    };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct weir_error error = {0};

        cr_assert_eq(weir_target_check(good[i], &error), WEIR_OK, "%s: %s", good[i], error.text);
    }
}

static const struct {
    const char *target;
    const char *part; /* of the text */
} bad[] = {
    {"", "needs a host and a port"},
    {"weir", "needs a host and a port"},
    {":8081", "needs a host and a port"},
    {"weir:", "needs a host and a port"},
    {"weir:0", "needs a host and a port"},
    {"weir:65536", "needs a host and a port"},
    {"weir:99999999999999999999", "needs a host and a port"},
    {"weir:grpc", "needs a host and a port"},
    {"weir:80 ", "needs a host and a port"},
    {"dns:///weir", "needs a host and a port"},
    {"dns://weir:8081", "needs a host and a port"},
    {"::1:8081", "in brackets"},
    {"ipv6:::1:8081", "in brackets"},
    {"http://weir:8081", "write host:port"},
    {"unix:", "a socket's path"},
};

Test(target, refuses_the_rest_and_shows_how_to_write_it)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct weir_error error = {0};

        cr_assert_eq(weir_target_check(bad[i].target, &error), WEIR_ERR_INVALID, "%s",
                     bad[i].target);
        cr_assert_neq(strstr(error.text, bad[i].part), NULL, "%s: %s", bad[i].target, error.text);
        cr_assert_eq(weir_target_check(bad[i].target, NULL), WEIR_ERR_INVALID);
    }
}

Test(target, refuses_a_path_that_no_socket_can_have)
{
    char target[5 + 108 + 1] = "unix:";

    memset(&target[5], 'p', 107);
    cr_assert_eq(weir_target_check(target, NULL), WEIR_OK);
    target[5 + 107] = 'p';
    cr_assert_eq(weir_target_check(target, NULL), WEIR_ERR_INVALID);
}
