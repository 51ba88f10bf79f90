/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/warm_up.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "limit/calendar.h"
#include "limit/muldiv.h"
#include "limit/token_bucket.h"

_Static_assert(offsetof(struct wr_warm_up, expiry_us) == 0, "a state begins with its expiry");

/* The climb at one time. */
struct climb {
    const struct wr_counter_kind *kind; /* that warms up */
    int64_t since_us;
    struct wr_limit limit; /* that is enforced */
};

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

/* The limit while the climb is at `requests`. */
static struct wr_limit enforced(const struct wr_limit *limit, uint64_t requests)
{
    struct wr_limit now = *limit;

    now.requests = requests;
    if (requests < limit->requests) {
        const uint64_t burst = wr_muldiv_floor(limit->burst, requests, limit->requests);

        now.burst = burst > 0 ? burst : 1;
    }
    return now;
}

/* A fixed window is neither idle nor raised before it ends. A last hit more than a window ahead is
 * of another time. */
static void look(struct climb *climb, const struct wr_warm_up *state, const struct wr_limit *limit,
                 int64_t now_us)
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
    climb->limit = enforced(limit, requests);
}

static void note_expiry(struct wr_warm_up *state, const struct wr_limit *limit)
{
    const int64_t idle_us = state->last_us + limit->warm_up_us;
    const int64_t kind_us = (int64_t) state->kind[0];

    state->expiry_us = kind_us > idle_us ? kind_us : idle_us;
}

/* How long until the limit is `requests`, from when the climb is `climbed_us` long. */
static int64_t wait_for_limit(const struct wr_limit *limit, uint64_t requests, int64_t climbed_us)
{
    int64_t at_us = 0;

    if (requests > limit->warm_up_start) {
        at_us =
            (int64_t) wr_muldiv_ceil(requests - limit->warm_up_start, (uint64_t) limit->warm_up_us,
                                     limit->requests - limit->warm_up_start);
    }
    return at_us > climbed_us ? at_us - climbed_us : 0;
}

/* Hits that are refused, and when the last hit was by then. */
struct refused {
    const void *state; /* the kind's, in which `charge` is not yet */
    uint64_t charge;   /* that are booked all the same */
    int64_t last_us;
};

/*
 * How long until a hit passes, were the limit `requests` from `from_us` on. What is in use falls as
 * time goes by, whatever the limit; but a bucket's debt is restated when the limit in force is
 * another, so it is asked what it will say then.
 */
static int64_t wait_at(const struct climb *climb, const struct refused *refused,
                       const struct wr_limit *limit, uint64_t requests, int64_t from_us,
                       int64_t now_us)
{
    const bool is_bucket = limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET;
    const struct wr_limit then = enforced(limit, requests);
    const struct wr_verdict verdict = climb->kind->peek(refused->state, &then, refused->charge,
                                                        now_us + (is_bucket ? from_us : 0));
    const int64_t wait_us = verdict.over || verdict.remaining == 0 ? verdict.reset_us : 0;

    if (is_bucket) {
        return from_us + wait_us;
    }
    return wait_us > from_us ? wait_us : from_us;
}

/*
 * How long until a hit passes, when none comes before. Either the climb comes to a limit that has
 * room while it holds: the lowest one such is searched for, between the limit in force and the
 * whole. Or the counter is idle first, and the limit where it began.
 */
static int64_t true_wait(const struct climb *climb, const struct refused *refused,
                         const struct wr_limit *limit, int64_t now_us)
{
    const int64_t climbed_us = now_us > climb->since_us ? now_us - climb->since_us : 0;
    const int64_t idle_us = refused->last_us + limit->warm_up_us - now_us;
    uint64_t low = climb->limit.requests, high = limit->requests;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const int64_t from_us = wait_for_limit(limit, middle, climbed_us);

        if (wait_at(climb, refused, limit, middle, from_us, now_us) <
            wait_for_limit(limit, middle + 1, climbed_us)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    int64_t wait_us =
        wait_at(climb, refused, limit, high, wait_for_limit(limit, high, climbed_us), now_us);

    if (wait_us >= idle_us) {
        wait_us = wait_at(climb, refused, limit, limit->warm_up_start, idle_us, now_us);
    }
    return wait_us > 0 ? wait_us : 1;
}

/* Fixed windows keep their limit until they end, which is the wait. */
static bool has_other_wait(const struct wr_limit *limit)
{
    return limit->algorithm != WR_ALGORITHM_FIXED_WINDOW && limit->requests > 0;
}

static int64_t last_hit(const struct climb *climb, const struct wr_warm_up *state, uint64_t hits,
                        int64_t now_us)
{
    const bool is_later = hits > 0 && now_us > state->last_us;

    return climb->since_us != state->since_us || is_later ? now_us : state->last_us;
}

static int64_t wait_when_over(const struct climb *climb, const struct wr_warm_up *state,
                              const struct wr_limit *limit, uint64_t hits, int64_t now_us)
{
    const int64_t last_us = last_hit(climb, state, hits, now_us);
    struct refused refused = {.state = state->kind, .last_us = last_us};
    struct wr_token_bucket after;

    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        refused.charge = limit->count == WR_COUNT_ALL ? hits : 0;
        return true_wait(climb, &refused, limit, now_us);
    }
    memcpy(&after, state->kind, sizeof after);
    (void) climb->kind->take(&after, &climb->limit, hits, now_us);
    refused.state = &after;
    return true_wait(climb, &refused, limit, now_us);
}

/* As a look, by the limit of the climb. */
static struct wr_verdict judge(const struct climb *climb, const struct wr_warm_up *state,
                               const struct wr_limit *limit, uint64_t hits, int64_t now_us)
{
    struct wr_verdict verdict = climb->kind->peek(state->kind, &climb->limit, hits, now_us);

    if (verdict.over && has_other_wait(limit)) {
        verdict.reset_us = wait_when_over(climb, state, limit, hits, now_us);
    }
    return verdict;
}

/* As `judge`, and charges. Hits that are booked all the same are judged before they are in the
 * state, refused ones behind what they leave there, which is what they came upon. */
static struct wr_verdict charge(const struct climb *climb, struct wr_warm_up *state,
                                const struct wr_limit *limit, uint64_t hits, int64_t now_us)
{
    if (limit->count == WR_COUNT_ALL && has_other_wait(limit)) {
        const struct wr_verdict judged = judge(climb, state, limit, hits, now_us);

        (void) climb->kind->take(state->kind, &climb->limit, hits, now_us);
        return judged;
    }

    struct wr_verdict verdict = climb->kind->take(state->kind, &climb->limit, hits, now_us);

    if (verdict.over && has_other_wait(limit)) {
        verdict.reset_us = wait_when_over(climb, state, limit, hits, now_us);
    }
    return verdict;
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    const struct wr_warm_up *const warm_up = state;
    struct climb climb;

    look(&climb, warm_up, limit, now_us);
    return judge(&climb, warm_up, limit, hits, now_us);
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct wr_warm_up *const warm_up = state;
    struct climb climb;

    look(&climb, warm_up, limit, now_us);

    const struct wr_verdict verdict = charge(&climb, warm_up, limit, hits, now_us);

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
    struct climb climb;

    look(&climb, warm_up, limit, now_us);

    const struct wr_verdict verdict = climb.kind->refund(warm_up->kind, &climb.limit, hits, now_us);

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
