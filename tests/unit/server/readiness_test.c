/* SPDX-License-Identifier: Apache-2.0 */
#include "readiness.h"

#include <criterion/criterion.h>
#include <pthread.h>

#include "rpc/health.h"

Test(readiness, serving_is_all_parts_together)
{
    static const struct {
        enum wr_ready_part part;
        bool is_there, is_serving;
    } rows[] = {
        {WR_READY_STORE, true, false},       {WR_READY_RULES, true, true},
        {WR_READY_RULES, true, true},        {WR_READY_STORE, false, false},
        {WR_READY_STORE, false, false},      {WR_READY_RULES, false, false},
        {WR_READY_STORE, true, false},       {WR_READY_RULES, true, true},
        {WR_READY_PER_SECOND, false, false}, {WR_READY_PER_SECOND, true, true},
    };
    struct wr_health *const health = wr_health_new(1);
    struct wr_readiness readiness;

    wr_readiness_init(&readiness, health);
    wr_readiness_set(&readiness, WR_READY_PER_SECOND, true);
    cr_assert_not(wr_health_is_serving(health));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wr_readiness_set(&readiness, rows[i].part, rows[i].is_there);
        cr_assert_eq(wr_health_is_serving(health), rows[i].is_serving, "row %zu", i);
        cr_assert_eq(wr_readiness_has(&readiness, rows[i].part), rows[i].is_there, "row %zu", i);
    }
    wr_health_destroy(health);
}

static void *toggle_store(void *context)
{
    for (int i = 0; i < 2000; i++) {
        wr_readiness_set(context, WR_READY_STORE, i % 2 == 0);
    }
    return NULL;
}

Test(readiness, health_agrees_when_two_threads_have_set_it)
{
    struct wr_health *const health = wr_health_new(1);
    struct wr_readiness readiness;
    pthread_t thread;

    wr_readiness_init(&readiness, health);
    wr_readiness_set(&readiness, WR_READY_PER_SECOND, true);
    cr_assert_eq(pthread_create(&thread, NULL, toggle_store, &readiness), 0);
    for (int i = 0; i < 2001; i++) {
        wr_readiness_set(&readiness, WR_READY_RULES, i % 2 == 0);
    }
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_not(wr_health_is_serving(health));
    wr_readiness_set(&readiness, WR_READY_STORE, true);
    cr_assert(wr_health_is_serving(health));
    wr_health_destroy(health);
}
