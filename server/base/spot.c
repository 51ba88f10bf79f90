/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spot.h"

#include <stdio.h>

/* Writes at `used`; the end of what is written, below `size`. */
static size_t put(const struct wr_spot *spot, char *text, size_t size, size_t used)
{
    const char *const dot = spot->parent == NULL ? "" : ".";

    if (spot->parent != NULL) {
        used = put(spot->parent, text, size, used);
    }

    const int n =
        spot->index == WR_SPOT_SINGLE
            ? snprintf(text + used, size - used, "%s%s", dot, spot->name)
            : snprintf(text + used, size - used, "%s%s[%zu]", dot, spot->name, spot->index);

    used += n > 0 ? (size_t) n : 0;
    return used < size ? used : size - 1;
}

void wr_spot_format(const struct wr_spot *spot, char *text, size_t size)
{
    (void) put(spot, text, size, 0);
}
