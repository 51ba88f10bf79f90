/* SPDX-License-Identifier: Apache-2.0 */
#include "drain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "rpc/acceptor.h"
#include "rpc/grpc/server.h"
#include "rpc/health.h"
#include "rpc/listen.h"

/* How often a drain looks whether it is over. */
#define TICK_US 50000
/* No call for so long: those who are connected have gone elsewhere. */
#define QUIET_US 1000000
/* The least that calls under way get in C core's shutdown. */
#define LEAST_GRACE_US 1000000
/* Those that are cut short then are told so before the connections are reset. */
#define LAST_WORDS_US 200000

static void wait_us(int64_t us)
{
    struct timespec left = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    while (nanosleep(&left, &left) != 0) {
        continue;
    }
}

/* Whether age alone, its jitter of a tenth included, makes every connection leave in time. */
static bool age_suffices(const struct wr_drain *drain)
{
    return drain->max_connection_age_us > 0 &&
           drain->max_connection_age_us + drain->max_connection_age_us / 10 < drain->timeout_us;
}

/* C core's shutdown cancels what arrives after it. Until then each connection is told to go when
 * its age has come, and is gone when its caller has gone; where age is no help the callers that
 * follow health have stopped to call, and a silence shows that they are all. */
static void serve_on(const struct wr_drain *drain, int64_t end_us)
{
    const bool waits_for_all = age_suffices(drain);
    int64_t now_us = wr_clock_mono_us(), last_call_us = now_us;
    uint64_t n_calls = wr_metrics_sum(drain->metrics, WR_METRIC_CALLS);

    while (now_us < end_us && (waits_for_all || now_us - last_call_us < QUIET_US) &&
           wr_acceptor_count(drain->acceptor) > 0) {
        wait_us(TICK_US);
        now_us = wr_clock_mono_us();

        const uint64_t n_now = wr_metrics_sum(drain->metrics, WR_METRIC_CALLS);

        if (n_now != n_calls) {
            n_calls = n_now;
            last_call_us = now_us;
        }
    }
}

void wr_drain_run(const struct wr_drain *drain)
{
    wr_health_drain(drain->health);
    wait_us(drain->delay_us);

    const int64_t end_us = wr_clock_mono_us() + drain->timeout_us;

    /* A client that never pauses keeps a thread of ours or of C core's until it is cut off. */
    wr_acceptor_close_at(drain->acceptor, end_us + LEAST_GRACE_US + LAST_WORDS_US);
    wr_acceptor_stop(drain->acceptor);
    wr_listen_close(*drain->listen);
    *drain->listen = NULL;
    wr_health_finish_watchers(drain->health);
    wr_log(WR_LOG_INFO, "listening sockets closed, %zu connections open",
           wr_acceptor_count(drain->acceptor));
    serve_on(drain, end_us);
    wr_log(WR_LOG_INFO, "shutting down, %zu connections open", wr_acceptor_count(drain->acceptor));

    const int64_t left_us = end_us - wr_clock_mono_us();

    wr_grpc_server_stop(drain->server, left_us < LEAST_GRACE_US ? LEAST_GRACE_US : left_us);
}
