/* SPDX-License-Identifier: Apache-2.0 */
#include "option_near.h"

#include <criterion/criterion.h>

static const struct {
    const char *name, *near;
} rows[] = {
    {"WEIR_WORKER", "WEIR_WORKERS"},
    {"WEIR_WROKERS", "WEIR_WORKERS"},
    {"WEIR_MAX_COUNTER", "WEIR_MAX_COUNTERS"},
    {"WEIR_DRAIN_TIMEOUT_MS", "WEIR_DRAIN_TIMEOUT"},
    {"WEIR_GRPCLISTEN", "WEIR_GRPC_LISTEN"},
    {"WEIR_WORKERS", NULL},
    {"WEIR_RULES", NULL},
    {"WEIR_", NULL},
    {"WEIR_PORT", NULL},
    {"WEIR_PORT_8081_TCP", NULL},
    {"WEIR_PORT_8081_TCP_ADDR", NULL},
    {"WEIR_SERVICE_HOST", NULL},
    {"WEIR_SERVICE_PORT", NULL},
    {"WEIR_SERVICE_PORT_GRPC", NULL},
    {"WEIR_VERSION", NULL},
    {"WEIR_A_NAME_THAT_IS_MUCH_LONGER_THAN_ANY_VARIABLE_OF_THE_TABLE_EVER_IS", NULL},
};

Test(option_near, knows_a_slip_and_what_is_none)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const near = wr_option_near(wr_str_of(rows[i].name));

        cr_assert_eq(near == NULL, rows[i].near == NULL, "%s: %s", rows[i].name, near);
        if (near != NULL) {
            cr_assert_str_eq(near, rows[i].near);
        }
    }
}

static const struct {
    const char *name, *near;
} flag_rows[] = {
    {"listen", "grpc-listen"},
    {"grpc-listn", "grpc-listen"},
    {"worker", "workers"},
    {"rulse", "rules"},
    {"redis_url", "redis-url"},
    {"isten", NULL},
    {"port", NULL},
    {"", NULL},
    {"a-name-that-is-much-longer-than-any-flag-of-the-table-ever-is-or-will-be", NULL},
};

Test(option_near, knows_a_flag_by_a_slip_or_its_last_word)
{
    for (size_t i = 0; i < sizeof flag_rows / sizeof flag_rows[0]; i++) {
        const char *const near = wr_option_near_flag(wr_str_of(flag_rows[i].name));

        cr_assert_eq(near == NULL, flag_rows[i].near == NULL, "%s: %s", flag_rows[i].name, near);
        if (near != NULL) {
            cr_assert_str_eq(near, flag_rows[i].near);
        }
    }
}
