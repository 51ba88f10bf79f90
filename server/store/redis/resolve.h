/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hosts → addresses, on a thread for each name that is looked up: the system's resolver
 * blocks, for seconds when name servers are away.
 *
 * Nobody waits for such a thread. One that is blocked at the end goes on without a resolver, and
 * frees what is left when it is done.
 * Threads: new and destroy by the owner; look-ups, their ends and cancel on the thread of the
 * look-up's loop, or by the owner after it has stopped.
 */
#ifndef WR_STORE_REDIS_RESOLVE_H
#define WR_STORE_REDIS_RESOLVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

/* Addresses of one name that are tried. */
#define WR_REDIS_ENDPOINTS 8

struct wr_redis_loop;
struct wr_redis_lookup;
struct wr_redis_resolver;

struct wr_redis_endpoint {
    struct sockaddr_storage storage;
    socklen_t len;
};

struct wr_redis_endpoints {
    struct wr_redis_endpoint items[WR_REDIS_ENDPOINTS];
    size_t n;
};

/* `n` is 0 when there is none; `why` then says why, statically. */
typedef void (*wr_redis_resolved_fn)(void *context, const struct wr_redis_endpoints *endpoints,
                                     const char *why);

/* WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_resolver_new(struct wr_redis_resolver **out_resolver);

/* Every look-up has ended or is cancelled; their loops have stopped and are not destroyed yet.
 * Does not block. NULL is fine. */
void wr_redis_resolver_destroy(struct wr_redis_resolver *resolver);

/* An address written out, or a path when `port` is 0: needs no look-up. Returns 0 addresses when it
 * is neither. */
void wr_redis_resolve_numeric(struct wr_str host, uint16_t port,
                              struct wr_redis_endpoints *out_endpoints);

/* Looks `host` up, together with others who ask for it; `done` is called on the loop's thread
 * later, once, unless it is cancelled. NULL when memory is out. */
struct wr_redis_lookup *wr_redis_resolve(struct wr_redis_resolver *resolver,
                                         struct wr_redis_loop *loop, struct wr_str host,
                                         uint16_t port, wr_redis_resolved_fn done, void *context);

/* `done` is not called any more. NULL is fine. */
void wr_redis_lookup_cancel(struct wr_redis_lookup *lookup);

#endif
