/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long run of random calls on one key, for what short ones do not come to: a log grows, fills up
 * and loses entries from its beginning, buckets become wider and are stepped over. So limits stay
 * for a while and then rise or fall, hits are few at a time, and time passes in parts of a window,
 * now and then to the very end of one, beyond it, or back.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_SUPPORT_DRAWN_RUN_H
#define WR_TESTS_SUPPORT_DRAWN_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/drawn_call.h"

/* Draws `n` calls on `key`, which has that sort of limit, from `now_us` on. */
void wr_draw_run(uint64_t *seed, const struct wr_limit *sort, unsigned key, int64_t now_us,
                 struct wr_drawn_call *calls, size_t n);

#endif
