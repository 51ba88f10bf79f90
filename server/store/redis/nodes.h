/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a cluster that are of interest, each with its link: made when they are first named,
 * dropped some time after nobody named them any more.
 *
 * Invariant: a node stays at its address until it is dropped, and none on the map is.
 * Threads: the loop's thread; init and fini by the owner while the loop does not run.
 */
#ifndef WR_STORE_REDIS_NODES_H
#define WR_STORE_REDIS_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "store/redis/link.h"
#include "store/redis/slots.h"

/* Primaries, and others that were named: seeds, targets of redirections. */
#define WR_REDIS_NODES (2 * WR_REDIS_PRIMARIES)

struct wr_redis_node {
    struct wr_redis_link *link; /* owned */
    char *texts;                /* owned; of the names */
    struct wr_str names[WR_REDIS_NODE_NAMES];
    size_t n_names;
    uint16_t port;
    bool is_on_map;
    int64_t named_us; /* when it was last asked for */
};

struct wr_redis_nodes {
    struct wr_redis_link_options options;        /* of links, but their places */
    struct wr_redis_node *items[WR_REDIS_NODES]; /* owned, and what they point to */
    size_t n;
    size_t next; /* the one to ask */
};

/* Borrows what `options` points to. */
void wr_redis_nodes_init(struct wr_redis_nodes *nodes, const struct wr_redis_link_options *options);

void wr_redis_nodes_fini(struct wr_redis_nodes *nodes);

/* The node with these names; its link is made and opened when it is a new one. NULL: no memory, or
 * too many. */
struct wr_redis_node *wr_redis_nodes_get(struct wr_redis_nodes *nodes,
                                         const struct wr_redis_primary *names);

/* The node with one of its names. */
struct wr_redis_node *wr_redis_nodes_find(struct wr_redis_nodes *nodes, struct wr_str name,
                                          uint16_t port);

/* One that is ready, each time another, those on the map first. NULL: none is. */
struct wr_redis_node *wr_redis_nodes_next(struct wr_redis_nodes *nodes);

/* Whether any, or every node on the map is ready. */
bool wr_redis_nodes_any_ready(const struct wr_redis_nodes *nodes);
bool wr_redis_nodes_all_ready(const struct wr_redis_nodes *nodes);

/* Drops nodes that have not been of interest for long, and await no reply. Not in callbacks of
 * links. */
void wr_redis_nodes_tidy(struct wr_redis_nodes *nodes);

/* Closes all links. */
void wr_redis_nodes_close(struct wr_redis_nodes *nodes);

#endif
