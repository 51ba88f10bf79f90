/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wr_value as google.protobuf.Struct, for protobuf-c to encode.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_METADATA_H
#define WR_WIRE_METADATA_H

#include "base/arena.h"
#include "base/value.h"

struct Google__Protobuf__Struct;

/* Maps and lists in one another. Each is up to three messages on the wire, and the parsers of
 * protobuf refuse more than 100: what lies deeper is sent as null. */
#define WR_METADATA_DEPTH_MAX 32

/* `map` must be one. The message is in `arena`; NULL when memory is out. */
struct Google__Protobuf__Struct *wr_metadata_message(const struct wr_value *map,
                                                     struct wr_arena *arena);

#endif
