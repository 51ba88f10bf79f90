/* SPDX-License-Identifier: Apache-2.0 */
#include "store/local_store.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "limit/unit.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

static struct wr_metrics *metrics;
static struct wr_backend *backend;
static struct wr_taker taker;

static void begin(uint64_t max_counters, unsigned n_stripes)
{
    const struct wr_local_store_options options = {
        .max_counters = max_counters,
        .n_stripes = n_stripes,
    };

    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    cr_assert_eq(wr_local_store_new(&options, &backend), WR_OK);
    taker = (struct wr_taker){
        .backend = backend,
        .metrics = wr_metrics_block_new(metrics),
        .limit = {.requests = 3, .length_us = S(60)},
        .now = {.wall_us = S(600), .mono_us = S(5)},
    };
    cr_assert_not_null(taker.metrics);
}

static void pass(int64_t passed_us)
{
    taker.now.wall_us += passed_us;
    taker.now.mono_us += passed_us;
}

static void end(void)
{
    wr_backend_destroy(backend);
    wr_metrics_destroy(metrics);
}

static struct wr_local_store_stats stats(void)
{
    struct wr_local_store_stats stats;

    wr_local_store_stats(backend, &stats);
    return stats;
}

static void assert_remaining(struct wr_take take, uint64_t remaining)
{
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(!take.verdict.over);
    cr_assert_eq(take.verdict.remaining, remaining, "remaining is %" PRIu64,
                 take.verdict.remaining);
}

Test(local_store, no_backend_can_be_destroyed)
{
    wr_backend_destroy(NULL);
}

Test(local_store, counts_one_batch_in_order_the_same_key_twice_twice)
{
    const struct wr_str a = WR_STR("a"), b = WR_STR("b");
    const struct wr_limit limit = {.requests = 3, .length_us = S(60)};
    struct wr_take takes[] = {
        {.key = a, .limit = limit, .hits = 2},
        {.key = b, .limit = limit, .hits = 1},
        {.key = a, .limit = limit, .hits = 1},
        {.key = a, .limit = limit, .hits = 1},
        {.key = b, .limit = limit, .hits = 1, .is_refund = true},
    };
    static const struct {
        bool over;
        uint64_t remaining;
    } want[] = {{false, 1}, {false, 2}, {false, 0}, {true, 0}, {false, 3}};

    begin(1000, 4);
    wr_taker_batch(&taker, takes, sizeof takes / sizeof takes[0]);
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        cr_assert_eq(takes[i].answer, WR_TAKE_DECIDED, "take %zu", i);
        cr_assert_eq(takes[i].verdict.over, want[i].over, "take %zu", i);
        cr_assert_eq(takes[i].verdict.remaining, want[i].remaining, "take %zu", i);
    }
    end();
}

Test(local_store, an_empty_batch_is_done_too)
{
    begin(1000, 4);
    wr_taker_batch(&taker, NULL, 0);
    end();
}

Test(local_store, a_batch_larger_than_what_is_hashed_at_once_counts_every_take)
{
    struct wr_take takes[100];

    begin(1000, 4);
    for (size_t i = 0; i < 100; i++) {
        takes[i] = (struct wr_take){
            .key = WR_STR("one"),
            .limit = {.requests = 100, .length_us = S(60)},
            .hits = 1,
        };
    }
    wr_taker_batch(&taker, takes, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_remaining(takes[i], 99 - i);
    }
    end();
}

Test(local_store, keys_are_bytes_with_a_length)
{
    static const struct wr_str keys[] = {
        WR_STR(""), WR_STR("a"), WR_STR("a\0"), WR_STR("a\0b"), WR_STR("a\0c"), WR_STR("A"),
    };

    begin(1000, 4);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_remaining(wr_taker_take(&taker, keys[i], 1), 2);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_remaining(wr_taker_take(&taker, keys[i], 1), 1);
    }
    end();
}

Test(local_store, an_overshoot_is_booked_and_a_refund_gives_back)
{
    const struct wr_str key = WR_STR("k");

    begin(1000, 4);
    cr_assert(wr_taker_take(&taker, key, 5).verdict.over);
    assert_remaining(wr_taker_refund(&taker, key, 2), 0);
    assert_remaining(wr_taker_take(&taker, key, 0), 0);
    assert_remaining(wr_taker_refund(&taker, key, 1), 1);
    assert_remaining(wr_taker_refund(&taker, key, 99), 3);
    end();
}

Test(local_store, a_changed_limit_keeps_the_count)
{
    const struct wr_str key = WR_STR("k");

    begin(1000, 4);
    assert_remaining(wr_taker_take(&taker, key, 3), 0);
    taker.limit.requests = 5;
    assert_remaining(wr_taker_take(&taker, key, 1), 1);
    taker.limit.requests = 2;
    cr_assert(wr_taker_take(&taker, key, 0).verdict.over);
    end();
}

/* One microsecond before the end of a window its count holds, at the end it is gone. */
Test(local_store, every_unit_begins_anew_at_its_end_and_not_before)
{
    for (int unit = WR_UNIT_SECOND; unit <= WR_UNIT_WEEK; unit++) {
        const struct wr_str key = WR_STR("k");

        begin(1000, 1);
        taker.limit.length_us = wr_unit_length_us((enum wr_unit) unit);
        taker.now.wall_us = taker.limit.length_us * 1000;
        assert_remaining(wr_taker_take(&taker, key, 2), 1);
        pass(taker.limit.length_us - 1);
        cr_assert_eq(wr_taker_take(&taker, key, 0).verdict.reset_us, 1);
        assert_remaining(wr_taker_take(&taker, key, 1), 0);
        pass(1);
        assert_remaining(wr_taker_take(&taker, key, 1), 2);
        cr_assert_eq(wr_taker_take(&taker, key, 0).verdict.reset_us, taker.limit.length_us);
        end();
    }
}

Test(local_store, never_holds_more_than_the_bound_and_never_less_live_ones_than_it_took)
{
    static const unsigned stripes[] = {0, 1, 2, 64};

    for (size_t s = 0; s < sizeof stripes / sizeof stripes[0]; s++) {
        const uint64_t max = 1000;
        uint64_t n_taken = 0;

        begin(max, stripes[s]);

        const uint64_t bound = stripes[s] == 64 ? 1024 : max; /* a multiple of the stripes */

        for (uint64_t n = 0; n < 5000; n++) {
            n_taken += wr_taker_take_number(&taker, n).answer == WR_TAKE_DECIDED;
        }
        cr_assert_leq(n_taken, bound);
        cr_assert_eq(stats().n_counters, n_taken);
        cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_FULL), 5000 - n_taken);
        cr_assert_eq(n_taken, bound, "5000 keys fill every share of %u stripes", stripes[s]);

        uint64_t n_kept = 0;

        for (uint64_t n = 0; n < 5000; n++) {
            const struct wr_take take = wr_taker_take_number(&taker, n);

            n_kept += take.answer == WR_TAKE_DECIDED && take.verdict.remaining == 1;
        }
        cr_assert_eq(n_kept, n_taken);
        end();
    }
}

Test(local_store, a_small_bound_is_exact)
{
    begin(3, 0);
    for (uint64_t n = 0; n < 3; n++) {
        assert_remaining(wr_taker_take_number(&taker, n), 2);
    }
    cr_assert_eq(wr_taker_take_number(&taker, 3).answer, WR_TAKE_FULL);
    pass(S(60));
    assert_remaining(wr_taker_take_number(&taker, 3), 2);
    end();
}

Test(local_store, full_is_an_answer_of_one_take_and_not_of_its_batch)
{
    const struct wr_limit limit = {.requests = 3, .length_us = S(60)};
    struct wr_take takes[] = {
        {.key = WR_STR("known"), .limit = limit, .hits = 1},
        {.key = WR_STR("new"), .limit = limit, .hits = 1},
        {.key = WR_STR("known"), .limit = limit, .hits = 1},
    };

    begin(1, 0);
    wr_taker_batch(&taker, takes, 3);
    assert_remaining(takes[0], 2);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    assert_remaining(takes[2], 1);
    end();
}

Test(local_store, counts_restarts_and_sweeps)
{
    const struct wr_str key = WR_STR("k");

    begin(1000, 1);
    pass(S(100000));
    (void) wr_taker_take(&taker, key, 1);
    taker.now.wall_us -= S(50000);
    assert_remaining(wr_taker_take(&taker, key, 1), 2);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_RESTARTS), 1u);
    pass(S(60));
    for (int i = 0; i < 4; i++) { /* its four tables */
        (void) wr_taker_take(&taker, (struct wr_str) WR_STR("other"), 1);
    }
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT), 1u);
    cr_assert_eq(stats().n_counters, 1u);
    end();
}

/* A few keys, in a few stripes, are enough to empty all the others. */
Test(local_store, memory_follows_the_counters_both_ways)
{
    begin(1000000, 0);

    const uint64_t empty_bytes = stats().memory_bytes;

    for (uint64_t n = 0; n < 100000; n++) {
        (void) wr_taker_take_number(&taker, n);
    }
    cr_assert_eq(stats().n_counters, 100000u);
    cr_assert_leq(stats().memory_bytes - empty_bytes, 64u * 100000);
    pass(S(60));
    for (uint64_t n = 0; n < 400000; n++) {
        (void) wr_taker_take_number(&taker, n % 10);
    }
    cr_assert_eq(stats().n_counters, 10u);
    cr_assert_leq(stats().memory_bytes, empty_bytes + 4096);
    end();
}

Test(local_store, new_fails_cleanly_whichever_allocation_fails)
{
    const struct wr_local_store_options options = {.max_counters = 1000, .n_stripes = 4};
    size_t n = 0;

    for (;; n++) {
        struct wr_backend *store = NULL;

        failing_malloc_start(n);

        const enum wr_err err = wr_local_store_new(&options, &store);

        failing_malloc_stop();
        if (err == WR_OK) {
            wr_backend_destroy(store);
            break;
        }
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        cr_assert_null(store);
    }
    cr_assert_eq(n, 6u, "the store, its stripes and the tables of four stripes");
}

Test(local_store, takes_without_memory_are_counted)
{
    begin(1000, 1);
    failing_malloc_start(0);
    cr_assert_eq(wr_taker_take_number(&taker, 1).answer, WR_TAKE_NO_MEMORY);
    failing_malloc_stop();
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_NO_MEMORY), 1u);
    end();
}

/* After warm-up a take of a known key needs no memory. */
Test(local_store, known_counters_allocate_nothing)
{
    begin(1000, 4);
    for (uint64_t n = 0; n < 500; n++) {
        (void) wr_taker_take_number(&taker, n);
    }
    failing_malloc_start(0);
    for (int round = 0; round < 3; round++) {
        for (uint64_t n = 0; n < 500; n++) {
            cr_assert_eq(wr_taker_take_number(&taker, n).answer, WR_TAKE_DECIDED);
        }
    }
    failing_malloc_stop();
    end();
}
