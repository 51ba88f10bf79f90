/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/pauses.h"

int64_t wr_xds_pauses_next(struct wr_xds_pauses *pauses, uint64_t random)
{
    int64_t most_us = pauses->min_us;

    for (uint32_t i = 0; i < pauses->n && most_us < pauses->max_us; i++) {
        most_us *= 2;
    }
    most_us = most_us < pauses->max_us ? most_us : pauses->max_us;
    if (pauses->n < UINT32_MAX) {
        pauses->n++;
    }

    const int64_t least_us = most_us - most_us / 2;

    return least_us + (int64_t) (random % ((uint64_t) (most_us - least_us) + 1));
}

void wr_xds_pauses_reset(struct wr_xds_pauses *pauses)
{
    pauses->n = 0;
}
