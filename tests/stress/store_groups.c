/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of the local store under many threads: each takes of random keys, in any order, several
 * times of one key now and then, and either all of a group are charged or none. So of what each key
 * was used at the end, not one hit more or fewer is there than the admitted groups brought, and no
 * key is over its limit. Plain takes come in between, and onlookers
 * see both keys of a pair at one count, since pairs are only charged together. Nobody waits for
 * ever.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    THREADS = 8,
    KEYS = 64,
    PAIRS = 4,
    GROUP = 6,     /* takes, at most */
    TAKES = 20000, /* groups of a thread */
    LIMIT = 3000,
    PAIR_LIMIT = 4000,
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics_block *blocks[THREADS];
    _Atomic uint64_t used[KEYS];
    _Atomic uint64_t n_admitted, n_refused;
    _Atomic uint64_t pairs_admitted[PAIRS];
};

static struct wr_take take_of(const uint64_t *key, uint64_t requests, uint64_t hits)
{
    return (struct wr_take){
        .key = {(const char *) key, sizeof *key},
        .limit = {.requests = requests, .length_us = S(60), .count = WR_COUNT_ALL_OR_NOTHING},
        .hits = hits,
        .group = 1,
        .is_enforced = true,
    };
}

static void take_group(struct shared *shared, struct wr_taker *taker, uint64_t *random)
{
    const size_t n = 1 + wr_crew_random(random) % GROUP;
    uint64_t keys[GROUP];
    struct wr_take takes[GROUP];
    size_t n_over = 0;

    for (size_t i = 0; i < n; i++) {
        keys[i] = wr_crew_random(random) % KEYS;
        takes[i] = take_of(&keys[i], LIMIT, 1 + wr_crew_random(random) % 3);
    }
    wr_taker_batch(taker, takes, n);
    for (size_t i = 0; i < n; i++) {
        wr_check(takes[i].answer == WR_TAKE_DECIDED, "a take was not decided");
        n_over += takes[i].verdict.over;
    }
    atomic_fetch_add(n_over == 0 ? &shared->n_admitted : &shared->n_refused, 1);
    for (size_t i = 0; i < n && n_over == 0; i++) {
        atomic_fetch_add(&shared->used[keys[i]], takes[i].hits);
    }
}

/* Charges both keys of a pair, or in stop mode looks at both: always at one count. */
static void take_pair(struct shared *shared, struct wr_taker *taker, uint64_t random)
{
    const uint64_t pair = random % PAIRS;
    const uint64_t keys[2] = {1000 + 2 * pair, 1001 + 2 * pair};
    const uint64_t hits = random >> 8 & 1;
    struct wr_take takes[2] = {
        take_of(&keys[random >> 9 & 1], PAIR_LIMIT, hits),
        take_of(&keys[~random >> 9 & 1], PAIR_LIMIT, hits),
    };

    taker->mode = hits == 0 ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT;
    wr_taker_batch(taker, takes, 2);
    taker->mode = WR_CHARGE_BY_COUNT;
    wr_check(takes[0].verdict.over == takes[1].verdict.over &&
                 takes[0].verdict.remaining == takes[1].verdict.remaining,
             "half of a pair: %" PRIu64 " and %" PRIu64 " remain", takes[0].verdict.remaining,
             takes[1].verdict.remaining);
    if (!takes[0].verdict.over) {
        atomic_fetch_add(&shared->pairs_admitted[pair], hits);
    }
}

static struct wr_taker taker_of(struct shared *shared, size_t number)
{
    return (struct wr_taker){
        .backend = shared->backend,
        .metrics = shared->blocks[number],
        .limit = {.requests = LIMIT, .length_us = S(60)},
        .now = {.wall_us = S(600), .mono_us = S(600)},
    };
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_taker taker = taker_of(shared, number);
    uint64_t random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < TAKES; i++) {
        take_group(shared, &taker, &random);
        take_pair(shared, &taker, wr_crew_random(&random) >> 4);
        (void) wr_taker_take_number(&taker, 5000 + random % 100); /* alone, in the same stripes */
    }
}

static void check_key(struct shared *shared, uint64_t key, uint64_t limit, uint64_t used)
{
    struct wr_taker taker = taker_of(shared, 0);
    const struct wr_str name = {(const char *) &key, sizeof key};

    taker.limit.requests = limit;

    const struct wr_take look = wr_taker_take(&taker, name, 0);

    wr_check(used <= limit, "key %" PRIu64 ": %" PRIu64 " admitted", key, used);
    wr_check(!look.verdict.over && look.verdict.remaining == limit - used,
             "key %" PRIu64 ": %" PRIu64 " admitted, and %" PRIu64 " remain of %" PRIu64, key, used,
             look.verdict.remaining, limit);
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = 100000, .n_stripes = 16};
    struct wr_metrics *const metrics = wr_metrics_new();
    struct shared shared = {0};

    wr_check(metrics != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared.backend) == WR_OK, "no store");
    for (size_t i = 0; i < THREADS; i++) {
        shared.blocks[i] = wr_metrics_block_new(metrics);
        wr_check(shared.blocks[i] != NULL, "no memory");
    }
    wr_crew_run(THREADS, run, &shared);
    for (uint64_t key = 0; key < KEYS; key++) {
        check_key(&shared, key, LIMIT, atomic_load(&shared.used[key]));
    }
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        const uint64_t admitted = atomic_load(&shared.pairs_admitted[pair]);

        check_key(&shared, 1000 + 2 * pair, PAIR_LIMIT, admitted);
        check_key(&shared, 1001 + 2 * pair, PAIR_LIMIT, admitted);
        wr_check(admitted == PAIR_LIMIT, "pair %" PRIu64 ": %" PRIu64 " admitted", pair, admitted);
    }

    const uint64_t n_admitted = atomic_load(&shared.n_admitted);
    const uint64_t n_refused = atomic_load(&shared.n_refused);

    wr_check(n_admitted > 10000 && n_refused > 10000, "a test that shows little");
    printf(
        "store_groups: %d threads, %d keys in 16 stripes, %" PRIu64 " groups admitted and %" PRIu64
        " refused, each as a whole and exactly; %" PRIu64 " contended\n",
        THREADS, KEYS, n_admitted, n_refused, wr_metrics_sum(metrics, WR_METRIC_STORE_CONTENDED));
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(metrics);
    return EXIT_SUCCESS;
}
