/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/address.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

Test(address, is_connected_to_in_each_spelling)
{
    static const char *const spellings[] = {"127.0.0.1:%u", "ipv4:127.0.0.1:%u", "dns:127.0.0.1:%u",
                                            "dns:///127.0.0.1:%u", "[127.0.0.1]:%u"};
    unsigned int port;
    const int listener = loopback_listen(&port);

    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char target[64];
        char number[8];
        struct weir_error error = {.code = WEIR_OK};
        const char *mark = strchr(spellings[i], '%');

        snprintf(number, sizeof number, "%u", port);
        snprintf(target, sizeof target, "%.*s%s", (int) (mark - spellings[i]), spellings[i],
                 number);

        const int fd = weirctl_address_connect(target, 5000, &error);

        cr_assert_geq(fd, 0, "%s: %s", target, error.text);
        cr_assert_neq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
        close(fd);
    }
    close(listener);
}

static const struct {
    const char *target;
    const char *part;
} nobodies[] = {
    {"127.0.0.1:1", "no connection to 127.0.0.1:1: Connection refused"},
    {"unix:/nonexistent/weir.sock", "No such file or directory"},
    {"dns:///weir.invalid:8081", "no connection to dns:///weir.invalid:8081: "},
};

Test(address, of_nobody_is_an_error_that_says_why)
{
    for (size_t i = 0; i < sizeof nobodies / sizeof nobodies[0]; i++) {
        struct weir_error error = {.code = WEIR_OK};

        cr_assert_eq(weirctl_address_connect(nobodies[i].target, 5000, &error), -1);
        cr_assert_eq(error.code, WEIR_ERR_CONNECT);
        cr_assert_neq(strstr(error.text, nobodies[i].part), NULL, "%s", error.text);
    }
}
