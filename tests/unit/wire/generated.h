/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valid requests made from a seed, with the bytes of each: fields in any order, single fields that
 * come twice, messages that come in two parts, unknown fields, numbers longer than need be.
 *
 * Left out is what protobuf-c or nanopb does not take as the protocol has it: groups, known fields
 * of another wire type, NUL in a text, numbers beyond their field. Messages in two parts can be
 * left out, since protobuf-c forgets the numbers of the first.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_TESTS_UNIT_WIRE_GENERATED_H
#define WR_TESTS_UNIT_WIRE_GENERATED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "service/request.h"

#define GENERATED_DESCRIPTORS_MAX 6
#define GENERATED_ENTRIES_MAX 5
#define GENERATED_TEXT_MAX 95 /* bytes */

struct generated {
    struct wr_request request; /* what the bytes mean */
    struct wr_str message;
};

/* The same for the same seed; all of it in `arena`. */
struct generated generated_of_seed(uint64_t seed, bool splits_messages, struct wr_arena *arena);

#endif
