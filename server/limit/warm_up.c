/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/warm_up.h"

#include <stdbool.h>
#include <stddef.h>

#include "limit/calendar.h"
#include "limit/muldiv.h"

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

    climb->kind = kind_of(limit);
    climb->since_us = is_foreign || is_idle ? now_us : state->since_us;
    climb->limit = *limit;

    const int64_t climbed_us = at_us > climb->since_us ? at_us - climb->since_us : 0;

    if (climbed_us < limit->warm_up_us) {
        climb->limit.requests =
            limit->warm_up_start + wr_muldiv_floor(limit->requests - limit->warm_up_start,
                                                   (uint64_t) climbed_us,
                                                   (uint64_t) limit->warm_up_us);
    }
    if (climb->limit.requests < limit->requests) {
        const uint64_t burst =
            wr_muldiv_floor(limit->burst, climb->limit.requests, limit->requests);

        climb->limit.burst = burst > 0 ? burst : 1;
        climb->limit.burst_most = limit->burst;
    }
}

static void note_expiry(struct wr_warm_up *state, const struct wr_limit *limit)
{
    const int64_t idle_us = state->last_us + limit->warm_up_us;
    const int64_t kind_us = (int64_t) state->kind[0];

    state->expiry_us = kind_us > idle_us ? kind_us : idle_us;
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    const struct wr_warm_up *const warm_up = state;
    struct climb climb;

    look(&climb, warm_up, limit, now_us);
    return climb.kind->peek(warm_up->kind, &climb.limit, hits, now_us);
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct wr_warm_up *const warm_up = state;
    struct climb climb;

    look(&climb, warm_up, limit, now_us);

    const struct wr_verdict verdict = climb.kind->take(warm_up->kind, &climb.limit, hits, now_us);

    if (hits > 0) {
        if (climb.since_us != warm_up->since_us || now_us > warm_up->last_us) {
            warm_up->last_us = now_us;
        }
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
