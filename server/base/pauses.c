/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pauses.h"

/* The longest that the pause may be. */
static int64_t grow(struct wr_pauses *pauses)
{
    int64_t most_us = pauses->min_us;

    for (uint32_t i = 0; i < pauses->n && most_us < pauses->max_us; i++) {
        most_us *= 2;
    }
    if (pauses->n < UINT32_MAX) {
        pauses->n++;
    }
    return most_us < pauses->max_us ? most_us : pauses->max_us;
}

/* From 0 to `most_us`. */
static int64_t draw(int64_t most_us, uint64_t random)
{
    return (int64_t) (random % ((uint64_t) most_us + 1));
}

int64_t wr_pauses_next(struct wr_pauses *pauses, uint64_t random)
{
    return draw(grow(pauses), random);
}

int64_t wr_pauses_next_half(struct wr_pauses *pauses, uint64_t random)
{
    const int64_t most_us = grow(pauses);

    return most_us - most_us / 2 + draw(most_us / 2, random);
}

void wr_pauses_reset(struct wr_pauses *pauses)
{
    pauses->n = 0;
}
