/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/climb.h"

#include "limit/token_bucket.h"

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

/*
 * How long until `wanted` hits fit, which are no more than ever do, were the limit `requests` from
 * `from_us` on. What is in use falls as time goes by, whatever the limit, so of a lower one that
 * lacks all but one of them the kind is asked for the next; but a bucket's debt is restated when
 * the limit in force is another, so it is asked what it will say then.
 */
static int64_t wait_for_hits(const struct wr_climb *climb, const struct wr_climb_left *left,
                             const struct wr_limit *limit, uint64_t requests, uint64_t wanted,
                             int64_t from_us, int64_t now_us)
{
    struct wr_limit then = wr_climb_limit(limit, requests);

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

static int64_t climbed_by(const struct wr_climb *climb, int64_t now_us)
{
    return now_us > climb->since_us ? now_us - climb->since_us : 0;
}

/*
 * How long until a hit passes, when none comes before. Either the climb comes to a limit that has
 * room while it holds: the lowest one such is searched for, between the limit in force and the
 * whole. Or the counter is idle first, and the limit where it began.
 */
static int64_t wait_for_one(const struct wr_climb *climb, const struct wr_climb_left *left,
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
static uint64_t next_step(const struct wr_climb *climb, const struct wr_limit *limit)
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
static int64_t wait_when_cold(const struct wr_climb *climb, const struct wr_climb_left *left,
                              const struct wr_limit *limit, uint64_t wanted, int64_t idle_us,
                              int64_t now_us)
{
    const struct wr_limit cold = wr_climb_limit(limit, limit->warm_up_start);
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
static int64_t wait_for_more(const struct wr_climb *climb, const struct wr_climb_left *left,
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

int64_t wr_climb_wait(const struct wr_climb *climb, const struct wr_climb_left *left,
                      const struct wr_limit *limit, const struct wr_verdict *verdict,
                      int64_t now_us)
{
    return verdict->over
               ? wait_for_one(climb, left, limit, now_us)
               : wait_for_more(climb, left, limit, verdict->remaining, verdict->reset_us, now_us);
}
