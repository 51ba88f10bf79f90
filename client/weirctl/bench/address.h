/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain connected socket to a target, in each spelling that gRPC takes.
 *
 * Threads: any; it waits.
 */
#ifndef WEIRCTL_BENCH_ADDRESS_H
#define WEIRCTL_BENCH_ADDRESS_H

#include "weir/client.h"

/* A non-blocking socket, or -1 with the reason in `error` (WEIR_ERR_CONNECT). The target has passed
 * weir_target_check. */
WEIR_MUST_USE int weirctl_address_connect(const char *target, uint32_t timeout_ms,
                                          struct weir_error *error);

#endif
