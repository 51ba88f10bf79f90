/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a google.protobuf.Struct as a wr_value. protobuf-c knows no bound on nesting, and
 * ends a text at its first NUL; so they are read field by field.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_STRUCT_VALUE_H
#define WR_WIRE_STRUCT_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/value.h"
#include "wire/scan.h"

/* What a reader may not go beyond, and how far it has come. */
struct wr_struct_bounds {
    size_t max_depth; /* maps and lists in one another, the outermost included */
    size_t max_nodes; /* values, in all structs that are read with these bounds */
    size_t n_nodes;
    bool is_too_deep; /* by the last struct, which was WR_ERR_TOO_LARGE */
};

/*
 * Reads `message` into a map in `arena`, its texts borrowed from the bytes; of members of one key
 * the last counts. A value that says nothing is null. Values are held against the bounds before
 * there is room made for them. WR_ERR_MALFORMED, with the reason in `*scan`; WR_ERR_TOO_LARGE: too
 * deep, or too many values; WR_ERR_NO_MEMORY.
 */
WR_MUST_USE enum wr_err wr_struct_value_read(struct wr_str message, struct wr_struct_bounds *bounds,
                                             struct wr_arena *arena, struct wr_scan *scan,
                                             struct wr_value *out_map);

#endif
