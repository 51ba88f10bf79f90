/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What warm-up promises, told in another way than limit/warm_up.c does: the limit goes up in a
 * straight line from the first hit of a counter that is new, or has been idle for as long as the
 * climb takes.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_CLIMB_H
#define WR_TESTS_STRESS_GUARANTEES_CLIMB_H

#include <stdbool.h>
#include <stdint.h>

#include "limit/limit.h"

/* All zero: never hit. */
struct wr_climb {
    bool has_begun;
    int64_t since_us, last_us;
};

/* What may be enforced at `now_us`; a fixed window, which keeps the limit that it began with, may
 * enforce less. */
uint64_t wr_climb_at(const struct wr_climb *climb, const struct wr_limit *limit, int64_t now_us);

/* After a hit, admitted or not. */
void wr_climb_hit(struct wr_climb *climb, const struct wr_limit *limit, int64_t now_us);

#endif
