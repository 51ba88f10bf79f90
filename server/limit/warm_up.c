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

/* What a take or a look leaves. */
struct left {
    const void *state; /* the kind's */
    int64_t last_us;   /* the last hit */
    bool climbs;       /* or does it wait for a hit to begin */
};

/*
 * How long until `wanted` hits fit, which are no more than ever do, were the limit `requests` from
 * `from_us` on. What is in use falls as time goes by, whatever the limit, so of a lower one that
 * lacks all but one of them the kind is asked for the next; but a bucket's debt is restated when
 * the limit in force is another, so it is asked what it will say then.
 */
static int64_t wait_for_hits(const struct climb *climb, const struct left *left,
                             const struct wr_limit *limit, uint64_t requests, uint64_t wanted,
                             int64_t from_us, int64_t now_us)
{
    struct wr_limit then = enforced(limit, requests);

    if (limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
        const int64_t paid_us = wr_token_bucket_interval(left->state);
        const struct wr_verdict verdict =
            climb->kind->peek(left->state, &then, 0, now_us + from_us);

        return verdict.remaining >= wanted
                   ? from_us
                   : from_us + verdict.reset_us +
                         (int64_t) (wanted - 1 - verdict.remaining) * paid_us;
    }
    then.requests -= wanted - 1;

    const struct wr_verdict verdict = climb->kind->peek(left->state, &then, 0, now_us);

    return verdict.remaining > 0 || verdict.reset_us < from_us ? from_us : verdict.reset_us;
}

static int64_t climbed_by(const struct climb *climb, int64_t now_us)
{
    return now_us > climb->since_us ? now_us - climb->since_us : 0;
}

/*
 * How long until a hit passes, when none comes before. Either the climb comes to a limit that has
 * room while it holds: the lowest one such is searched for, between the limit in force and the
 * whole. Or the counter is idle first, and the limit where it began.
 */
static int64_t wait_for_one(const struct climb *climb, const struct left *left,
                            const struct wr_limit *limit, int64_t now_us)
{
    const int64_t climbed_us = climbed_by(climb, now_us);
    const int64_t idle_us = left->last_us + limit->warm_up_us - now_us;
    uint64_t low = climb->limit.requests, high = left->climbs ? limit->requests : low;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const int64_t from_us = wait_for_limit(limit, middle, climbed_us);
        const int64_t wait_us = wait_for_hits(climb, left, limit, middle, 1, from_us, now_us);

        if (wait_us == from_us || wait_us < wait_for_limit(limit, middle + 1, climbed_us)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    const int64_t from_us = left->climbs ? wait_for_limit(limit, high, climbed_us) : 0;
    int64_t wait_us = wait_for_hits(climb, left, limit, high, 1, from_us, now_us);

    if (left->climbs && wait_us >= idle_us) {
        wait_us = wait_for_hits(climb, left, limit, limit->warm_up_start, 1, idle_us, now_us);
    }
    return wait_us > 0 ? wait_us : 1;
}

/* The limit, higher than that of the climb, at which a hit more fits; a bucket's burst is what
 * lets it. 0 when there is none. */
static uint64_t next_step(const struct climb *climb, const struct wr_limit *limit)
{
    if (climb->limit.requests == limit->requests) {
        return 0;
    }
    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        return climb->limit.requests + 1;
    }
    return climb->limit.burst == limit->burst
               ? 0
               : wr_muldiv_ceil(climb->limit.burst + 1, limit->requests, limit->burst);
}

/* How long until `wanted` hits fit, or as many as ever do, after the counter was idle, which is in
 * `idle_us`, and the limit where it began. */
static int64_t wait_when_cold(const struct climb *climb, const struct left *left,
                              const struct wr_limit *limit, uint64_t wanted, int64_t idle_us,
                              int64_t now_us)
{
    const struct wr_limit cold = enforced(limit, limit->warm_up_start);
    const uint64_t most =
        limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET ? cold.burst : cold.requests;

    return wait_for_hits(climb, left, limit, cold.requests, wanted < most ? wanted : most, idle_us,
                         now_us);
}

/*
 * How long until one hit more fits than the `remaining`, when none comes before, and the kind says
 * `kind_us` of the limit in force. That comes first, or the next step of the climb; unless the
 * counter is idle before.
 */
static int64_t wait_for_more(const struct climb *climb, const struct left *left,
                             const struct wr_limit *limit, uint64_t remaining, int64_t kind_us,
                             int64_t now_us)
{
    const uint64_t step = left->climbs ? next_step(climb, limit) : 0;
    const int64_t idle_us = left->last_us + limit->warm_up_us - now_us;
    int64_t wait_us = kind_us;

    if (step > 0) {
        const int64_t step_us = wait_for_limit(limit, step, climbed_by(climb, now_us));

        wait_us = kind_us > 0 && kind_us < step_us ? kind_us : step_us;
    }
    if (!left->climbs || wait_us < idle_us) {
        return wait_us;
    }
    return kind_us > 0 ? wait_when_cold(climb, left, limit, remaining + 1, idle_us, now_us) : 0;
}

/* By `hits` more. */
static int64_t last_hit(const struct climb *climb, const struct wr_warm_up *state, uint64_t hits,
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
static int64_t wait_after(const struct climb *climb, const struct wr_warm_up *state,
                          const void *kind_state, const struct wr_limit *limit, uint64_t hits,
                          const struct wr_verdict *verdict, int64_t now_us)
{
    const bool begins = climb->since_us != state->since_us;
    const struct left left = {
        .state = kind_state,
        .last_us = last_hit(climb, state, hits, now_us),
        .climbs = !begins || hits > 0,
    };

    return verdict->over
               ? wait_for_one(climb, &left, limit, now_us)
               : wait_for_more(climb, &left, limit, verdict->remaining, verdict->reset_us, now_us);
}

/* As most takes are: what the kind says is all that comes before the counter is idle again. */
static inline bool is_on_top(const struct climb *climb, const struct wr_limit *limit, uint64_t hits,
                             const struct wr_verdict *verdict)
{
    return hits > 0 && !verdict->over && climb->limit.requests == limit->requests &&
           verdict->reset_us < limit->warm_up_us;
}

/* Hits that are refused leave a bucket mended. */
static int64_t wait_when_refused(const struct climb *climb, const struct wr_warm_up *state,
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
    struct climb climb;

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
    struct climb climb;

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
    struct climb climb;

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
