/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C core's times as monotonic microseconds, which share their start with base/clock's.
 *
 * Threads: pure functions.
 */
#ifndef WR_RPC_GRPC_GRPC_TIME_H
#define WR_RPC_GRPC_GRPC_TIME_H

#include <stdint.h>

#include <grpc/support/time.h>

/* INT64_MAX for a time that never comes. */
int64_t wr_grpc_time_mono_us(gpr_timespec time);

#endif
