/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What protobuf-c may read otherwise than it should, for targets that compare with it.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_FUZZ_PROTOBUF_C_H
#define WR_TESTS_FUZZ_PROTOBUF_C_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* protobuf-c ends a text at its first NUL. */
bool protobuf_c_agrees_on_text(struct wr_str ours, const char *theirs);

/* Where a message stands twice in place of once, the two are to be merged: protobuf-c forgets a
 * number of the first, or brings it back over an explicit 0 of the second. So where one of them is
 * 0, nothing is said. */
bool protobuf_c_agrees_on_number(uint64_t ours, uint64_t theirs);

#endif
