/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     PAUSED ── the pause is over ──► STREAM ── it ends, or brings nonsense ──► PAUSED
 *                                     │  ▲
 *                                     └──┘ a response: taken, published, answered when due
 */
#include "xds/client.h"

#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <grpc/grpc.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log_notes.h"
#include "base/random.h"
#include "base/thread.h"
#include "rules/publisher.h"
#include "xds/report.h"
#include "xds/session.h"

#define NICENESS 5
#define MAX_NOTES 20
#define ARENA_SIZE 4096

/* Answers to content that does not change are no rarer than this: a control plane that sends
 * something else only when it has been answered must not wait for long. */
#define REPEAT_PAUSE_MAX_US 10000000

/* A response so long after an answer is none that the answer has brought about at once, unless it
 * was on its way for as long: so many bytes a microsecond come at least. */
#define CALM_US 1000000
#define BYTES_A_US 8

/* Workers have renewed their views by then. */
#define LET_GO_US 1000000

/* What a response of this size leaves free among what stays in use is many times its size, and goes
 * back to the system; giving back what smaller ones leave is not worth the time. */
#define LARGE_RESPONSE (1 << 20)

struct wr_xds_client {
    struct wr_xds_client_options options;
    struct wr_xds_session session;
    struct wr_publisher publisher;
    struct wr_metrics_block *metrics; /* borrowed; of the thread */
    struct wr_pauses pauses;
    struct wr_arena arena; /* of the answer */
    uint64_t random;
    int64_t pause_us;          /* the last */
    int64_t opened_us;         /* the stream */
    bool has_response;         /* came on the stream, the last to be taken */
    struct wr_str answer;      /* to be sent at due_us, in the arena; empty: none */
    int64_t due_us, let_go_us; /* INT64_MAX: never */
    int64_t answered_us;       /* the last answer */
    bool had_large;            /* a large response, since something was let go */
    struct wr_xds_report report;
    struct wr_thread thread;
    bool is_started;
    int wake_fd; /* owned; an eventfd */
    /* Released by stop, acquired by the thread. */
    _Atomic bool is_stopping;
    struct wr_mutex mutex;
    /* guarded by mutex, and set by the thread alone */
    struct wr_xds_stream *stream; /* owned; NULL: none */
};

static bool is_stopping(struct wr_xds_client *client)
{
    return atomic_load_explicit(&client->is_stopping, memory_order_acquire);
}

static enum wr_err open_session(struct wr_xds_client *client)
{
    struct wr_pauses repeats = client->options.pauses;

    if (repeats.max_us > REPEAT_PAUSE_MAX_US) {
        repeats.max_us = REPEAT_PAUSE_MAX_US;
    }
    if (repeats.min_us > repeats.max_us) {
        repeats.min_us = repeats.max_us;
    }

    const enum wr_err err = wr_xds_session_init(&client->session, &client->options.node,
                                                client->options.load, &repeats);

    memcpy(&client->random, client->session.key.bytes, sizeof client->random);
    client->random |= 1;
    return err;
}

enum wr_err wr_xds_client_new(const struct wr_xds_client_options *options,
                              struct wr_xds_client **out_client)
{
    struct wr_xds_client *const client = calloc(1, sizeof *client);

    if (client == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    client->options = *options;
    client->pauses = options->pauses;
    client->report = (struct wr_xds_report){.target = options->stream.target,
                                            .has_tls = options->stream.tls.is_on};
    client->let_go_us = client->due_us = INT64_MAX;
    client->metrics = wr_metrics_block_new(options->metrics);
    client->publisher = (struct wr_publisher){
        .current = options->current,
        .metrics = client->metrics,
        .doubtful = options->load->doubtful,
        .on_rules = options->on_rules,
        .context = options->context,
    };
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wr_arena_init(&client->arena, ARENA_SIZE);
    wr_mutex_init(&client->mutex, WR_LOCK_XDS);
    grpc_init();

    const enum wr_err err = open_session(client);

    if (err != WR_OK || client->metrics == NULL || client->wake_fd < 0) {
        wr_xds_client_destroy(client);
        return WR_ERR_SYSTEM;
    }
    *out_client = client;
    return WR_OK;
}

static void set_stream(struct wr_xds_client *client, struct wr_xds_stream *stream)
{
    wr_mutex_lock(&client->mutex);
    client->stream = stream;
    wr_mutex_unlock(&client->mutex);
}

/* ---- Responses ---- */

static void use(struct wr_xds_client *client, struct wr_xds_answer *answer)
{
    if (answer->is_repeat) {
        return;
    }
    if (answer->is_refused) {
        wr_metrics_add(client->metrics, WR_METRIC_CONFIG_ERRORS, 1);
    }

    /* The publisher has a reference too. */
    const struct wr_rules *const rules = answer->change.rules;

    if (rules != NULL) {
        wr_publisher_publish(&client->publisher, &answer->change.rules);
        client->let_go_us = wr_clock_mono_us() + LET_GO_US;
    }
    wr_xds_report_change(answer, rules);
}

static void on_first_response(struct wr_xds_client *client)
{
    if (!client->has_response) {
        wr_xds_report_first(&client->report);
    }
    client->has_response = true;
}

static bool has_come_unasked(const struct wr_xds_client *client, size_t len)
{
    return client->due_us == INT64_MAX &&
           wr_clock_mono_us() - client->answered_us > CALM_US + (int64_t) (len / BYTES_A_US);
}

/* Takes a response and sets its answer. False when the stream is of no use any more. */
static bool take(struct wr_xds_client *client, struct wr_str response)
{
    struct wr_xds_answer answer = {0};
    struct wr_diag diag;

    wr_metrics_add(client->metrics, WR_METRIC_XDS_RESPONSES, 1);
    if (response.len >= LARGE_RESPONSE) {
        client->had_large = true;
        client->let_go_us = wr_clock_mono_us() + LET_GO_US; /* also of one that is refused */
    }
    on_first_response(client);
    if (has_come_unasked(client, response.len)) {
        wr_xds_session_calm(&client->session);
    }
    wr_arena_reset(&client->arena);
    client->due_us = INT64_MAX;
    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err err =
        wr_xds_session_take(&client->session, response, wr_random_next(&client->random),
                            &client->arena, &diag, &answer);

    wr_xds_report_notes(&client->report, &diag, wr_clock_mono_us());
    wr_diag_fini(&diag);
    if (err == WR_OK || answer.change.rules != NULL) {
        use(client, &answer);
    }
    if (err != WR_OK) {
        wr_metrics_add(client->metrics, WR_METRIC_CONFIG_ERRORS, 1);
        wr_xds_report_bad_response(&client->report, err);
        client->has_response = false; /* the stream is a failure, however long it took */
        return false;
    }
    client->answer = answer.request;
    client->due_us = answer.delay_us == 0 ? 0 : wr_clock_mono_us() + answer.delay_us;
    return true;
}

/* ---- A stream ---- */

/* Until when nothing has to be done. */
static int64_t next_us(const struct wr_xds_client *client)
{
    return client->due_us < client->let_go_us ? client->due_us : client->let_go_us;
}

static void let_go_when_due(struct wr_xds_client *client)
{
    if (client->let_go_us <= wr_clock_mono_us()) {
        wr_publisher_let_go(&client->publisher);
        client->let_go_us = INT64_MAX;
        if (client->had_large) {
            (void) malloc_trim(0);
        }
        client->had_large = false;
    }
}

static void do_what_is_due(struct wr_xds_client *client)
{
    if (client->due_us <= wr_clock_mono_us()) {
        wr_xds_stream_send(client->stream, client->answer);
        client->due_us = INT64_MAX;
        client->answered_us = wr_clock_mono_us();
    }
    let_go_when_due(client);
}

/* Until it ends. True when it ended by itself. */
static bool follow(struct wr_xds_client *client)
{
    for (;;) {
        struct wr_str response;
        const enum wr_xds_event event =
            wr_xds_stream_wait(client->stream, next_us(client), &response);

        if (is_stopping(client)) {
            return false;
        }
        if (event == WR_XDS_END) {
            return true;
        }
        if (event == WR_XDS_RESPONSE && !take(client, response)) {
            return false;
        }
        do_what_is_due(client);
    }
}

static void on_end(struct wr_xds_client *client)
{
    const struct wr_xds_end end = wr_xds_stream_end(client->stream);

    if (wr_xds_end_is_too_large(&end)) {
        wr_metrics_add(client->metrics, WR_METRIC_CONFIG_ERRORS, 1);
    }
    wr_xds_report_end(&client->report, &end, client->session.resources.is_in_force);
}

/* One that brought something, and lasted longer than the pause before it, was no failure. */
static void judge_stream(struct wr_xds_client *client)
{
    if (client->has_response && wr_clock_mono_us() - client->opened_us > client->pause_us) {
        wr_pauses_reset(&client->pauses);
    }
}

static bool open_stream(struct wr_xds_client *client)
{
    struct wr_xds_stream *stream = NULL;
    struct wr_diag diag;
    struct wr_str request;

    wr_metrics_add(client->metrics, WR_METRIC_XDS_STREAMS, 1);
    wr_arena_reset(&client->arena);
    client->due_us = INT64_MAX;
    client->has_response = false;
    client->opened_us = wr_clock_mono_us();
    wr_diag_init(&diag, MAX_NOTES);
    if (wr_xds_session_begin(&client->session, &client->arena, &request)) {
        stream = wr_xds_stream_open(&client->options.stream, request, &diag);
    }
    wr_log_notes(&diag, NULL);
    wr_diag_fini(&diag);
    set_stream(client, stream);
    return stream != NULL;
}

static void run_stream(struct wr_xds_client *client)
{
    struct wr_xds_stream *stream;

    /* Who stops it either finds the stream, or has told so before. */
    if (open_stream(client) && !is_stopping(client) && follow(client)) {
        on_end(client);
    }
    if (!is_stopping(client)) {
        wr_metrics_add(client->metrics, WR_METRIC_XDS_STREAM_ERRORS, 1);
        judge_stream(client);
    }
    stream = client->stream;
    set_stream(client, NULL);
    wr_xds_stream_close(stream);
    let_go_when_due(client);
}

/* ---- The thread ---- */

static void pause_for(struct wr_xds_client *client)
{
    struct pollfd polled = {.fd = client->wake_fd, .events = POLLIN};

    client->pause_us = wr_pauses_next_half(&client->pauses, wr_random_next(&client->random));
    wr_xds_report_pause(&client->report, client->pause_us);
    (void) poll(&polled, 1, (int) ((client->pause_us + 999) / 1000));
    /* What C core had of a message that was too large or broke off; it frees it in its threads. */
    (void) malloc_trim(0);
}

static void run(void *context)
{
    struct wr_xds_client *const client = context;

    /* Calls go first where processors are short. On Linux this is about the thread alone. */
    (void) setpriority(PRIO_PROCESS, 0, NICENESS);
    for (;;) {
        run_stream(client);
        if (is_stopping(client)) {
            return;
        }
        pause_for(client);
        if (is_stopping(client)) {
            return;
        }
    }
}

enum wr_err wr_xds_client_start(struct wr_xds_client *client)
{
    const enum wr_err err = wr_thread_start(&client->thread, "xds", run, client);

    client->is_started = err == WR_OK;
    return err;
}

void wr_xds_client_stop(struct wr_xds_client *client)
{
    const uint64_t one = 1;

    if (!client->is_started) {
        return;
    }
    atomic_store_explicit(&client->is_stopping, true, memory_order_release);
    (void) !write(client->wake_fd, &one, sizeof one);
    wr_mutex_lock(&client->mutex);
    if (client->stream != NULL) {
        wr_xds_stream_cancel(client->stream);
    }
    wr_mutex_unlock(&client->mutex);
    wr_thread_join(&client->thread);
    client->is_started = false;
}

void wr_xds_client_destroy(struct wr_xds_client *client)
{
    if (client == NULL) {
        return;
    }
    wr_xds_client_stop(client);
    wr_publisher_fini(&client->publisher);
    wr_xds_session_fini(&client->session);
    wr_arena_fini(&client->arena);
    wr_mutex_fini(&client->mutex);
    if (client->wake_fd >= 0) {
        (void) close(client->wake_fd);
    }
    free(client);
    grpc_shutdown();
}
