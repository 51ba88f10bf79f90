/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers that follow health, each in a Watch that lasts: what they are told, when they are
 * woken, how they leave. What health is, is asked of the owner.
 *
 * Invariant: a watcher is told the state at once and each later one that it still finds when its
 * turn comes; none is missed for good. An open watcher is woken at most once between two turns.
 * Threads: changed and finish from any thread; what takes a call, on its owner thread.
 */
#ifndef WR_RPC_HEALTH_WATCHERS_H
#define WR_RPC_HEALTH_WATCHERS_H

#include <stddef.h>

#include "base/str.h"
#include "rpc/method.h"
#include "wire/health.h"

/* What a service says now; from any thread, under no lock of the watchers. A change must show here
 * before wr_health_watchers_changed tells of it. */
typedef enum wr_serving wr_health_serving_fn(void *context, struct wr_str service);

struct wr_health_watchers;

/* At most `max_watchers` at once. `context` is borrowed. NULL when memory is out. */
struct wr_health_watchers *wr_health_watchers_new(size_t max_watchers,
                                                  wr_health_serving_fn *serving, void *context);

/* No watcher may be left. */
void wr_health_watchers_destroy(struct wr_health_watchers *watchers);

/* The call's state becomes the watcher, and its first turn is taken. `service` lives as long as the
 * call. With the bound reached, or no memory, the call is answered RESOURCE_EXHAUSTED. */
void wr_health_watchers_add(struct wr_health_watchers *watchers, struct wr_call *call,
                            struct wr_str service);

/* The turn of a watcher that was woken. */
void wr_health_watchers_turn(struct wr_health_watchers *watchers, struct wr_call *call);

/* The call is over; one that never became a watcher, too. */
void wr_health_watchers_leave(struct wr_health_watchers *watchers, struct wr_call *call);

/* Some service may say something else from now on. */
void wr_health_watchers_changed(struct wr_health_watchers *watchers);

/* Ends all, those that come later too: told the state once more if it is new, then UNAVAILABLE. */
void wr_health_watchers_finish(struct wr_health_watchers *watchers);

#endif
