/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a server that callers are connected to: health says NOT_SERVING, everybody is served
 * on for the delay, the listening sockets are closed, those who are connected are served on while
 * they leave, and C core's own shutdown ends what is left.
 *
 * Threads: main only.
 */
#ifndef WR_DRAIN_H
#define WR_DRAIN_H

#include <stdint.h>

struct wr_acceptor;
struct wr_grpc_server;
struct wr_health;
struct wr_listen;
struct wr_metrics;

/* All borrowed. */
struct wr_drain {
    struct wr_health *health;
    struct wr_acceptor *acceptor;
    struct wr_listen **listen; /* closed, and then NULL */
    struct wr_grpc_server *server;
    struct wr_metrics *metrics;
    int64_t delay_us, timeout_us;
    int64_t max_connection_age_us; /* 0: none */
};

/* Returns when no call is left. */
void wr_drain_run(const struct wr_drain *drain);

#endif
