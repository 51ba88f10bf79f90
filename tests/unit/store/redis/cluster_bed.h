/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster of fake nodes, the map that they all show, and a route to them.
 *
 * Threads: the test's thread; what the fakes' threads use is atomic, or guarded by the lock.
 */
#ifndef WR_TESTS_UNIT_STORE_REDIS_CLUSTER_BED_H
#define WR_TESTS_UNIT_STORE_REDIS_CLUSTER_BED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "store/redis/slots.h"
#include "store/redis/target.h"
#include "tests/support/fake_redis.h"
#include "tests/unit/store/redis/route_bed.h"

#define N_NODES 3
#define N_SCRIPT 16
#define MAP_SIZE 1024
#define HALF (WR_REDIS_SLOTS / 2)

/* A server, and what it answers to charges: the script line by line, then a number. */
struct cluster_node {
    struct cluster_bed *bed;
    struct wr_fake_redis *fake;
    uint16_t port;
    char script[N_SCRIPT][128];
    size_t n_script;
    atomic_size_t n_charges, n_asking, n_maps, n_loads;
    atomic_bool is_silent; /* to charges */
};

struct cluster_bed {
    struct route_bed base;
    struct cluster_node nodes[N_NODES];
    pthread_mutex_t lock;
    char shards[MAP_SIZE], slots[MAP_SIZE]; /* guarded by lock: what they answer */
    struct wr_redis_address addresses[N_NODES];
    struct wr_redis_target target;
};

/* Three nodes, of which the first two have the slots. Nothing is sent before open. */
void cluster_bed_make(struct cluster_bed *bed);

void cluster_bed_open(struct cluster_bed *bed);

/* Both, until it is ready: one node of the first map at least has been connected to. */
void cluster_bed_open_whole(struct cluster_bed *bed);

void cluster_bed_end(struct cluster_bed *bed);

void start_node(struct cluster_bed *bed, size_t i);

void stop_node(struct cluster_bed *bed, size_t i);

/* What CLUSTER SHARDS and CLUSTER SLOTS show. */
void set_map(struct cluster_bed *bed, const char *shards, const char *slots);

/* The slots below `border` belong to `low`, up to `end` to `high`; the rest to nobody. */
void set_owners(struct cluster_bed *bed, size_t low, int border, size_t high, int end);

/* One entry of CLUSTER SHARDS, as snprintf. */
int write_shard(char *out, size_t size, int first, int last, const char *host, uint16_t port);

enum wr_redis_end charge_for(struct cluster_bed *bed, uint16_t slot, int64_t for_us);

/* So many charges have come to each node. */
void expect_charges(const struct cluster_bed *bed, size_t n0, size_t n1, size_t n2);

/* `node` answers this to the next charge that it has no answer for. */
#define answer_charge(node, ...)                                                                   \
    (void) snprintf((node)->script[(node)->n_script++], sizeof(node)->script[0], __VA_ARGS__)

#endif
