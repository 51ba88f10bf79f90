/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load on a server, and what it came to. Closed: each of connections × in flight asks again when
 * it has its answer. Open: checks begin at times that a rate fixes beforehand, whatever the server
 * does; latency counts from that time, so that a server that stalls cannot hide the checks it held
 * up (no coordinated omission).
 *
 * Each check has its timeout, from when its latency counts. One without an answer is in the
 * latencies with the time that it had waited by then, as a lower bound; in the open loop also one
 * that was due and could not be sent.
 *
 * Threads: owner thread only; it is one thread altogether.
 */
#ifndef WEIRCTL_BENCH_LOAD_H
#define WEIRCTL_BENCH_LOAD_H

#include "body.h"
#include "histogram.h"

/* What has happened so far. admitted + refused + failed = sent once it is over. */
struct weirctl_load_report {
    uint64_t sent;
    uint64_t unsent; /* open loop: all in flight was taken until their time was up */
    uint64_t admitted;
    uint64_t refused;
    uint64_t failed;
    uint64_t elapsed_ns; /* from the first check to the last answer, or the end of its wait */
    struct weirctl_histogram latency_ns; /* of sent and unsent, all */
    struct weir_error complaint;         /* the first failure; WEIR_OK: none */
};

typedef void (*weirctl_progress_fn)(void *arg, const struct weirctl_load_report *report);

struct weirctl_load_plan {
    const char *target;
    const struct weirctl_body *body; /* borrowed */
    uint32_t keys;                   /* they take turns */
    uint32_t connections;
    uint32_t in_flight; /* of each */
    uint32_t rate;      /* a second, of all; 0: closed loop */
    uint64_t requests;  /* ends after so many; 0: by time alone */
    uint64_t duration_ns;
    uint32_t timeout_ms;             /* for connecting, and for each check */
    weirctl_progress_fn on_progress; /* several times a second; NULL: none */
    void *arg;
};

/* WEIR_OK: it ran, whatever was answered. Else it never began, as `error` says: WEIR_ERR_CONNECT,
 * WEIR_ERR_MEMORY; `report` is not to be used. */
WEIR_MUST_USE enum weir_err weirctl_load_run(const struct weirctl_load_plan *plan,
                                             struct weirctl_load_report *report,
                                             struct weir_error *error);

#endif
