/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between C core's buffers of slices and plain bytes.
 *
 * Threads: pure functions.
 */
#ifndef WR_RPC_GRPC_PAYLOAD_H
#define WR_RPC_GRPC_PAYLOAD_H

#include <grpc/grpc.h>

#include "base/str.h"

/*
 * The bytes of `*buffer` in one piece, which live as long as it does; a buffer of several slices is
 * replaced by one of a single slice. `ptr` is NULL for a NULL buffer and only then.
 */
struct wr_str wr_grpc_payload_bytes(grpc_byte_buffer **buffer);

/* A new buffer with a copy of `bytes`. */
grpc_byte_buffer *wr_grpc_payload_new(struct wr_str bytes);

#endif
