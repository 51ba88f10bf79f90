/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of grpc.reflection.v1 and v1alpha, which are the same on the wire, and the answers
 * to them from the descriptors of all that is served, embedded at build time.
 *
 * Threads: a pool is immutable once loaded; answers are pure functions with the caller's arena.
 */
#ifndef WR_WIRE_REFLECTION_H
#define WR_WIRE_REFLECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Files by name and by symbol (services, methods, messages, fields, enums, enum values). */
struct wr_descriptor_pool;

/* From the embedded set. WR_ERR_NO_MEMORY, WR_ERR_MALFORMED (a build gone wrong). */
WR_MUST_USE enum wr_err wr_descriptor_pool_new(struct wr_descriptor_pool **out_pool);

void wr_descriptor_pool_destroy(struct wr_descriptor_pool *pool);

/*
 * Answers one ServerReflectionRequest with one encoded ServerReflectionResponse in `arena`; what is
 * not found is answered with an error_response, as the protocol has it. WR_ERR_MALFORMED when
 * `message` is no such request, WR_ERR_TOO_LARGE when it is far beyond any name, WR_ERR_NO_MEMORY.
 */
WR_MUST_USE enum wr_err wr_reflection_answer(const struct wr_descriptor_pool *pool,
                                             struct wr_str message, struct wr_arena *arena,
                                             struct wr_str *out_reply);

#endif
