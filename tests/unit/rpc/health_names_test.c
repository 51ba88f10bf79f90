/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health_names.h"

#include <criterion/criterion.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    struct wr_str service;
    enum wr_serving when_not, when_serving;
} cases[] = {
    {WR_STR(""), WR_SERVING_NO, WR_SERVING_YES},
    {WR_STR("ratelimit"), WR_SERVING_NO, WR_SERVING_YES},
    {WR_STR("envoy.service.ratelimit.v3.RateLimitService"), WR_SERVING_NO, WR_SERVING_YES},
    {WR_STR("live"), WR_SERVING_YES, WR_SERVING_YES},
    {WR_STR("Live"), WR_SERVING_SERVICE_UNKNOWN, WR_SERVING_SERVICE_UNKNOWN},
    {WR_STR("live\0"), WR_SERVING_SERVICE_UNKNOWN, WR_SERVING_SERVICE_UNKNOWN},
    {WR_STR("rate"), WR_SERVING_SERVICE_UNKNOWN, WR_SERVING_SERVICE_UNKNOWN},
    {WR_STR("envoy.service.ratelimit.v2.RateLimitService"), WR_SERVING_SERVICE_UNKNOWN,
     WR_SERVING_SERVICE_UNKNOWN},
};

Test(health_names, follow_the_server_but_for_the_one_that_says_it_is_alive)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert_eq(wr_health_names_serving(cases[i].service, false), cases[i].when_not, "row %zu",
                     i);
        cr_assert_eq(wr_health_names_serving(cases[i].service, true), cases[i].when_serving,
                     "row %zu", i);
    }
}

Test(health_names, in_rows_are_all_that_are_known_and_say_the_same)
{
    for (int is_serving = 0; is_serving <= 1; is_serving++) {
        struct wr_health_row rows[WR_HEALTH_NAMES];

        wr_health_names_rows(is_serving != 0, rows);
        for (size_t i = 0; i < WR_HEALTH_NAMES; i++) {
            cr_assert(wr_str_equal(rows[i].service, cases[i].service), "row %zu", i);
            cr_assert_eq(rows[i].serving, wr_health_names_serving(rows[i].service, is_serving != 0),
                         "row %zu", i);
        }
    }
}
