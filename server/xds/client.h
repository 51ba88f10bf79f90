/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that keeps the rules in force as a control plane sends them, by a stream of the
 * discovery protocol. While nobody is there the rules in force stay, and attempts become rarer.
 *
 * Threads: new, start, stop and destroy by the owner; on_rules runs on the thread.
 */
#ifndef WR_XDS_CLIENT_H
#define WR_XDS_CLIENT_H

#include "base/err.h"
#include "base/pauses.h"
#include "metrics/metrics.h"
#include "rules/current.h"
#include "rules/load.h"
#include "wire/discovery.h"
#include "xds/stream.h"

struct wr_xds_client;

/* All that it points to is borrowed while the client lives. */
struct wr_xds_client_options {
    struct wr_xds_stream_options stream;
    struct wr_discovery_node node;
    struct wr_pauses pauses;            /* between two attempts */
    const struct wr_load_options *load; /* bounds and switches; its paths mean nothing */
    struct wr_current_rules *current;   /* where rules are published */
    struct wr_metrics *metrics;
    void (*on_rules)(void *context); /* called behind each publication; may be NULL */
    void *context;                   /* of on_rules */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. */
WR_MUST_USE enum wr_err wr_xds_client_new(const struct wr_xds_client_options *options,
                                          struct wr_xds_client **out_client);

WR_MUST_USE enum wr_err wr_xds_client_start(struct wr_xds_client *client);

/* Joins; what is being taken is taken first. Does nothing unless started. */
void wr_xds_client_stop(struct wr_xds_client *client);

/* Stops too. The rules in force stay. NULL is fine. */
void wr_xds_client_destroy(struct wr_xds_client *client);

#endif
