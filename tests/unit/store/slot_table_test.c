/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot_table.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/random.h"
#include "tests/support/failing_malloc.h"

/* Spreads numbers over the homes (the 64-bit finaliser of MurmurHash3). */
static struct wr_hash hash_of(uint64_t number)
{
    uint64_t x = number + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (struct wr_hash){.low = x ^ x >> 33, .high = number};
}

/* Of the largest states. */
enum { WORDS = 31 };

/* Words of states in tables without tags, and in those with them. */
static const uint32_t sorts[] = {2, 14};

#define N_SORTS (sizeof sorts / sizeof sorts[0])

/* All words but the first tell whose state it is. */
static void fill(uint64_t *state, uint64_t number, int64_t expiry_us)
{
    state[0] = (uint64_t) expiry_us;
    for (uint32_t i = 1; i < WORDS; i++) {
        state[i] = number + i;
    }
}

static bool try_to_add(struct wr_slot_table *table, uint64_t number, int64_t expiry_us)
{
    const struct wr_hash hash = hash_of(number);
    uint64_t state[WORDS];

    fill(state, number, expiry_us);
    return wr_slot_table_add(table, &hash, state);
}

static void add(struct wr_slot_table *table, uint64_t number, int64_t expiry_us)
{
    cr_assert(try_to_add(table, number, expiry_us), "counter %" PRIu64, number);
}

static bool has(const struct wr_slot_table *table, uint64_t number)
{
    const struct wr_hash hash = hash_of(number);
    const struct wr_slot *const slot = wr_slot_table_find(table, &hash);

    if (slot != NULL) {
        for (uint32_t i = 1; i < table->state_words; i++) {
            cr_assert_eq(slot->state[i], number + i,
                         "counter %" PRIu64 " has another's state in word %u", number, i);
        }
    }
    return slot != NULL;
}

Test(slot_table, holds_nothing_and_no_memory_at_first)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    cr_assert(!has(&table, 1));
    cr_assert_null(table.words);
    cr_assert_eq(wr_slot_table_sweep(&table, 1000).n_counters, 0u);
    wr_slot_table_fini(&table);
}

Test(slot_table, finds_every_counter_at_every_size)
{
    for (size_t i = 0; i < N_SORTS; i++) {
        struct wr_slot_table table;

        wr_slot_table_init(&table, sorts[i], false);
        for (uint64_t n = 0; n < 600; n++) {
            cr_assert(!has(&table, n));
            add(&table, n, 1000);
            for (uint64_t k = 0; k <= n; k++) {
                cr_assert(has(&table, k), "counter %" PRIu64 " of %" PRIu64, k, n + 1);
            }
            cr_assert_eq(table.n_used, n + 1);
        }
        wr_slot_table_fini(&table);
    }
}

Test(slot_table, is_more_than_half_full_as_it_grows)
{
    static const struct {
        uint32_t least, most; /* of ten */
    } rows[N_SORTS] = {{6, 8}, {7, 9}};

    for (size_t i = 0; i < N_SORTS; i++) {
        struct wr_slot_table table;

        wr_slot_table_init(&table, sorts[i], false);
        for (uint32_t n = 1; n <= 1000; n++) {
            add(&table, n, 1000);
            cr_assert_leq(n * 10, table.capacity * rows[i].most, "%u counters in %u slots", n,
                          table.capacity);
            if (n >= 16) {
                cr_assert_geq(n * 10, table.capacity * rows[i].least, "%u counters in %u slots", n,
                              table.capacity);
            }
        }
        wr_slot_table_fini(&table);
    }
}

Test(slot_table, large_slots_are_whole_cache_lines_and_reckoned_with_their_tags)
{
    static const uint32_t words[] = {14, 22};

    for (size_t i = 0; i < 2; i++) {
        const struct wr_hash hash = hash_of(0);
        struct wr_slot_table table;

        wr_slot_table_init(&table, words[i], false);
        cr_assert_eq(wr_slot_table_bytes(&table), 0u);
        for (uint64_t n = 0; n < 100; n++) {
            add(&table, n, 1000);
            cr_assert_eq((uintptr_t) wr_slot_table_find(&table, &hash) % WR_CACHE_LINE_BYTES, 0u);
            cr_assert_gt(wr_slot_table_bytes(&table),
                         table.capacity * (wr_slot_bytes(words[i]) + 1) - 1);
            cr_assert_lt(wr_slot_table_bytes(&table),
                         table.capacity * (wr_slot_bytes(words[i]) + 1) + WR_CACHE_LINE_BYTES);
        }
        wr_slot_table_fini(&table);
    }
}

/* The lower half has the home and the tag: one of them, the same for all, would be that of a free
 * slot. */
Test(slot_table, tells_counters_apart_that_share_half_of_the_hash)
{
    static const uint64_t lows[] = {7, 0, UINT64_C(0xfedcba9800000000), UINT64_MAX};

    for (size_t i = 0; i < N_SORTS * 4; i++) {
        const uint64_t low = lows[i / N_SORTS];
        struct wr_slot_table table;

        wr_slot_table_init(&table, sorts[i % N_SORTS], false);
        for (uint64_t n = 0; n < 30; n++) {
            uint64_t state[WORDS] = {9, n};

            cr_assert(wr_slot_table_add(&table, &(struct wr_hash){low, n}, state));
        }
        for (uint64_t n = 0; n < 30; n++) {
            cr_assert_eq(wr_slot_table_find(&table, &(struct wr_hash){low, n})->state[1], n);
        }
        cr_assert_null(wr_slot_table_find(&table, &(struct wr_hash){low, 30}));
        cr_assert_null(wr_slot_table_find(&table, &(struct wr_hash){low ^ 2, 0}));
        wr_slot_table_fini(&table);
    }
}

Test(slot_table, sweep_takes_the_expired_and_leaves_the_live_whatever_their_mixture)
{
    for (uint64_t live_of_8 = 0; live_of_8 <= 8; live_of_8++) {
        struct wr_slot_table table;
        uint32_t n_live = 0;

        wr_slot_table_init(&table, 2, false);
        for (uint64_t n = 0; n < 500; n++) {
            const bool is_live = n * 5 % 8 < live_of_8;

            n_live += is_live;
            add(&table, n, is_live ? 1001 : 1000);
        }
        cr_assert_eq(table.earliest_us, live_of_8 == 8 ? 1001 : 1000);
        cr_assert_eq(wr_slot_table_sweep(&table, 1000).n_counters, 500 - n_live);
        cr_assert_eq(table.n_used, n_live);
        cr_assert_eq(table.earliest_us, n_live == 0 ? INT64_MAX : 1001);
        for (uint64_t n = 0; n < 500; n++) {
            cr_assert_eq(has(&table, n), n * 5 % 8 < live_of_8,
                         "counter %" PRIu64 ", %" PRIu64 " of 8 live", n, live_of_8);
        }
        wr_slot_table_fini(&table);
    }
}

Test(slot_table, gives_memory_back_when_swept)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    for (uint64_t n = 0; n < 500; n++) {
        add(&table, n, n < 10 ? 2000 : 1000);
    }
    cr_assert_geq(table.capacity, 500u);
    cr_assert_eq(wr_slot_table_sweep(&table, 1000).n_counters, 490u);
    cr_assert_leq(table.capacity, 25u);
    cr_assert_eq(wr_slot_table_sweep(&table, 2000).n_counters, 10u);
    cr_assert_eq(table.capacity, 0u);
    cr_assert_null(table.words);
}

Test(slot_table, an_earlier_expiry_is_noted)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    add(&table, 1, 1000);
    wr_slot_table_note_expiry(&table, 2000);
    cr_assert_eq(table.earliest_us, 1000);
    wr_slot_table_note_expiry(&table, 500);
    cr_assert_eq(table.earliest_us, 500);
    wr_slot_table_fini(&table);
}

static void fill_up_without_memory(uint32_t words)
{
    struct wr_slot_table table;
    uint64_t n = 0;

    wr_slot_table_init(&table, words, false);
    for (; n < 100; n++) {
        add(&table, n, 1000);
    }

    const uint32_t capacity = table.capacity;

    failing_malloc_start(0);
    for (; n < capacity - 1; n++) {
        add(&table, n, 1000);
    }

    cr_assert(!try_to_add(&table, n, 1000));
    cr_assert(!has(&table, n), "a search ends although the table is as full as can be");
    cr_assert_eq(table.n_used, n);
    failing_malloc_stop();
    add(&table, n, 1000);
    for (uint64_t k = 0; k <= n; k++) {
        cr_assert(has(&table, k));
    }
    wr_slot_table_fini(&table);
}

Test(slot_table, without_memory_it_fills_up_to_one_free_slot_and_goes_on_when_there_is_some)
{
    for (size_t i = 0; i < N_SORTS; i++) {
        fill_up_without_memory(sorts[i]);
    }
}

Test(slot_table, without_memory_a_sweep_still_removes)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    for (uint64_t n = 0; n < 100; n++) {
        add(&table, n, n == 0 ? 2000 : 1000);
    }
    failing_malloc_start(0);
    cr_assert_eq(wr_slot_table_sweep(&table, 1000).n_counters, 99u);
    failing_malloc_stop();
    cr_assert(has(&table, 0));
    cr_assert(!has(&table, 1));
    wr_slot_table_fini(&table);
}

Test(slot_table, what_was_removed_is_gone_and_its_place_can_be_used_without_memory)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    for (uint64_t n = 0; n < 100; n++) {
        add(&table, n, 1000);
    }
    failing_malloc_start(0);
    for (uint64_t n = 0; n < 100; n++) {
        const struct wr_hash hash = hash_of(n);

        wr_slot_table_remove(&table, wr_slot_table_find(&table, &hash));
        cr_assert_eq(table.n_used, 99u);
        cr_assert(!has(&table, n));
        add(&table, 100 + n, 1000);
        for (uint64_t k = n + 1; k <= 100 + n; k++) {
            cr_assert(has(&table, k), "counter %" PRIu64 " after %" PRIu64 " went", k, n);
        }
    }
    failing_malloc_stop();
    wr_slot_table_fini(&table);
}

/* The same counters come, expire and go in any order; a plain array says what must be there. */
static void live_long(uint32_t state_words)
{
    enum { N = 300 };
    int64_t expiry_us[N] = {0};
    struct wr_slot_table table;
    uint64_t random = 88172645463325252u;
    size_t n_swept = 0;

    wr_slot_table_init(&table, state_words, false);
    for (int64_t now_us = 1; now_us < 20000; now_us++) {
        (void) wr_random_next(&random);

        const uint64_t number = random % N;

        if (!has(&table, number)) {
            expiry_us[number] = now_us + 1 + (int64_t) (random >> 32) % 400;
            add(&table, number, expiry_us[number]);
        }
        if (now_us % 50 != 0) {
            continue;
        }
        n_swept += wr_slot_table_sweep(&table, now_us).n_counters;
        for (uint64_t k = 0; k < N; k++) {
            cr_assert_eq(has(&table, k), expiry_us[k] > now_us,
                         "counter %" PRIu64 " at %" PRId64 " us", k, now_us);
        }
    }
    cr_assert_gt(n_swept, 10000u);
    wr_slot_table_fini(&table);
}

Test(slot_table, agrees_with_a_model_over_a_long_life_for_states_of_every_size)
{
    for (uint32_t words = 2; words <= WORDS; words++) {
        live_long(words);
    }
}
