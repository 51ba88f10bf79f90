/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fates.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "store/fallback_store.h"
#include "store/over_limit_cache.h"
#include "store/split_store.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/store/handed.h"

#define SECOND INT64_C(1000000)

static struct handed handed;

/* Groups, and the fate of each take: a digit a take. */
static const struct {
    const char *groups, *fates;
    enum wr_charge_mode mode;
} cases[] = {
    {"", "", WR_CHARGE_BY_COUNT},
    {"5", "0", WR_CHARGE_BY_COUNT},
    {"000", "000", WR_CHARGE_BY_COUNT},
    {"012", "012", WR_CHARGE_BY_COUNT},
    {"11557", "00224", WR_CHARGE_BY_COUNT},
    {"7373", "0101", WR_CHARGE_BY_COUNT},
    {"99012090", "00234202", WR_CHARGE_BY_COUNT},
    {"0120", "0000", WR_CHARGE_STOP},
};

static void fill(struct wr_take *takes, const char *groups)
{
    for (size_t i = 0; groups[i] != '\0'; i++) {
        takes[i] = (struct wr_take){.group = (uint32_t) (groups[i] - '0')};
    }
}

Test(fates, are_named_by_the_first_take_of_a_group)
{
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct wr_take takes[16];

        handed_init(&handed);
        fill(takes, cases[c].groups);
        handed.batch.takes = takes;
        handed.batch.n_takes = strlen(cases[c].groups);
        handed.batch.mode = cases[c].mode;

        const size_t *const fates = wr_fates_of(&handed.batch);

        cr_assert_not_null(fates);
        for (size_t i = 0; i < handed.batch.n_takes; i++) {
            cr_assert_eq(fates[i], (size_t) (cases[c].fates[i] - '0'), "%s: take %zu has %zu",
                         cases[c].groups, i, fates[i]);
        }
        handed_fini(&handed);
    }
}

Test(fates, are_not_known_when_memory_is_out)
{
    for (size_t n_good = 0; n_good < 2; n_good++) {
        static struct wr_take takes[4096];

        handed_init(&handed);
        takes[0].group = 1;
        handed.batch.takes = takes;
        handed.batch.n_takes = sizeof takes / sizeof takes[0];
        failing_malloc_start(n_good);
        cr_assert_null(wr_fates_of(&handed.batch));
        failing_malloc_stop();
        handed_fini(&handed);
    }
}

/* ---- a batch of any size ---- */

#define MANY 300000

/* In place of a remote store; it has an answer for every second take. */
static void take_half(struct wr_backend *backend, struct wr_batch *batch)
{
    (void) backend;
    for (size_t i = 0; i < batch->n_takes; i++) {
        batch->takes[i].answer = i % 2 == 0 ? WR_TAKE_DECIDED : WR_TAKE_AWAY;
    }
    batch->done(batch, batch->context);
}

static void leave(struct wr_backend *backend)
{
    (void) backend;
}

static struct wr_backend halves[2];
static _Atomic uint32_t replicas = 1;
static struct wr_clock wall;

static struct wr_now read_time(void *context)
{
    return ((const struct handed *) context)->batch.now;
}

static struct wr_backend *make_cache(struct wr_backend *first, struct wr_backend *second)
{
    const struct wr_over_limit_cache_options options = {.max_entries = 64, .clock = &wall};
    struct wr_backend *made;

    (void) second;
    wr_clock_init(&wall, read_time, &handed);
    cr_assert_eq(wr_over_limit_cache_new(&options, &first, &made), WR_OK);
    return made;
}

static struct wr_backend *make_split(struct wr_backend *first, struct wr_backend *second)
{
    struct wr_backend *made;

    cr_assert_eq(wr_split_store_new(&first, &second, &made), WR_OK);
    return made;
}

static struct wr_backend *make_fallback(struct wr_backend *first, struct wr_backend *second)
{
    const struct wr_fallback_options options = {.replicas = &replicas, .metrics = handed.metrics};
    struct wr_backend *made;

    cr_assert_eq(wr_fallback_store_new(&options, &first, &second, &made), WR_OK);
    return made;
}

static const struct {
    const char *what;
    struct wr_backend *(*make)(struct wr_backend *first, struct wr_backend *second);
} stores[] = {
    {"over-limit cache", make_cache},
    {"split store", make_split},
    {"fallback store", make_fallback},
};

/* Two takes a group, all of them bound: to look at each of them for each is more than ten seconds'
 * work, to go over them once is a tenth of one. */
Test(fates, let_a_batch_of_any_size_be_gone_over_once)
{
    static const struct wr_backend_ops ops = {.take = take_half, .destroy = leave};
    static struct wr_take takes[MANY];

    for (size_t s = 0; s < sizeof stores / sizeof stores[0]; s++) {
        handed_init(&handed);
        halves[0].ops = halves[1].ops = &ops;
        for (size_t i = 0; i < MANY; i++) {
            takes[i] = (struct wr_take){
                .key = WR_STR("a"),
                .limit = {.requests = 3,
                          .length_us = SECOND,
                          .count = i % 2 == 0 ? WR_COUNT_ALL : WR_COUNT_ALL_OR_NOTHING},
                .hits = 1,
                .group = (uint32_t) (i / 2),
                .is_enforced = true,
                .has_local_fallback = true,
            };
        }
        takes[MANY - 1].limit.length_us = 60 * SECOND;

        struct wr_backend *const store = stores[s].make(&halves[0], &halves[1]);
        const clock_t began = clock();

        handed_put(&handed, store, takes, MANY);
        cr_assert_eq(handed.n_done, 1);
        cr_assert_lt(clock() - began, 10 * CLOCKS_PER_SEC, "%s", stores[s].what);
        wr_backend_destroy(store);
        handed_fini(&handed);
    }
}
