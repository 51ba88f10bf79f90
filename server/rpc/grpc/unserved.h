/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to calls of methods that the table lacks: UNIMPLEMENTED, counted. It names the path to
 * the caller, cut and cleaned; nobody else sees it.
 *
 * Threads: immutable.
 */
#ifndef WR_RPC_GRPC_UNSERVED_H
#define WR_RPC_GRPC_UNSERVED_H

#include "rpc/method.h"

extern const struct wr_method wr_grpc_unserved;

#endif
