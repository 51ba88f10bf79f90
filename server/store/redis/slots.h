/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the slots of a cluster are, as its nodes tell it: whole maps (CLUSTER SHARDS, CLUSTER
 * SLOTS) and single redirections (MOVED, ASK).
 *
 * Threads: pure functions; what they give out points into the reply.
 */
#ifndef WR_STORE_REDIS_SLOTS_H
#define WR_STORE_REDIS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct redisReply;

#define WR_REDIS_SLOTS 16384
/* As many as the specification of the cluster recommends at most. */
#define WR_REDIS_PRIMARIES 1000
/* Endpoint, host name, address. */
#define WR_REDIS_NODE_NAMES 3

/* A node that takes writes. */
struct wr_redis_primary {
    struct wr_str names[WR_REDIS_NODE_NAMES]; /* the first is for connecting; all mean this node */
    size_t n_names;                           /* > 0 */
    uint16_t port;
};

struct wr_redis_slots {
    struct wr_redis_primary primaries[WR_REDIS_PRIMARIES];
    size_t n_primaries;             /* those that own no slot (yet) included */
    uint16_t owner[WR_REDIS_SLOTS]; /* its index + 1; 0: nobody owns the slot */
    size_t n_covered;               /* slots that have an owner */
};

/* Who was asked for a map, and how. */
struct wr_redis_slots_asked {
    struct wr_str host; /* what nodes mean that name none */
    bool has_tls;       /* ports for TLS count, and names of hosts, which certificates are for */
};

/* The map in a reply to CLUSTER SHARDS. False when it is none; `*out_slots` is void then. */
bool wr_redis_slots_read_shards(const struct redisReply *reply,
                                const struct wr_redis_slots_asked *asked,
                                struct wr_redis_slots *out_slots);

/* The same of CLUSTER SLOTS, which knows no primaries without slots. */
bool wr_redis_slots_read_slots(const struct redisReply *reply,
                               const struct wr_redis_slots_asked *asked,
                               struct wr_redis_slots *out_slots);

/* What MOVED and ASK say. */
struct wr_redis_redirect {
    uint16_t slot;
    struct wr_str host; /* empty: that of who says it */
    uint16_t port;
};

/* `error` is the text of the reply. False when it is no redirection, or does not know where to. */
bool wr_redis_redirect_read(struct wr_str error, struct wr_redis_redirect *out_redirect);

#endif
