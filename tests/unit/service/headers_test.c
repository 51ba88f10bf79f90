/* SPDX-License-Identifier: Apache-2.0 */
#include "service/headers.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct wr_settings settings = {.limit_header = WR_STR("A"),
                                            .remaining_header = WR_STR("B"),
                                            .reset_header = WR_STR("C"),
                                            .degraded_header = WR_STR("D")};

Test(headers, are_limit_remaining_reset_in_this_order)
{
    static const struct {
        struct wr_descriptor_status status;
        const char *values[3];
    } rows[] = {
        {{.requests_per_unit = 0, .limit_remaining = 0, .reset_us = 1}, {"0", "0", "1"}},
        {{.requests_per_unit = UINT32_MAX, .limit_remaining = UINT32_MAX, .reset_us = 1000000},
         {"4294967295", "4294967295", "1"}},
        {{.requests_per_unit = 5, .limit_remaining = 3, .reset_us = INT64_C(31536000000000)},
         {"5", "3", "31536000"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_headers headers = {.status = &rows[i].status};
        struct wr_response response = {0};
        struct wr_arena arena;

        wr_arena_init(&arena, 256);
        cr_assert(wr_headers_write(&settings, &headers, &arena, &response));
        cr_assert_eq(response.n_headers, 3);
        for (size_t k = 0; k < 3; k++) {
            cr_assert(wr_str_equal(response.headers[k].name, (struct wr_str){&"ABC"[k], 1}));
            cr_assert(wr_str_equal(response.headers[k].value, wr_str_of(rows[i].values[k])),
                      "row %zu, header %zu", i, k);
        }
        wr_arena_fini(&arena);
    }
}

Test(headers, say_who_decided_behind_what_else_there_is)
{
    static const struct wr_descriptor_status status = {.requests_per_unit = 5};
    static const struct {
        struct wr_headers headers;
        const char *names;
    } rows[] = {
        {{.status = NULL}, ""},
        {{.status = NULL, .decider = WR_STR("deny")}, "D"},
        {{.status = &status}, "ABC"},
        {{.status = &status, .decider = WR_STR("deny")}, "ABCD"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t n = strlen(rows[i].names);
        struct wr_response response = {0};
        struct wr_arena arena;

        wr_arena_init(&arena, 256);
        cr_assert(wr_headers_write(&settings, &rows[i].headers, &arena, &response));
        cr_assert_eq(response.n_headers, n, "row %zu", i);
        for (size_t k = 0; k < n; k++) {
            cr_assert(wr_str_equal(response.headers[k].name, (struct wr_str){&rows[i].names[k], 1}),
                      "row %zu, header %zu", i, k);
        }
        if (rows[i].headers.decider.len > 0) {
            cr_assert(wr_str_equal(response.headers[n - 1].value, wr_str_of("deny")), "row %zu", i);
        }
        wr_arena_fini(&arena);
    }
}
