/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a caller. C core, which did not accept the connection itself, knows its descriptor
 * alone: fd:12.
 *
 * Threads: pure function.
 */
#ifndef WR_RPC_GRPC_PEER_H
#define WR_RPC_GRPC_PEER_H

#include "rpc/address.h"

/* The address behind what C core calls `peer`; empty when that is no connection any more. Right
 * while the call is open: later another connection may have the descriptor. */
void wr_grpc_peer_format(const char *peer, char text[WR_ADDRESS_TEXT_SIZE]);

#endif
