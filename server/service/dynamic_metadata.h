/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic metadata of a response: what was asked, and the metadata of the rules that passed.
 * Rules' values are read, never written, so that nothing of one request reaches another.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_SERVICE_DYNAMIC_METADATA_H
#define WR_SERVICE_DYNAMIC_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/value.h"
#include "service/request.h"

/*
 * `passed` holds, in order and each once, the metadata of the `n_passed` rules whose descriptors
 * passed; of two values of one key the first wins, maps are merged. False when memory is out.
 */
bool wr_dynamic_metadata_build(struct wr_arena *arena, const struct wr_request *request,
                               const struct wr_value *const *passed, size_t n_passed,
                               const struct wr_value **out_metadata);

#endif
