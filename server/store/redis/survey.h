/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows where the slots of a cluster are: asks one node after another for the map, every few
 * seconds, and soon after somebody had a reason to doubt it.
 *
 * Invariant: one query at a time, and not more than some a second, whatever happens. A map stays
 * until a node gives another.
 * Threads: the loop's thread; init by the owner while the loop does not run.
 */
#ifndef WR_STORE_REDIS_SURVEY_H
#define WR_STORE_REDIS_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/pauses.h"
#include "store/redis/nodes.h"
#include "store/redis/request.h"
#include "store/redis/slots.h"
#include "store/redis/timers.h"

struct wr_redis_loop;
struct wr_redis_target;

/* There is a map: slot s belongs to owners[slots->owner[s]], which may be NULL. */
typedef void (*wr_redis_map_fn)(void *context, const struct wr_redis_slots *slots,
                                struct wr_redis_node *const *owners);

struct wr_redis_survey_options {
    struct wr_redis_loop *loop;           /* borrowed, as the next two */
    struct wr_redis_nodes *nodes;         /* to ask; those on the map are made */
    const struct wr_redis_target *target; /* whose addresses are asked when no node is there */
    bool has_tls;
    wr_redis_map_fn on_map;
    void *context;
};

struct wr_redis_survey {
    struct wr_redis_survey_options options;
    bool is_open;
    bool has_map;    /* else nothing is known about the cluster */
    bool has_failed; /* the last attempt to learn more */
    /* its own */
    size_t n_covered;            /* slots that have an owner */
    struct wr_redis_timer timer; /* of the next query */
    struct wr_redis_request query;
    bool is_querying;
    bool is_due_soon; /* something has changed since the query was sent */
    bool asks_slots;  /* CLUSTER SLOTS is asked, not SHARDS */
    int64_t asked_us; /* when the last query was sent */
    struct wr_pauses pauses;
    struct wr_log_limit log;
    struct wr_redis_slots slots; /* to read into */
};

/* It stays at its address. */
void wr_redis_survey_init(struct wr_redis_survey *survey,
                          const struct wr_redis_survey_options *options);

void wr_redis_survey_open(struct wr_redis_survey *survey);

/* Asks no more. Before the links of the nodes are closed. */
void wr_redis_survey_close(struct wr_redis_survey *survey);

/* The map may be out of date: it is asked for once, however many say so. */
void wr_redis_survey_hurry(struct wr_redis_survey *survey);

#endif
