/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends what C core logs on its own to our log, at most one line a second and severity. Only the
 * place in its sources is kept: its texts quote what clients send.
 *
 * C core's log function, and the limits on its lines, are one of the three permitted globals.
 * Threads: any thread.
 */
#ifndef WR_RPC_GRPC_GRPC_LOG_H
#define WR_RPC_GRPC_GRPC_LOG_H

void wr_grpc_log_install(void);

#endif
