/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic metadata of a response: what was asked, who decided when the store did not,
 * and the metadata of the rules that passed.
 * Rules' values are read, never written, so that nothing of one request reaches another.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_SERVICE_DYNAMIC_METADATA_H
#define WR_SERVICE_DYNAMIC_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/value.h"
#include "service/request.h"
#include "service/response.h"

/* What it is made of. */
struct wr_dynamic_metadata {
    const struct wr_request *request;
    const struct wr_descriptor_status *statuses; /* one a descriptor; NULL: they say nothing */
    /* in order and each once, the metadata of the rules whose descriptors passed; of two values of
     * one key the first wins, maps are merged */
    const struct wr_value *const *passed;
    size_t n_passed;
    struct wr_str decider; /* the failure mode that decided in place of the store; empty: none */
};

/* False when memory is out. */
bool wr_dynamic_metadata_build(struct wr_arena *arena, const struct wr_dynamic_metadata *parts,
                               const struct wr_value **out_metadata);

#endif
