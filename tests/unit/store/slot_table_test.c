/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot_table.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "limit/algorithm.h"
#include "tests/support/failing_malloc.h"

/* Spreads numbers over the homes (the 64-bit finaliser of MurmurHash3). */
static struct wr_hash hash_of(uint64_t number)
{
    uint64_t x = number + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (struct wr_hash){.low = x ^ x >> 33, .high = number};
}

/* All words but the first tell whose state it is. */
static void fill(uint64_t *state, uint64_t number, int64_t expiry_us)
{
    state[0] = (uint64_t) expiry_us;
    for (uint32_t i = 1; i < WR_STATE_WORDS_MAX; i++) {
        state[i] = number + i;
    }
}

static bool try_to_add(struct wr_slot_table *table, uint64_t number, int64_t expiry_us)
{
    const struct wr_hash hash = hash_of(number);
    uint64_t state[WR_STATE_WORDS_MAX];

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
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
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

Test(slot_table, is_between_half_and_five_sixths_full_as_it_grows)
{
    struct wr_slot_table table;

    wr_slot_table_init(&table, 2, false);
    for (uint32_t n = 1; n <= 1000; n++) {
        add(&table, n, 1000);
        cr_assert_leq(n * 5, table.capacity * 4, "%u counters in %u slots", n, table.capacity);
        if (n >= 8) {
            cr_assert_geq(n * 5, table.capacity * 3, "%u counters in %u slots", n, table.capacity);
        }
    }
    wr_slot_table_fini(&table);
}

Test(slot_table, tells_counters_apart_that_share_half_of_the_hash)
{
    struct wr_slot_table table;
    const struct wr_hash a = {7, 1}, b = {7, 2};

    wr_slot_table_init(&table, 2, false);
    cr_assert(wr_slot_table_add(&table, &a, (const uint64_t[]){9, 1}));
    cr_assert(wr_slot_table_add(&table, &b, (const uint64_t[]){9, 2}));
    cr_assert_eq(wr_slot_table_find(&table, &a)->state[1], 1u);
    cr_assert_eq(wr_slot_table_find(&table, &b)->state[1], 2u);
    wr_slot_table_fini(&table);
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

Test(slot_table, without_memory_it_fills_up_to_one_free_slot_and_goes_on_when_there_is_some)
{
    struct wr_slot_table table;
    uint64_t n = 0;

    wr_slot_table_init(&table, 2, false);
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
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;

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
    for (uint32_t words = 2; words <= WR_STATE_WORDS_MAX; words++) {
        live_long(words);
    }
}
