/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How C core's server is set up: its caps, and what it tolerates from callers.
 *
 * Threads: pure function.
 */
#ifndef WR_RPC_GRPC_CORE_ARGS_H
#define WR_RPC_GRPC_CORE_ARGS_H

#include <grpc/grpc.h>

#include "rpc/grpc/server.h"

/* A new server without queues or methods. All numbers of `options` are filled in. */
grpc_server *wr_grpc_core_new(const struct wr_grpc_options *options);

#endif
