/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/address.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(address, is_read_as_people_write_it)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"127.0.0.1:8081", "127.0.0.1:8081"},
        {"0.0.0.0:0", "0.0.0.0:0"},
        {"[::]:8081", "[::]:8081"},
        {":::8081", "[::]:8081"},
        {":8081", "[::]:8081"},
        {"[]:8081", "[::]:8081"},
        {"[::1]:65535", "[::1]:65535"},
        {"::1:80", "[::1]:80"},
        {"localhost:00080", "127.0.0.1:80"},
        {"unix:/run/weir.sock", "unix:/run/weir.sock"},
        {"unix:///run/weir.sock", "unix:/run/weir.sock"},
        {"unix:weir.sock", "unix:weir.sock"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_address address;
        const char *reason = "";
        char text[WR_ADDRESS_TEXT_SIZE];

        cr_assert_eq(wr_address_parse(wr_str_of(rows[i].text), &address, &reason), WR_OK, "%s %s",
                     rows[i].text, reason);
        wr_address_format(&address, text);
        cr_assert_str_eq(text, rows[i].want);
    }
}

Test(address, that_is_none_is_refused_with_a_reason)
{
    static const char *const rows[] = {
        "",        "8081",      "localhost",   "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536",
        "[::1:80", "[:80",      "::1]:80",     "1.2.3.4:-1", "1.2.3.4:+1",     "1.2.3.4: 1",
        "unix:",   "unix:@abs", "unix://@abs", "999.1.1.1:1"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_address address;
        const char *reason = NULL;

        cr_assert_eq(wr_address_parse(wr_str_of(rows[i]), &address, &reason), WR_ERR_INVALID, "%s",
                     rows[i]);
        cr_assert_not_null(reason);
    }
}

Test(address, holds_no_NUL_byte)
{
    static const struct wr_str text = WR_STR("127.0.0.1\0:80");
    struct wr_address address;
    const char *reason = NULL;

    cr_assert_eq(wr_address_parse(text, &address, &reason), WR_ERR_INVALID);
}

Test(address, of_a_path_or_host_that_is_too_long_is_refused)
{
    char text[400];
    struct wr_address address;
    const char *reason = NULL;

    memset(text, 'a', sizeof text);
    memcpy(text, "unix:", 5);
    cr_assert_eq(wr_address_parse((struct wr_str){.ptr = text, .len = 5 + 107}, &address, &reason),
                 WR_OK);
    cr_assert_eq(strlen(wr_address_path(&address)), 107);
    cr_assert_eq(wr_address_parse((struct wr_str){.ptr = text, .len = 5 + 108}, &address, &reason),
                 WR_ERR_INVALID);
    memcpy(text, "aaaaa", 5);
    memcpy(text + 300, ":1", 2);
    cr_assert_eq(wr_address_parse((struct wr_str){.ptr = text, .len = 302}, &address, &reason),
                 WR_ERR_INVALID);
}

Test(address, that_is_dual_has_an_IPv4_form)
{
    struct wr_address address, only;
    const char *reason = NULL;
    char text[WR_ADDRESS_TEXT_SIZE];

    cr_assert_eq(wr_address_parse(wr_str_of("[::]:8081"), &address, &reason), WR_OK);
    cr_assert(wr_address_is_dual(&address));
    only = wr_address_only_v4(&address);
    wr_address_format(&only, text);
    cr_assert_str_eq(text, "0.0.0.0:8081");
    cr_assert_not(wr_address_is_dual(&only));
    cr_assert_eq(wr_address_parse(wr_str_of("[::1]:8081"), &address, &reason), WR_OK);
    cr_assert_not(wr_address_is_dual(&address));
}
