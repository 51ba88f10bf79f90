/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"

struct wr_fake_transport {
    struct wr_metrics_block *metrics; /* borrowed */
    size_t n_calls;
    pthread_mutex_t mutex;
    pthread_cond_t is_woken;
    /* guarded by mutex */
    struct wr_fake_call *first, *last;
};

struct wr_fake_transport *wr_fake_transport_new(struct wr_metrics *metrics)
{
    struct wr_fake_transport *const transport = calloc(1, sizeof *transport);
    pthread_condattr_t monotonic;

    WR_ASSERT(transport != NULL);
    transport->metrics = wr_metrics_block_new(metrics);
    WR_ASSERT(transport->metrics != NULL);
    WR_ASSERT(pthread_mutex_init(&transport->mutex, NULL) == 0);
    WR_ASSERT(pthread_condattr_init(&monotonic) == 0);
    WR_ASSERT(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    WR_ASSERT(pthread_cond_init(&transport->is_woken, &monotonic) == 0);
    WR_ASSERT(pthread_condattr_destroy(&monotonic) == 0);
    return transport;
}

void wr_fake_transport_destroy(struct wr_fake_transport *transport)
{
    WR_ASSERT(transport->n_calls == 0 && transport->first == NULL);
    WR_ASSERT(pthread_cond_destroy(&transport->is_woken) == 0);
    WR_ASSERT(pthread_mutex_destroy(&transport->mutex) == 0);
    free(transport);
}

static struct wr_fake_call *call_of(struct wr_call *call)
{
    return (struct wr_fake_call *) call;
}

static bool is_open(const struct wr_fake_call *call)
{
    return !call->is_finished && call->n_closes == 0;
}

static struct wr_str keep(struct wr_str text)
{
    char *const copy = malloc(text.len + 1);

    WR_ASSERT(copy != NULL);
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    return (struct wr_str){.ptr = copy, .len = text.len};
}

static void forget(struct wr_str kept)
{
    union {
        const char *text;
        void *memory;
    } at = {.text = kept.ptr};

    free(at.memory);
}

static void add_reply(struct wr_fake_call *call, struct wr_str message)
{
    call->replies = realloc(call->replies, (call->n_replies + 1) * sizeof *call->replies);
    WR_ASSERT(call->replies != NULL);
    call->replies[call->n_replies] = keep(message);
    call->n_replies++;
}

static void reply(struct wr_call *base, struct wr_str message)
{
    struct wr_fake_call *const call = call_of(base);

    if (call->n_closes > 0) {
        return;
    }
    WR_ASSERT(!call->is_finished && call->method->kind == WR_METHOD_UNARY);
    add_reply(call, message);
    call->is_finished = true;
}

static void send_message(struct wr_call *base, struct wr_str message)
{
    struct wr_fake_call *const call = call_of(base);

    if (call->n_closes > 0) {
        return;
    }
    WR_ASSERT(!call->is_finished && call->method->kind == WR_METHOD_STREAM);
    add_reply(call, message);
}

static void finish(struct wr_call *base, enum wr_status status, struct wr_str message,
                   struct wr_str details)
{
    struct wr_fake_call *const call = call_of(base);

    if (call->n_closes > 0) {
        return;
    }
    WR_ASSERT(!call->is_finished);
    call->is_finished = true;
    call->status = status;
    call->message = keep(message);
    call->details = keep(details);
}

static void await(struct wr_call *base)
{
    call_of(base)->n_awaits++;
}

static void wake(struct wr_call *base)
{
    struct wr_fake_call *const call = call_of(base);
    struct wr_fake_transport *const transport = call->transport;

    WR_ASSERT(pthread_mutex_lock(&transport->mutex) == 0);
    call->n_woken++;
    if (!call->is_queued) {
        call->is_queued = true;
        call->next_queued = NULL;
        if (transport->last == NULL) {
            transport->first = call;
        } else {
            transport->last->next_queued = call;
        }
        transport->last = call;
    }
    WR_ASSERT(pthread_cond_signal(&transport->is_woken) == 0);
    WR_ASSERT(pthread_mutex_unlock(&transport->mutex) == 0);
}

static struct wr_str peer(struct wr_call *base)
{
    (void) base;
    return (struct wr_str) WR_STR("fake");
}

static const struct wr_call_ops fake_ops = {
    .reply = reply,
    .send = send_message,
    .finish = finish,
    .await = await,
    .wake = wake,
    .peer = peer,
};

/* Takes the first queued call off, with the number of its wakes; NULL when there is none. */
static struct wr_fake_call *take_queued(struct wr_fake_transport *transport, size_t *out_n)
{
    WR_ASSERT(pthread_mutex_lock(&transport->mutex) == 0);

    struct wr_fake_call *const call = transport->first;

    if (call != NULL) {
        transport->first = call->next_queued;
        if (transport->first == NULL) {
            transport->last = NULL;
        }
        call->is_queued = false;
        *out_n = call->n_woken;
        call->n_woken = 0;
    }
    WR_ASSERT(pthread_mutex_unlock(&transport->mutex) == 0);
    return call;
}

static void close_call(struct wr_fake_call *call, bool is_cancelled)
{
    call->n_closes++;
    call->was_cancelled = is_cancelled;
    if (call->had_message && call->method->on_close != NULL) {
        call->method->on_close(call->method->context, &call->base, is_cancelled);
    }
}

/* After the method had its turn. */
static void settle(struct wr_fake_call *call)
{
    const bool is_waiting = call->n_awaits > call->n_wakes;

    WR_ASSERT(!is_open(call) || is_waiting || call->method->kind == WR_METHOD_STREAM);
    if (call->is_finished && call->n_closes == 0) {
        close_call(call, false);
    }
}

size_t wr_fake_transport_run(struct wr_fake_transport *transport)
{
    size_t n_delivered = 0, n = 0;

    for (;;) {
        struct wr_fake_call *const call = take_queued(transport, &n);

        if (call == NULL) {
            return n_delivered;
        }
        for (size_t i = 0; i < n; i++) {
            WR_ASSERT(call->n_wakes < call->n_awaits);
            call->n_wakes++;
            n_delivered++;
            call->method->on_wake(call->method->context, &call->base);
            settle(call);
        }
    }
}

bool wr_fake_transport_wait(struct wr_fake_transport *transport, int timeout_ms)
{
    struct timespec until = {0};
    int error = 0;

    WR_ASSERT(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long) (timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    WR_ASSERT(pthread_mutex_lock(&transport->mutex) == 0);
    while (transport->first == NULL && error != ETIMEDOUT) {
        error = pthread_cond_timedwait(&transport->is_woken, &transport->mutex, &until);
    }

    const bool is_there = transport->first != NULL;

    WR_ASSERT(pthread_mutex_unlock(&transport->mutex) == 0);
    return is_there;
}

struct wr_fake_call *wr_fake_call_new(struct wr_fake_transport *transport,
                                      const struct wr_method *method, int64_t deadline_mono_us)
{
    struct wr_fake_call *const call = calloc(1, sizeof *call);

    WR_ASSERT(call != NULL);
    transport->n_calls++;
    wr_arena_init(&call->arena, 1024);
    call->method = method;
    call->transport = transport;
    call->base = (struct wr_call){
        .ops = &fake_ops,
        .arena = &call->arena,
        .metrics = transport->metrics,
        .deadline_mono_us = deadline_mono_us,
    };
    return call;
}

static void deliver(struct wr_fake_call *call, struct wr_str message)
{
    if (!is_open(call) || call->is_half_closed) {
        return;
    }
    WR_ASSERT(!call->had_message || call->method->kind == WR_METHOD_STREAM);
    call->had_message = true;
    call->is_half_closed = message.ptr == NULL;
    call->method->on_message(call->method->context, &call->base, message);
    settle(call);
}

void wr_fake_call_message(struct wr_fake_call *call, struct wr_str message)
{
    WR_ASSERT(message.ptr != NULL);
    deliver(call, message);
}

void wr_fake_call_half_close(struct wr_fake_call *call)
{
    deliver(call, (struct wr_str){0});
}

void wr_fake_call_cancel(struct wr_fake_call *call)
{
    if (call->n_closes == 0) {
        close_call(call, true);
    }
}

bool wr_fake_call_is_over(const struct wr_fake_call *call)
{
    return call->n_closes == 1 && call->n_awaits == call->n_wakes;
}

void wr_fake_call_free(struct wr_fake_call *call)
{
    WR_ASSERT(wr_fake_call_is_over(call));
    call->transport->n_calls--;
    for (size_t i = 0; i < call->n_replies; i++) {
        forget(call->replies[i]);
    }
    free(call->replies);
    forget(call->message);
    forget(call->details);
    wr_arena_fini(&call->arena);
    free(call);
}
