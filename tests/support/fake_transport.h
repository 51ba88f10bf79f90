/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport without a network: carries calls to the rows of a method table in the test's own
 * thread, in an order that the test decides, and keeps what they answer.
 *
 * It checks what rpc/method.h asks of a method: a unary one answers or awaits, each await is woken
 * once, nothing is sent after the end. The checks are assertions.
 * Threads: owner thread only, but for the wake of a call, which is queued until run.
 */
#ifndef WR_TESTS_SUPPORT_FAKE_TRANSPORT_H
#define WR_TESTS_SUPPORT_FAKE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "metrics/metrics.h"
#include "rpc/method.h"

struct wr_fake_transport;

/* What a call has come to. All texts live as long as the call. */
struct wr_fake_call {
    struct wr_call base; /* first */
    const struct wr_method *method;
    struct wr_fake_transport *transport;
    struct wr_arena arena;
    struct wr_str *replies; /* of reply and send, in order */
    size_t n_replies;
    bool is_finished; /* by reply or finish */
    enum wr_status status;
    struct wr_str message, details; /* of finish */
    size_t n_awaits, n_wakes;       /* so far; wakes as delivered */
    size_t n_closes;
    bool was_cancelled; /* as on_close was told */
    bool had_message;
    bool is_half_closed;
    /* guarded by the transport's lock */
    size_t n_woken; /* queued */
    bool is_queued;
    struct wr_fake_call *next_queued;
};

/* `metrics` is borrowed. */
struct wr_fake_transport *wr_fake_transport_new(struct wr_metrics *metrics);

/* All calls must have been freed. */
void wr_fake_transport_destroy(struct wr_fake_transport *transport);

/* Delivers the queued wakes, and those that they cause, and says how many. */
size_t wr_fake_transport_run(struct wr_fake_transport *transport);

/* Waits until a wake is queued; false when none came within `timeout_ms`. */
bool wr_fake_transport_wait(struct wr_fake_transport *transport, int timeout_ms);

/* A call of `method` that no message has come for yet. */
struct wr_fake_call *wr_fake_call_new(struct wr_fake_transport *transport,
                                      const struct wr_method *method, int64_t deadline_mono_us);

/* A message; a stream takes several. Ignored after the end, as a network would. */
void wr_fake_call_message(struct wr_fake_call *call, struct wr_str message);

/* The caller's end of what it sends: a message with ptr NULL. */
void wr_fake_call_half_close(struct wr_fake_call *call);

/* The caller leaves, in whatever state the call is. */
void wr_fake_call_cancel(struct wr_fake_call *call);

/* True when on_close has run (or was not due) and each await was woken. */
bool wr_fake_call_is_over(const struct wr_fake_call *call);

/* The call must be over. */
void wr_fake_call_free(struct wr_fake_call *call);

#endif
