/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a load against a rule on a virtual clock: the very code that serves decides, with counters
 * in memory, one call an attempt.
 *
 * Invariant: the same rule and load always come to the same.
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_PLAY_H
#define WR_SIMULATE_PLAY_H

#include <stdint.h>

#include "base/err.h"
#include "simulate/load_spec.h"
#include "simulate/subject.h"
#include "simulate/worst.h"

/* The most attempts of one simulation. */
#define WR_SIM_ATTEMPTS_MAX UINT64_C(50000000)

/* Where virtual time begins: at the turn of 2026, a Thursday, when no window is under way but those
 * of weeks. */
#define WR_SIM_BEGIN_S INT64_C(1767225600)

struct wr_played {
    uint64_t n_admitted, n_refused; /* hits */
    int64_t duration_us;
    struct wr_passed_list passed; /* owned */
};

/*
 * Plays `spec`; windows, and a boundary's hits where it says none, are those of `against`.
 * WR_ERR_NO_MEMORY, WR_ERR_SYSTEM, WR_ERR_TOO_LARGE (too many attempts); WR_ERR_IO,
 * WR_ERR_MALFORMED (the trace cannot be read; `*out_line` says where, 0: not at all).
 */
WR_MUST_USE enum wr_err wr_sim_play(const struct wr_sim_subject *subject,
                                    const struct wr_load_spec *spec, const struct wr_rate *against,
                                    struct wr_played *out_played, uint64_t *out_line);

void wr_played_fini(struct wr_played *played);

#endif
