/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers for jitter and tests: fast, the same from the same seed, and not for secrets
 * (Marsaglia's xorshift64).
 *
 * Threads: plain values of one owner.
 */
#ifndef WR_BASE_RANDOM_H
#define WR_BASE_RANDOM_H

#include <stdint.h>

/* The next number; never 0. `random` is what the next one is made of, and begins as any number but
 * 0. */
static inline uint64_t wr_random_next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

#endif
