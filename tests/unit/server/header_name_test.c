/* SPDX-License-Identifier: Apache-2.0 */
#include "header_name.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    struct wr_str name;
    bool is_free;
} rows[] = {
    {WR_STR("x-limit_1!~"), true},  {WR_STR("x-grpc-status"), true},
    {WR_STR("tea"), true},          {WR_STR("grpc"), true},
    {WR_STR("grpc-status"), false}, {WR_STR("GRPC-Message"), false},
    {WR_STR("TE"), false},          {WR_STR("Content-Type"), false},
    {WR_STR("upgrade"), false},     {WR_STR("transfer-encoding"), false},
    {WR_STR(":status"), false},     {WR_STR(""), false},
    {WR_STR("x limit"), false},     {WR_STR("x:limit"), false},
    {WR_STR("x\xc3\xa4"), false},   {WR_STR("x\0"), false},
};

Test(header_name, is_a_token_that_nobody_else_sets)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_header_name_is_free(rows[i].name), rows[i].is_free, "%.*s",
                     (int) rows[i].name.len, rows[i].name.ptr);
    }
}

Test(header_name, is_short_enough_for_any_proxy)
{
    char name[257];

    memset(name, 'x', sizeof name);
    cr_assert(wr_header_name_is_free((struct wr_str){.ptr = name, .len = 256}));
    cr_assert_not(wr_header_name_is_free((struct wr_str){.ptr = name, .len = 257}));
}
