/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/warm_up.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "limit/calendar.h"
#include "limit/climb.h"
#include "limit/muldiv.h"
#include "limit/token_bucket.h"

_Static_assert(offsetof(struct wr_warm_up, expiry_us) == 0, "a state begins with its expiry");

static const struct wr_counter_kind *kind_of(const struct wr_limit *limit)
{
    return wr_counter_kinds[limit->algorithm][limit->alignment];
}

/* The beginning of the fixed window that ends at `end_us`, or, when that is over, of the next. */
static int64_t window_start(const struct wr_limit *limit, int64_t end_us, int64_t now_us)
{
    const bool is_over = end_us <= now_us;

    switch (limit->alignment) {
    case WR_ALIGN_FIRST_HIT:
        return is_over ? now_us : end_us - limit->length_us;
    case WR_ALIGN_CALENDAR:
        return wr_calendar_window_of(limit->calendar, is_over ? now_us : end_us - 1).start_us;
    case WR_ALIGN_EPOCH:
        break;
    }
    return is_over ? now_us - now_us % limit->length_us : end_us - limit->length_us;
}

/* A fixed window is neither idle nor raised before it ends. A last hit more than a window ahead is
 * of another time. */
static void look(struct wr_climb *climb, const struct wr_warm_up *state,
                 const struct wr_limit *limit, int64_t now_us)
{
    const bool is_fixed = limit->algorithm == WR_ALGORITHM_FIXED_WINDOW;
    const int64_t end_us = (int64_t) state->kind[0];
    const bool is_foreign = state->expiry_us == 0 || state->last_us - now_us > limit->length_us;
    const bool is_idle =
        now_us - state->last_us >= limit->warm_up_us && !(is_fixed && end_us > now_us);
    const int64_t at_us = is_fixed ? window_start(limit, end_us, now_us) : now_us;
    uint64_t requests = limit->requests;

    climb->kind = kind_of(limit);
    climb->since_us = is_foreign || is_idle ? now_us : state->since_us;

    const int64_t climbed_us = at_us > climb->since_us ? at_us - climb->since_us : 0;

    if (climbed_us < limit->warm_up_us) {
        requests = limit->warm_up_start + wr_muldiv_floor(limit->requests - limit->warm_up_start,
                                                          (uint64_t) climbed_us,
                                                          (uint64_t) limit->warm_up_us);
    }
    climb->limit = wr_climb_limit(limit, requests);
}

static void note_expiry(struct wr_warm_up *state, const struct wr_limit *limit)
{
    const int64_t idle_us = state->last_us + limit->warm_up_us;
    const int64_t kind_us = (int64_t) state->kind[0];

    state->expiry_us = kind_us > idle_us ? kind_us : idle_us;
}

/* By `hits` more. */
static int64_t last_hit(const struct wr_climb *climb, const struct wr_warm_up *state, uint64_t hits,
                        int64_t now_us)
{
    const bool is_later = hits > 0 && now_us > state->last_us;

    return climb->since_us != state->since_us || is_later ? now_us : state->last_us;
}

/* Fixed windows keep their limit until they end, which is the wait. */
static bool has_other_wait(const struct wr_limit *limit)
{
    return limit->algorithm != WR_ALGORITHM_FIXED_WINDOW && limit->requests > 0;
}

/* The wait after `hits` that left the kind's state as `kind_state`, by which `verdict` was told. */
static int64_t wait_after(const struct wr_climb *climb, const struct wr_warm_up *state,
                          const void *kind_state, const struct wr_limit *limit, uint64_t hits,
                          const struct wr_verdict *verdict, int64_t now_us)
{
    const bool begins = climb->since_us != state->since_us;
    const struct wr_climb_left left = {
        .state = kind_state,
        .last_us = last_hit(climb, state, hits, now_us),
        .climbs = !begins || hits > 0,
    };

    return wr_climb_wait(climb, &left, limit, verdict, now_us);
}

/* As most takes are: what the kind says is all that comes before the counter is idle again. */
static inline bool is_on_top(const struct wr_climb *climb, const struct wr_limit *limit,
                             uint64_t hits, const struct wr_verdict *verdict)
{
    return hits > 0 && !verdict->over && climb->limit.requests == limit->requests &&
           verdict->reset_us < limit->warm_up_us;
}

/* Hits that are refused leave a bucket mended. */
static int64_t wait_when_refused(const struct wr_climb *climb, const struct wr_warm_up *state,
                                 const struct wr_limit *limit, uint64_t hits,
                                 const struct wr_verdict *verdict, int64_t now_us)
{
    struct wr_token_bucket after;

    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        return wait_after(climb, state, state->kind, limit, hits, verdict, now_us);
    }
    memcpy(&after, state->kind, sizeof after);
    (void) climb->kind->take(&after, &climb->limit, hits, now_us);
    return wait_after(climb, state, &after, limit, hits, verdict, now_us);
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    const struct wr_warm_up *const warm_up = state;
    struct wr_climb climb;

    look(&climb, warm_up, limit, now_us);

    struct wr_verdict verdict = climb.kind->peek(warm_up->kind, &climb.limit, hits, now_us);

    if (hits == 0 && has_other_wait(limit)) {
        verdict.reset_us =
            wait_after(&climb, warm_up, warm_up->kind, limit, hits, &verdict, now_us);
    } else if (verdict.over && limit->count != WR_COUNT_ALL && has_other_wait(limit)) {
        verdict.reset_us = wait_when_refused(&climb, warm_up, limit, hits, &verdict, now_us);
    }
    return verdict;
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct wr_warm_up *const warm_up = state;
    struct wr_climb climb;

    look(&climb, warm_up, limit, now_us);

    struct wr_verdict verdict = climb.kind->take(warm_up->kind, &climb.limit, hits, now_us);

    if (has_other_wait(limit) && !is_on_top(&climb, limit, hits, &verdict)) {
        verdict.reset_us =
            wait_after(&climb, warm_up, warm_up->kind, limit, hits, &verdict, now_us);
    }
    if (hits > 0) {
        warm_up->last_us = last_hit(&climb, warm_up, hits, now_us);
        warm_up->since_us = climb.since_us;
        note_expiry(warm_up, limit);
    }
    return verdict;
}

static struct wr_verdict refund(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us)
{
    struct wr_warm_up *const warm_up = state;
    struct wr_climb climb;

    look(&climb, warm_up, limit, now_us);

    struct wr_verdict verdict = climb.kind->refund(warm_up->kind, &climb.limit, hits, now_us);

    if (has_other_wait(limit)) {
        verdict.reset_us = peek(warm_up, limit, 0, now_us).reset_us;
    }
    if (warm_up->expiry_us != 0) {
        note_expiry(warm_up, limit);
    }
    return verdict;
}

static uint32_t state_words(const void *state, const struct wr_limit *limit, uint64_t hits)
{
    const struct wr_warm_up *const warm_up = state;

    return (uint32_t) (sizeof *warm_up / sizeof(uint64_t)) +
           kind_of(limit)->state_words(warm_up->kind, limit, hits);
}

const struct wr_counter_kind wr_warm_up_kinds[] = {
    [WR_COUNTER_WALL] = {.clock = WR_COUNTER_WALL,
                         .state_words = state_words,
                         .peek = peek,
                         .take = take,
                         .refund = refund},
    [WR_COUNTER_MONO] = {.clock = WR_COUNTER_MONO,
                         .state_words = state_words,
                         .peek = peek,
                         .take = take,
                         .refund = refund},
};
