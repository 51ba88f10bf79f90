/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server counts: one table of metrics with their help texts, one block of counters a
 * thread, summed when somebody looks.
 *
 * Invariant: a block has one writer, its thread; a sum never goes back.
 * Threads: blocks are given out and sums taken by any thread; a block is written by its owner only.
 */
#ifndef WR_METRICS_METRICS_H
#define WR_METRICS_METRICS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

/* Every metric here is a counter: it begins at 0 and only grows. */
#define WR_METRICS_TABLE(X)                                                                        \
    X(WR_METRIC_CALLS, "calls_total", "Rate-limit calls that arrived.")                            \
    X(WR_METRIC_CALLS_OK, "calls_ok_total", "Calls answered OK.")                                  \
    X(WR_METRIC_CALLS_OVER, "calls_over_limit_total", "Calls answered OVER_LIMIT.")                \
    X(WR_METRIC_CALLS_INVALID, "calls_invalid_total",                                              \
      "Calls refused as INVALID_ARGUMENT: malformed, incomplete or a bad override.")               \
    X(WR_METRIC_CALLS_TOO_LARGE, "calls_too_large_total",                                          \
      "Calls refused as RESOURCE_EXHAUSTED: too many descriptors, entries or limits met, or too "  \
      "large once unpacked. What the transport refuses by its size alone is not seen.")            \
    X(WR_METRIC_CALLS_NO_RULES, "calls_no_rules_total",                                            \
      "Calls answered UNAVAILABLE because no rules were loaded yet.")                              \
    X(WR_METRIC_CALLS_FAILED, "calls_failed_total",                                                \
      "Calls answered UNAVAILABLE because the store gave no answer (failure mode error).")         \
    X(WR_METRIC_CALLS_NO_MEMORY, "calls_no_memory_total",                                          \
      "Calls that failed because memory ran out.")                                                 \
    X(WR_METRIC_CALLS_LATE, "calls_late_total",                                                    \
      "Calls dropped: their deadline had passed on arrival. Rules with `count: all` are charged "  \
      "all the same, others not.")                                                                 \
    X(WR_METRIC_CALLS_CANCELLED, "calls_cancelled_total",                                          \
      "Calls whose caller left before the answer; a charge handed to the store stays.")            \
    X(WR_METRIC_CALLS_UNIMPLEMENTED, "calls_unimplemented_total",                                  \
      "Calls of a method that is not served.")                                                     \
    X(WR_METRIC_CALLS_UNREAD, "calls_unread_total",                                                \
      "Calls given up because too many answers, of which theirs was the oldest, were not read.")   \
    X(WR_METRIC_DOMAIN_NOT_FOUND, "domain_not_found_total",                                        \
      "Calls for a domain that has no rules.")                                                     \
    X(WR_METRIC_DESCRIPTORS, "descriptors_total", "Descriptors looked at.")                        \
    X(WR_METRIC_DESCRIPTORS_LIMITED, "descriptors_limited_total",                                  \
      "Descriptors that a limit applied to.")                                                      \
    X(WR_METRIC_DESCRIPTORS_OVER, "descriptors_over_limit_total",                                  \
      "Descriptors over their limit, shadow and quota rules included.")                            \
    X(WR_METRIC_DESCRIPTORS_BOOKED_LATE, "descriptors_booked_late_total",                          \
      "Descriptors of calls that came too late, booked because of `count: all`.")                  \
    X(WR_METRIC_DESCRIPTORS_CACHED, "over_limit_with_local_cache_total",                           \
      "Descriptors over their limit that the over-limit cache answered.")                          \
    X(WR_METRIC_SHADOW_OVER, "shadow_over_limit_total",                                            \
      "Descriptors over a limit in shadow mode: let through.")                                     \
    X(WR_METRIC_GLOBAL_SHADOW, "global_shadow_total",                                              \
      "Calls over a limit that were let through by the server-wide shadow mode.")                  \
    X(WR_METRIC_FAILURE_ERROR, "failure_mode_error_total",                                         \
      "Descriptors without an answer of the store, decided by failure mode error.")                \
    X(WR_METRIC_FAILURE_ALLOW, "failure_mode_allow_total",                                         \
      "Descriptors without an answer of the store, let through by failure mode allow.")            \
    X(WR_METRIC_FAILURE_DENY, "failure_mode_deny_total",                                           \
      "Descriptors without an answer of the store, refused by failure mode deny.")                 \
    X(WR_METRIC_FAILURE_LOCAL, "failure_mode_local_total",                                         \
      "Descriptors without an answer of the store, counted in memory by failure mode local.")      \
    X(WR_METRIC_STORE_FULL, "store_full_total",                                                    \
      "Takes of a new counter that found --max-counters live ones.")                               \
    X(WR_METRIC_STORE_TIMEOUT, "store_timeout_total",                                              \
      "Takes that the store did not answer in time.")                                              \
    X(WR_METRIC_STORE_NO_MEMORY, "store_no_memory_total",                                          \
      "Takes that found no memory for a new counter.")                                             \
    X(WR_METRIC_STORE_AWAY, "store_away_total",                                                    \
      "Takes that found no store, or one that refuses to work: nothing was charged.")              \
    X(WR_METRIC_STORE_ERRORS, "store_errors_total",                                                \
      "Takes that the store answered with an error; whether they were charged is not known.")      \
    X(WR_METRIC_STORE_LATE, "store_late_total",                                                    \
      "Takes that reached the store after their time was over: nothing was charged.")              \
    X(WR_METRIC_STORE_LOST, "store_lost_total",                                                    \
      "Takes whose connection was lost while their answer was awaited; whether they were charged " \
      "is not known, and they are not repeated. Counted as timeouts too.")                         \
    X(WR_METRIC_STORE_FOREIGN, "store_foreign_total",                                              \
      "Takes whose key in the store holds something else.")                                        \
    X(WR_METRIC_STORE_APART, "store_apart_total",                                                  \
      "Takes whose key lies in another slot than those that they stand or fall with: each part "   \
      "is judged by itself.")                                                                      \
    X(WR_METRIC_STORE_REPAIRED, "store_repaired_total",                                            \
      "Counters in the store that had lost their expiry, and were given one.")                     \
    X(WR_METRIC_REDIS_CONNECTS, "redis_connects_total", "Connections to Redis that came up.")      \
    X(WR_METRIC_REDIS_CONNECT_FAILURES, "redis_connect_failures_total",                            \
      "Attempts to connect to Redis that failed.")                                                 \
    X(WR_METRIC_REDIS_CONNECTIONS_LOST, "redis_connections_lost_total",                            \
      "Connections to Redis that were lost, or given up because it is silent or a replica.")       \
    X(WR_METRIC_REDIS_BREAKER_OPENS, "redis_breaker_opens_total",                                  \
      "Times requests were held off a Redis that did not answer or was not ready.")                \
    X(WR_METRIC_REDIS_SCRIPT_LOADS, "redis_script_reloads_total",                                  \
      "Requests repeated because Redis had forgotten the script.")                                 \
    X(WR_METRIC_REDIS_PRIMARY_CHANGES, "redis_primary_changes_total",                              \
      "Times that sentinels named another primary.")                                               \
    X(WR_METRIC_REDIS_REDIRECTS, "redis_redirects_total",                                          \
      "Requests that a node of the cluster sent elsewhere.")                                       \
    X(WR_METRIC_REDIS_TLS_LOADS, "redis_tls_reload_success_total",                                 \
      "Changes of certificate files for Redis that came into use.")                                \
    X(WR_METRIC_REDIS_TLS_LOAD_ERRORS, "redis_tls_reload_error_total",                             \
      "Changes of certificate files for Redis that were no good: those read before stayed.")       \
    X(WR_METRIC_STORE_RESTARTS, "store_window_restarts_total",                                     \
      "Counters dropped because the clock was set back by over an hour.")                          \
    X(WR_METRIC_STORE_CONTENDED, "store_stripe_contended_total",                                   \
      "Stripe locks that were held by another thread.")                                            \
    X(WR_METRIC_STORE_SWEPT, "store_swept_total", "Expired counters removed by the sweep.")        \
    X(WR_METRIC_CLOCK_STEPS_BACK, "clock_steps_back_total",                                        \
      "Steps back of the system's clock by up to an hour: waited out.")                            \
    X(WR_METRIC_CLOCK_STEPS_TAKEN, "clock_steps_taken_total",                                      \
      "Steps back of the system's clock by over an hour: taken over.")                             \
    X(WR_METRIC_CONNECTIONS, "connections_total", "Connections accepted.")                         \
    X(WR_METRIC_CONNECTIONS_REFUSED, "connections_refused_total",                                  \
      "Times accepting paused at the connection cap.")                                             \
    X(WR_METRIC_ACCEPT_PAUSES, "accept_pauses_total",                                              \
      "Times accepting paused because file descriptors or memory ran out.")                        \
    X(WR_METRIC_CONNECTIONS_HTTP1, "connections_http1_total",                                      \
      "Connections closed because the client speaks HTTP/1.")                                      \
    X(WR_METRIC_CONNECTIONS_TLS, "connections_tls_total",                                          \
      "Connections closed because the client speaks TLS.")                                         \
    X(WR_METRIC_CONNECTIONS_OTHER, "connections_other_total",                                      \
      "Connections closed because the client speaks neither HTTP nor TLS.")                        \
    X(WR_METRIC_CONNECTIONS_SILENT, "connections_silent_total",                                    \
      "Connections closed because the client said too little within --handshake-timeout.")         \
    X(WR_METRIC_CONNECTIONS_MEMORY, "connections_closed_for_memory_total",                         \
      "Connections cut off because --max-memory-bytes was passed and they finish no calls.")       \
    X(WR_METRIC_CONNECTIONS_FLOOD, "connections_closed_for_flood_total",                           \
      "Connections cut off because the client sent without a pause and waited for no answer.")     \
    X(WR_METRIC_HEALTH_CALLS, "health_calls_total", "Calls of the health service.")                \
    X(WR_METRIC_REFLECTION_CALLS, "reflection_calls_total", "Streams of the reflection service.")  \
    X(WR_METRIC_XDS_STREAMS, "xds_streams_total", "Streams to the control plane that were tried.") \
    X(WR_METRIC_XDS_STREAM_ERRORS, "xds_stream_errors_total",                                      \
      "Streams to the control plane that could not be opened, or ended.")                          \
    X(WR_METRIC_XDS_RESPONSES, "xds_responses_total",                                              \
      "Answers of the control plane, those that changed nothing included.")                        \
    X(WR_METRIC_CONFIG_LOADS, "config_load_success_total", "Rule loads that came into force.")     \
    X(WR_METRIC_CONFIG_ERRORS, "config_load_error_total",                                          \
      "Rule loads in which a file or resource was refused.")

enum wr_metric {
#define WR_METRICS_ENUM(id, name, help) id,
    WR_METRICS_TABLE(WR_METRICS_ENUM)
#undef WR_METRICS_ENUM
        WR_METRICS_COUNT,
};

struct wr_metrics;

/* The counters of one thread, on cache lines of their own. */
struct wr_metrics_block {
    alignas(64) _Atomic uint64_t counts[WR_METRICS_COUNT]; /* written by the owner thread alone */
    struct wr_metrics_block *next;                         /* guarded by the lock of the metrics */
    uint32_t number; /* among the blocks of the metrics, from 0 in the order that they were made */
};

/* NULL when memory is out. */
struct wr_metrics *wr_metrics_new(void);

/* Frees the blocks too. */
void wr_metrics_destroy(struct wr_metrics *metrics);

/* A new block, of the metrics, for the calling thread's use. NULL when memory is out. */
struct wr_metrics_block *wr_metrics_block_new(struct wr_metrics *metrics);

/* Adds `count`, which somebody else keeps, to the sums of `metric`. It must outlive the metrics. */
void wr_metrics_bind(struct wr_metrics *metrics, enum wr_metric metric,
                     const _Atomic uint64_t *count);

/* The sum over all blocks, and what is bound to it. */
uint64_t wr_metrics_sum(struct wr_metrics *metrics, enum wr_metric metric);

const char *wr_metric_name(enum wr_metric metric);

const char *wr_metric_help(enum wr_metric metric);

/* Adds `n`. Owner thread only: a plain add, seen by readers at some later moment. */
static inline void wr_metrics_add(struct wr_metrics_block *block, enum wr_metric metric, uint64_t n)
{
    const uint64_t before = atomic_load_explicit(&block->counts[metric], memory_order_relaxed);

    atomic_store_explicit(&block->counts[metric], before + n, memory_order_relaxed);
}

#endif
