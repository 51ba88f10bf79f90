/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "limit/after.h"

_Static_assert(offsetof(struct wr_sliding_buckets, expiry_us) == 0,
               "a state begins with its expiry");
_Static_assert(sizeof(struct wr_sliding_buckets) % sizeof(uint64_t) == 0, "counts are aligned");
_Static_assert(WR_BUCKETS_MAX < UINT16_MAX, "places fit");

/* The buckets at one time. */
struct view {
    uint64_t used;
    uint32_t steps;    /* new buckets since the newest */
    uint32_t n_gone;   /* of the oldest: forgotten, or without a hit */
    bool is_new;       /* nothing is left, and counting begins anew */
    int64_t start_us;  /* of the bucket that hits go into */
    int64_t bucket_us; /* how long one lasts */
    uint32_t n;
};

static inline uint64_t count_at(const struct wr_sliding_buckets *state, uint32_t place)
{
    const char *const at = (const char *) (state + 1) + (size_t) place * state->width;
    uint16_t narrow;
    uint32_t middle;
    uint64_t wide;

    switch (state->width) {
    case sizeof(uint8_t):
        return (uint8_t) *at;
    case sizeof narrow:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    case sizeof middle:
        memcpy(&middle, at, sizeof middle);
        return middle;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

static void set_count(struct wr_sliding_buckets *state, uint32_t place, uint64_t count)
{
    char *const at = (char *) (state + 1) + (size_t) place * state->width;
    const uint16_t narrow = (uint16_t) count;
    const uint32_t middle = (uint32_t) count;

    switch (state->width) {
    case sizeof(uint8_t):
        *(uint8_t *) at = (uint8_t) count;
        break;
    case sizeof narrow:
        memcpy(at, &narrow, sizeof narrow);
        break;
    case sizeof middle:
        memcpy(at, &middle, sizeof middle);
        break;
    default:
        memcpy(at, &count, sizeof count);
        break;
    }
}

/* The place of the bucket `age` before the newest one, at most n + 1. */
static inline uint32_t place_of(const struct wr_sliding_buckets *state, uint32_t age)
{
    return state->newest >= age ? state->newest - age : state->newest + state->n + 1U - age;
}

/* Nothing that was counted matters at `now_us`. */
static void look_at_nothing(struct view *view, const struct wr_limit *limit, int64_t now_us)
{
    view->n = limit->n_buckets;
    view->bucket_us = (limit->length_us + limit->n_buckets - 1) / limit->n_buckets;
    view->used = 0;
    view->steps = 0;
    view->n_gone = 0;
    view->is_new = true;
    view->start_us = now_us - now_us % view->bucket_us;
}

/* A time just before the newest bucket began is late, and counts as its beginning. */
static inline void look(struct view *view, const struct wr_sliding_buckets *state,
                        const struct wr_limit *limit, int64_t now_us)
{
    const int64_t start_us = state->expiry_us - (state->n + 1) * state->bucket_us;
    const int64_t elapsed_us = now_us - start_us;
    uint32_t steps = 0, n_gone = 0;
    uint64_t used = state->used;

    if (now_us >= state->expiry_us || elapsed_us < -limit->length_us) {
        look_at_nothing(view, limit, now_us);
        return;
    }
    if (elapsed_us >= state->bucket_us) {
        steps = (uint32_t) (elapsed_us / state->bucket_us);
    }
    while (n_gone < state->span) {
        const uint64_t count = count_at(state, place_of(state, state->span - n_gone - 1U));

        if (count > 0 && state->span - n_gone + steps <= state->n + 1U) {
            break;
        }
        used -= count;
        n_gone++;
    }
    view->n = state->n;
    view->bucket_us = state->bucket_us;
    view->used = used;
    view->steps = steps;
    view->n_gone = n_gone;
    view->is_new = false;
    view->start_us = start_us + (int64_t) steps * state->bucket_us;
}

/* How long until `n` hits are forgotten, of those that were counted, and then of new ones. n > 0.
 */
static int64_t wait_for(const struct view *view, const struct wr_sliding_buckets *state, uint64_t n,
                        int64_t now_us)
{
    uint32_t age = state->span - view->n_gone + view->steps; /* of the bucket behind the oldest */
    uint64_t forgotten = 0;

    if (n > view->used) {
        return view->start_us + (view->n + 1) * view->bucket_us - now_us;
    }
    while (forgotten < n) {
        age--;
        forgotten += count_at(state, place_of(state, age - view->steps));
    }
    return view->start_us + (int64_t) (view->n + 1 - age) * view->bucket_us - now_us;
}

/* How long until all is forgotten that counts as of now. Rare, and apart, so that what is frequent
 * keeps its registers. */
__attribute__((cold, noinline)) static int64_t wait_for_all(const struct wr_limit *limit,
                                                            int64_t now_us)
{
    struct view anew;

    look_at_nothing(&anew, limit, now_us);
    return anew.start_us + (anew.n + 1) * anew.bucket_us - now_us;
}

/* By the state that is left: a charge lays out anew what has another number of buckets. */
static inline int64_t reset_of(const struct view *view, const struct wr_sliding_buckets *state,
                               const struct wr_limit *limit, bool over, uint64_t hits,
                               int64_t now_us)
{
    const uint64_t charge = wr_after_charge(limit, over, hits);
    const uint64_t after = wr_count_add(view->used, charge);
    const uint64_t target = wr_after_target(limit, over, after);

    if (after <= target) {
        return wr_after_reset_at_once(limit, over);
    }
    if (view->n != limit->n_buckets && charge > 0) {
        return wait_for_all(limit, now_us);
    }
    return wait_for(view, state, after - target, now_us);
}

/* Of a count, in bytes. */
static uint16_t width_of(uint64_t count)
{
    if (count <= UINT8_MAX) {
        return sizeof(uint8_t);
    }
    if (count <= UINT16_MAX) {
        return sizeof(uint16_t);
    }
    return count <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* From the last to the first, so that none is written over before it is read. */
static void widen(struct wr_sliding_buckets *state, uint16_t width)
{
    const uint16_t narrow = state->width;

    for (uint32_t place = state->n + 1U; place-- > 0;) {
        state->width = narrow;

        const uint64_t count = count_at(state, place);

        state->width = width;
        set_count(state, place, count);
    }
}

/* Lays the state out as the view has it, with `used` hits in one bucket, which then gets `more`. */
static void lay_out(struct wr_sliding_buckets *state, const struct view *view, uint64_t used,
                    uint64_t more)
{
    memset(state + 1, 0, (size_t) (state->n + 1) * state->width);
    state->used = used;
    state->bucket_us = view->bucket_us;
    state->n = (uint16_t) view->n;
    state->newest = 0;
    state->span = 1;
    state->width = width_of(used + more);
    state->expiry_us = view->start_us + (view->n + 1) * view->bucket_us;
    set_count(state, 0, used);
}

/* Makes the state what the view is, by the limit in force, and its newest bucket wide enough for
 * `more`. */
static void settle(struct wr_sliding_buckets *state, const struct wr_limit *limit,
                   const struct view *view, uint64_t more, int64_t now_us)
{
    if (view->is_new) {
        lay_out(state, view, 0, more);
        return;
    }
    if (state->n != limit->n_buckets) {
        struct view anew;

        look_at_nothing(&anew, limit, now_us);
        lay_out(state, &anew, view->used, more);
        return;
    }
    for (uint32_t i = 0; i < view->n_gone; i++) {
        set_count(state, place_of(state, state->span - i - 1U), 0);
    }
    state->newest = (uint16_t) place_of(state, state->n + 1U - view->steps);
    state->span = (uint16_t) (state->span - view->n_gone + view->steps);
    state->span = state->span > 0 ? state->span : 1;
    state->used = view->used;
    state->expiry_us = view->start_us + (state->n + 1) * state->bucket_us;

    const uint16_t needed = width_of(count_at(state, state->newest) + more);

    if (state->width < needed) {
        widen(state, needed);
    }
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit, now_us);

    const bool over = wr_after_is_over(limit, view.used, hits);
    const int64_t reset_us = reset_of(&view, state, limit, over, hits, now_us);

    return wr_after_verdict(limit, over, view.used, hits, reset_us);
}

static void charge(struct wr_sliding_buckets *state, const struct wr_limit *limit,
                   const struct view *view, uint64_t hits, int64_t now_us)
{
    const uint64_t used = wr_count_add(view->used, hits);
    const uint64_t more = used - view->used;

    settle(state, limit, view, more, now_us);
    set_count(state, state->newest, count_at(state, state->newest) + more);
    state->used = used;
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit, now_us);

    const bool over = wr_after_is_over(limit, view.used, hits);
    const int64_t reset_us = reset_of(&view, state, limit, over, hits, now_us);

    if (hits > 0 && (!over || limit->count == WR_COUNT_ALL)) {
        charge(state, limit, &view, hits, now_us);
    }
    return wr_after_verdict(limit, over, view.used, hits, reset_us);
}

/* The newest bucket that has any gives first. */
static void give_back(struct wr_sliding_buckets *state, uint64_t hits)
{
    for (uint32_t age = 0; age < state->span && hits > 0; age++) {
        const uint32_t place = place_of(state, age);
        const uint64_t count = count_at(state, place);
        const uint64_t given = hits < count ? hits : count;

        set_count(state, place, count - given);
        state->used -= given;
        hits -= given;
    }
}

static struct wr_verdict refund(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us)
{
    struct wr_sliding_buckets *const buckets = state;
    struct view view;

    look(&view, buckets, limit, now_us);
    if (hits > 0 && view.used > 0) {
        settle(buckets, limit, &view, 0, now_us);
        give_back(buckets, hits);
    }

    struct wr_verdict verdict = peek(buckets, limit, 0, now_us);

    verdict.over = false;
    return verdict;
}

static uint32_t words_of(uint32_t n, uint32_t width)
{
    const size_t bytes = sizeof(struct wr_sliding_buckets) + (n + 1) * width;

    return (uint32_t) ((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

/* What the bucket that hits go into comes to: the newest, whether or not it still is when they
 * come, or another with all that was counted. */
static uint64_t most_counted(const struct wr_sliding_buckets *state, const struct wr_limit *limit,
                             uint64_t hits)
{
    const bool is_bound = limit->count != WR_COUNT_ALL && hits > limit->requests;
    const uint64_t more = is_bound ? limit->requests : hits;

    if (state->used == 0) {
        return wr_count_add(0, more);
    }
    return wr_count_add(state->n == limit->n_buckets ? count_at(state, state->newest) : state->used,
                        more);
}

/* For what there is and for what the limit asks for, either of which may be laid out. */
static uint32_t state_words(const void *state, const struct wr_limit *limit, uint64_t hits)
{
    const struct wr_sliding_buckets *const buckets = state;
    const uint16_t needed = width_of(most_counted(buckets, limit, hits));
    const uint16_t width = buckets->width > needed ? buckets->width : needed;

    return words_of(buckets->n > limit->n_buckets ? buckets->n : limit->n_buckets, width);
}

const struct wr_counter_kind wr_sliding_buckets_kind = {
    .clock = WR_COUNTER_MONO,
    .state_words = state_words,
    .peek = peek,
    .take = take,
    .refund = refund,
};
