/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis cluster of a test's own: three primaries on free ports of 127.0.0.1, each with a third of
 * the slots.
 *
 * Threads: owner thread only, which must outlive the servers.
 */
#ifndef WR_TESTS_SUPPORT_REDIS_CLUSTER_H
#define WR_TESTS_SUPPORT_REDIS_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/redis_server.h"

#define WR_REDIS_CLUSTER_NODES 3

struct wr_redis_test_cluster {
    struct wr_redis_server servers[WR_REDIS_CLUSTER_NODES];
    uint16_t ports[WR_REDIS_CLUSTER_NODES];
};

/* Starts the servers and waits until each of them sees all slots served. False, with a line on
 * stderr, when that is not so within some seconds. */
bool wr_redis_cluster_start(struct wr_redis_test_cluster *cluster);

/* Ends them at once. */
void wr_redis_cluster_stop(struct wr_redis_test_cluster *cluster);

#endif
