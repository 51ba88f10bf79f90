/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.health.v1.Health: the state of this server, asked under one of its names
 * (rpc/health_names.h) by Check and List, followed by Watch (rpc/health_watchers.h).
 *
 * Invariant: once draining the state stays NOT_SERVING.
 * Threads: set, drain and finish_watchers from any thread; calls on their owner threads.
 */
#ifndef WR_RPC_HEALTH_H
#define WR_RPC_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "rpc/method.h"

/* Rows that wr_health_methods writes. */
#define WR_HEALTH_METHODS 3

struct wr_health;

/* Not serving at first. At most `max_watchers` follow at once, further ones are answered
 * RESOURCE_EXHAUSTED. NULL when memory is out. */
struct wr_health *wr_health_new(size_t max_watchers);

/* No call may be left. */
void wr_health_destroy(struct wr_health *health);

/* Check, List and Watch, borrowed from `health`. */
void wr_health_methods(struct wr_health *health, struct wr_method out_methods[WR_HEALTH_METHODS]);

/* Ignored once draining. */
void wr_health_set(struct wr_health *health, bool is_serving);

bool wr_health_is_serving(struct wr_health *health);

/* NOT_SERVING from now on. */
void wr_health_drain(struct wr_health *health);

/* Ends every Watch, those that come later too, so that their connections can close. */
void wr_health_finish_watchers(struct wr_health *health);

#endif
