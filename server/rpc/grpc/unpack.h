/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks compressed messages, bounded: C core's own unpacking makes gigabytes of a few megabytes
 * before it looks at the limit, and is switched off. Of an encoding that it does not know it tells
 * nothing: such a message looks like one that is not compressed.
 *
 * Threads: pure functions.
 */
#ifndef WR_RPC_GRPC_UNPACK_H
#define WR_RPC_GRPC_UNPACK_H

#include <stddef.h>

#include <grpc/grpc.h>

#include "base/err.h"

/*
 * Replaces `*buffer` by what it unpacks to; one that is not compressed, or NULL, stays. Never
 * takes more memory than `max_bytes` and a little. WR_ERR_TOO_LARGE, WR_ERR_MALFORMED,
 * WR_ERR_NO_MEMORY; then it stays too.
 */
WR_MUST_USE enum wr_err wr_grpc_unpack(grpc_byte_buffer **buffer, size_t max_bytes);

#endif
