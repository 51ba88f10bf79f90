/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that this server goes by in grpc.health.v1, and what health says of each.
 *
 * `live` says that a call is answered, and no more: whoever would restart the process asks for it,
 * since a restart mends neither rules that do not load nor a drain. All other names say whether
 * decisions are to be had here.
 * Threads: pure functions.
 */
#ifndef WR_RPC_HEALTH_NAMES_H
#define WR_RPC_HEALTH_NAMES_H

#include <stdbool.h>

#include "base/str.h"
#include "wire/health.h"

/* Rows that wr_health_names_rows writes. */
#define WR_HEALTH_NAMES 4

/* Of one service, `is_serving` being the state of the server. WR_SERVING_SERVICE_UNKNOWN when it is
 * none of ours. */
enum wr_serving wr_health_names_serving(struct wr_str service, bool is_serving);

/* Of all. */
void wr_health_names_rows(bool is_serving, struct wr_health_row out_rows[WR_HEALTH_NAMES]);

#endif
