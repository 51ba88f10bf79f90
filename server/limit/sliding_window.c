/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_window.h"

#include <stdbool.h>
#include <stddef.h>

#include "limit/after.h"
#include "limit/muldiv.h"

_Static_assert(offsetof(struct wr_sliding_window, expiry_us) == 0,
               "a state begins with its expiry");

/* The two windows at one time. */
struct view {
    int64_t start_us; /* of the current window */
    int64_t left_us;  /* of it: 1 to its length */
    int64_t late_us;  /* how far the time is before its start, when it is */
    uint64_t previous, current;
};

/*
 * The windows of `now_us`. A time just before the current one began is late, and counts as its
 * beginning. Field by field: a copy of the whole would be read wider than it was written, which the
 * processor has to wait for.
 */
static inline void look(struct view *view, const struct wr_sliding_window *state, int64_t length_us,
                        int64_t now_us)
{
    int64_t start_us = state->expiry_us - 2 * length_us;
    int64_t elapsed_us = now_us - start_us;

    view->previous = state->previous;
    view->current = state->current;
    view->late_us = 0;
    if (elapsed_us >= 2 * length_us || elapsed_us < -length_us) {
        elapsed_us = now_us % length_us;
        start_us = now_us - elapsed_us;
        view->previous = 0;
        view->current = 0;
    } else if (elapsed_us >= length_us) {
        start_us += length_us;
        elapsed_us -= length_us;
        view->previous = state->current;
        view->current = 0;
    } else if (elapsed_us < 0) {
        view->late_us = -elapsed_us;
        elapsed_us = 0;
    }
    view->start_us = start_us;
    view->left_us = length_us - elapsed_us;
}

static inline uint64_t count_of(const struct view *view, int64_t length_us)
{
    if (view->previous == 0) {
        return view->current;
    }
    return wr_count_add(view->current, wr_muldiv_ceil(view->previous, (uint64_t) view->left_us,
                                                      (uint64_t) length_us));
}

/* How long until the count is no more than `target`, when nothing else is counted but `current`.
 * In this window only what came before it loses weight, in the next one what came in this. */
static inline int64_t wait_for(const struct view *view, uint64_t current, uint64_t target,
                               int64_t length_us)
{
    const bool is_in_next = current > target;
    const uint64_t fading = is_in_next ? current : view->previous;
    const uint64_t weight = is_in_next ? target : target - current;
    const int64_t end_us = view->left_us + (is_in_next ? length_us : 0);

    if (fading <= weight) {
        return 0;
    }

    const int64_t left_us = (int64_t) wr_muldiv_floor(weight, (uint64_t) length_us, fading);

    return left_us < end_us ? view->late_us + end_us - left_us : 0;
}

static inline int64_t reset_of(const struct view *view, const struct wr_limit *limit,
                               uint64_t count, bool over, uint64_t hits)
{
    const uint64_t charge = wr_after_charge(limit, over, hits);
    const uint64_t after = wr_count_add(count, charge);
    const uint64_t target = wr_after_target(limit, over, after);

    if (after <= target) {
        return wr_after_reset_at_once(limit, over);
    }
    return wait_for(view, wr_count_add(view->current, charge), target, limit->length_us);
}

static void store(struct wr_sliding_window *state, const struct view *view, int64_t length_us)
{
    state->expiry_us = view->start_us + 2 * length_us;
    state->previous = view->previous;
    state->current = view->current;
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit->length_us, now_us);

    const uint64_t count = count_of(&view, limit->length_us);
    const bool over = wr_after_is_over(limit, count, hits);
    const int64_t reset_us = reset_of(&view, limit, count, over, hits);

    return wr_after_verdict(limit, over, count, hits, reset_us);
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit->length_us, now_us);

    const uint64_t count = count_of(&view, limit->length_us);
    const bool over = wr_after_is_over(limit, count, hits);
    const int64_t reset_us = reset_of(&view, limit, count, over, hits);

    if (hits > 0 && (!over || limit->count == WR_COUNT_ALL)) {
        view.current = wr_count_add(view.current, hits);
        store(state, &view, limit->length_us);
    }
    return wr_after_verdict(limit, over, count, hits, reset_us);
}

static struct wr_verdict refund(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us)
{
    struct view view;

    look(&view, state, limit->length_us, now_us);

    const uint64_t from_current = hits < view.current ? hits : view.current;
    const uint64_t from_previous =
        hits - from_current < view.previous ? hits - from_current : view.previous;

    if (from_current + from_previous > 0) {
        view.current -= from_current;
        view.previous -= from_previous;
        store(state, &view, limit->length_us);
    }

    struct wr_verdict verdict = peek(state, limit, 0, now_us);

    verdict.over = false;
    return verdict;
}

static uint32_t state_words(const void *state, const struct wr_limit *limit, uint64_t hits)
{
    (void) state;
    (void) limit;
    (void) hits;
    return sizeof(struct wr_sliding_window) / sizeof(uint64_t);
}

const struct wr_counter_kind wr_sliding_window_kind = {
    .clock = WR_COUNTER_MONO,
    .state_words = state_words,
    .peek = peek,
    .take = take,
    .refund = refund,
};
