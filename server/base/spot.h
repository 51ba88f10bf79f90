/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spot within a message, which has no lines: the fields that lead to it, from the innermost out,
 * and as text for people: descriptors[2].rate_limit.unit.
 *
 * Threads: plain values.
 */
#ifndef WR_BASE_SPOT_H
#define WR_BASE_SPOT_H

#include <stddef.h>
#include <stdint.h>

/* The index of a field that is not repeated. */
#define WR_SPOT_SINGLE SIZE_MAX

struct wr_spot {
    const struct wr_spot *parent; /* NULL: `name` is a field of the message itself */
    const char *name;             /* static */
    size_t index;                 /* of a repeated field */
};

/* Cut to `size`, always terminated; recursion is as deep as the spot, which its maker bounds. */
void wr_spot_format(const struct wr_spot *spot, char *text, size_t size);

#endif
