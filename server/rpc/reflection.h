/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server reflection, v1 and v1alpha: grpcurl and its like list, describe and call what is served
 * without proto files.
 *
 * Threads: immutable; calls on their owner threads.
 */
#ifndef WR_RPC_REFLECTION_H
#define WR_RPC_REFLECTION_H

#include "rpc/method.h"

/* Rows that wr_reflection_methods writes. */
#define WR_REFLECTION_METHODS 2

struct wr_descriptor_pool;

/* Both versions, which borrow `pool`. */
void wr_reflection_methods(struct wr_descriptor_pool *pool,
                           struct wr_method out_methods[WR_REFLECTION_METHODS]);

#endif
