/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log is told of a server: that it is away and why, and that it is back. A reason that
 * stays is told now and then; of a server that comes and goes all the time only some lines are
 * told, with the number of those that were left out.
 *
 * Invariant: whoever goes on saying how things are has the log say so in the end, too.
 * Threads: plain values of one owner.
 */
#ifndef WR_STORE_REDIS_BULLETIN_H
#define WR_STORE_REDIS_BULLETIN_H

#include <stdbool.h>
#include <stdint.h>

#define WR_REDIS_WHY_SIZE 512

/* Zeros to begin with. */
struct wr_redis_bulletin {
    bool is_away;                /* as last told */
    char why[WR_REDIS_WHY_SIZE]; /* the same */
    int64_t told_us;             /* when that was */
    int64_t paid_until_us;       /* lines that were told take up time until then */
    bool is_left_away;           /* as last said, though perhaps not told */
    uint64_t n_left_out;         /* since the last line */
};

/* True when the log is to be told that it is away; `*out_left_out` is then the number of lines that
 * were left out before. */
bool wr_redis_bulletin_away(struct wr_redis_bulletin *bulletin, const char *why, int64_t mono_us,
                            uint64_t *out_left_out);

/* It has come back, or is there as before: true when the log is to be told. */
bool wr_redis_bulletin_back(struct wr_redis_bulletin *bulletin, int64_t mono_us,
                            uint64_t *out_left_out);

#endif
