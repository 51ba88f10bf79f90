/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/token_bucket.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"
#include "limit/after.h"
#include "limit/muldiv.h"

#define DEBT_MAX WR_TOKEN_BUCKET_DEBT_MAX_US

_Static_assert(offsetof(struct wr_token_bucket, stamp_us) == 0, "a state begins with its expiry");

/* A bucket at one time, by the limit in force. */
struct level {
    int64_t interval_us; /* that what was used is paid at */
    int64_t next_us;     /* that of the limit: the same, or longer */
    uint64_t burst;
    int64_t capacity_us; /* burst × interval_us */
    int64_t debt_us;     /* without what clocks jitter, unless the limit counts all */
    int64_t kept_us;     /* the debt with that */
    uint64_t owed;       /* hits that it may be of */
    bool is_restated;    /* other than the state says, also when nothing is charged */
    int64_t unpaid_us;   /* the debt as the state has it, where that is longer; else 0 */
    int64_t former_us;   /* and its interval, when it is */
};

static int64_t multiplied(uint64_t hits, int64_t interval_us)
{
    uint64_t product;

    return __builtin_mul_overflow(hits, (uint64_t) interval_us, &product) || product > DEBT_MAX
               ? DEBT_MAX
               : (int64_t) product;
}

/* Length / requests, rounded up; without a division when it is `known_us`, which it mostly is. */
static inline int64_t interval_of(const struct wr_limit *limit, int64_t known_us)
{
    const uint64_t requests = limit->requests > 0 ? limit->requests : 1;
    const uint64_t length_us = (uint64_t) limit->length_us;
    uint64_t product;

    if (!__builtin_mul_overflow((uint64_t) known_us, requests, &product) && product >= length_us &&
        product - requests < length_us) {
        return known_us;
    }
    return (int64_t) ((length_us + requests - 1) / requests);
}

static inline void set_interval(struct level *level, const struct wr_limit *limit,
                                int64_t interval_us)
{
    level->interval_us = interval_us;
    level->burst = limit->requests > 0 ? limit->burst : 0;
    level->capacity_us = multiplied(level->burst, interval_us);
    if (level->capacity_us == DEBT_MAX) {
        WR_ASSERT(interval_us > 0);
        level->burst = (uint64_t) (DEBT_MAX / interval_us);
        level->capacity_us = (int64_t) level->burst * interval_us;
    }
}

/* As many hits at another interval, rounded up. */
static int64_t restated(int64_t debt_us, int64_t from_us, int64_t to_us)
{
    const uint64_t debt = wr_muldiv_ceil((uint64_t) debt_us, (uint64_t) to_us, (uint64_t) from_us);

    return debt < DEBT_MAX ? (int64_t) debt : DEBT_MAX;
}

/* What is beyond the hits that may be owed comes from clocks, and nobody waits for it. Where all is
 * counted, what they jitter stays: each late hit that is booked would take it from the debt. */
static inline void cut_debt(struct level *level, const struct wr_limit *limit)
{
    const uint64_t owed = level->owed > level->burst ? level->owed : level->burst;
    const int64_t most_us = multiplied(owed, level->interval_us);

    if (level->kept_us > most_us + WR_CLOCK_JITTER_US) {
        level->kept_us = most_us;
        level->debt_us = most_us;
        level->owed = owed;
        level->is_restated = true;
        level->unpaid_us = 0;
    } else if (limit->count != WR_COUNT_ALL && level->kept_us > most_us) {
        level->debt_us = most_us;
    }
}

/* Field by field: a copy of the whole would be read wider than it was written, which the processor
 * has to wait for. */
static inline void reckon(struct level *level, const struct wr_token_bucket *state,
                          const struct wr_limit *limit, int64_t now_us)
{
    const int64_t former_us = wr_token_bucket_interval(state);
    const int64_t next_us = interval_of(limit, former_us);
    const bool has_debt = state->stamp_us > now_us && former_us > 0;
    const bool is_slower = has_debt && former_us < next_us;

    set_interval(level, limit, is_slower ? former_us : next_us);
    level->next_us = next_us;
    level->debt_us = 0;
    level->kept_us = 0;
    level->owed = wr_token_bucket_owed(state);
    level->is_restated = false;
    level->unpaid_us = 0;
    if (!has_debt) {
        return;
    }
    level->kept_us = state->stamp_us - now_us;
    if (former_us > next_us) {
        level->unpaid_us = level->kept_us;
        level->former_us = former_us;
        level->kept_us = restated(level->kept_us, former_us, next_us);
        level->is_restated = true;
    }
    level->debt_us = level->kept_us;
    if (level->debt_us > level->capacity_us) {
        cut_debt(level, limit);
    }
}

/* The debt that a take of `hits` leaves. */
static inline int64_t debt_after(const struct level *level, uint64_t charge)
{
    const int64_t debt_us = level->debt_us + multiplied(charge, level->interval_us);

    return debt_us < DEBT_MAX ? debt_us : DEBT_MAX;
}

/* When nothing is written down, and `fit` hits fit: what is owed goes on to be paid at the interval
 * of the state. */
static int64_t wait_of_look(const struct level *level, uint64_t fit)
{
    return level->unpaid_us - (int64_t) (level->burst - fit - 1) * level->former_us;
}

static int64_t wait_when_over(const struct level *level, const struct wr_limit *limit,
                              uint64_t hits)
{
    const int64_t wanted_us = level->burst > 0 ? level->interval_us : 0;
    const int64_t wait_us =
        debt_after(level, wr_after_charge(limit, true, hits)) + wanted_us - level->capacity_us;

    if (hits == 0 && level->unpaid_us > 0) {
        return wait_of_look(level, 0);
    }
    return wait_us > 0 ? wait_us : wr_after_reset_at_once(limit, true);
}

static inline struct wr_verdict judge(const struct level *level, const struct wr_limit *limit,
                                      uint64_t hits)
{
    const bool is_overdrawn = level->debt_us > level->capacity_us;
    const uint64_t interval_us = (uint64_t) level->interval_us;
    const uint64_t room_us = is_overdrawn ? 0 : (uint64_t) (level->capacity_us - level->debt_us);
    const uint64_t fit = room_us / interval_us;
    const bool over = is_overdrawn || hits > fit;
    int64_t reset_us = (int64_t) (interval_us - (room_us - fit * interval_us));

    if (over) {
        reset_us = wait_when_over(level, limit, hits);
    } else if (hits == 0 && level->debt_us == 0) {
        reset_us = 0;
    } else if (hits == 0 && level->unpaid_us > 0) {
        reset_us = wait_of_look(level, fit);
    }
    return (struct wr_verdict){
        .over = over,
        .remaining = over ? 0 : fit - hits,
        .reset_us = reset_us,
        .enforced = limit->requests,
    };
}

static bool is_charged(const struct wr_limit *limit, bool over, uint64_t hits)
{
    return hits > 0 && (!over || limit->count == WR_COUNT_ALL);
}

/* By the interval of the limit, when something is charged. */
static void slow_down(struct level *level, const struct wr_limit *limit, uint64_t hits)
{
    const bool over = level->debt_us + multiplied(hits, level->interval_us) > level->capacity_us;

    if (is_charged(limit, over, hits)) {
        level->debt_us = restated(level->debt_us, level->interval_us, level->next_us);
        set_interval(level, limit, level->next_us);
    }
}

static inline struct wr_verdict decide(struct level *level, const struct wr_limit *limit,
                                       uint64_t hits)
{
    if (level->next_us != level->interval_us) {
        slow_down(level, limit, hits);
    }
    return judge(level, limit, hits);
}

static void store(struct wr_token_bucket *state, const struct level *level, int64_t debt_us,
                  uint64_t owed, int64_t now_us)
{
    state->stamp_us = now_us + debt_us;
    state->terms = wr_token_bucket_terms(level->interval_us, owed);
}

static void charge(struct wr_token_bucket *state, const struct level *level, uint64_t hits,
                   int64_t now_us)
{
    const int64_t debt_us = debt_after(level, hits);
    const uint64_t interval_us = (uint64_t) level->interval_us;
    const uint64_t owed = debt_us <= level->capacity_us
                              ? level->burst
                              : ((uint64_t) debt_us + interval_us - 1) / interval_us;

    store(state, level, debt_us, owed, now_us);
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct level level;

    reckon(&level, state, limit, now_us);
    return decide(&level, limit, hits);
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct level level;

    reckon(&level, state, limit, now_us);

    const struct wr_verdict verdict = decide(&level, limit, hits);

    if (is_charged(limit, verdict.over, hits)) {
        charge(state, &level, hits, now_us);
    } else if (hits > 0 && level.is_restated) {
        store(state, &level, level.kept_us, level.owed, now_us);
    }
    return verdict;
}

static struct wr_verdict refund(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us)
{
    struct level level;

    reckon(&level, state, limit, now_us);
    if (hits > 0 && level.kept_us > 0) {
        const int64_t given_us = multiplied(hits, level.interval_us);

        level.kept_us = given_us < level.kept_us ? level.kept_us - given_us : 0;
        level.debt_us = level.kept_us;
        level.unpaid_us = 0;
        store(state, &level, level.kept_us, level.owed, now_us);
    }

    struct wr_verdict verdict = judge(&level, limit, 0);

    verdict.over = false;
    return verdict;
}

/* While it warms up, the share of the burst times the longer interval, which is rounded up, comes
 * to less than the burst times an interval that is one longer. */
uint64_t wr_token_bucket_burst_max(const struct wr_limit *limit)
{
    const int64_t longest_us = interval_of(limit, 0) + (limit->warm_up_us > 0 ? 1 : 0);

    WR_ASSERT(longest_us > 0);
    return (uint64_t) (DEBT_MAX / longest_us);
}

static uint32_t state_words(const void *state, const struct wr_limit *limit, uint64_t hits)
{
    (void) state;
    (void) limit;
    (void) hits;
    return sizeof(struct wr_token_bucket) / sizeof(uint64_t);
}

const struct wr_counter_kind wr_token_bucket_kind = {
    .clock = WR_COUNTER_MONO,
    .state_words = state_words,
    .peek = peek,
    .take = take,
    .refund = refund,
};
