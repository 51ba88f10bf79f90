/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4 */
#include "rpc/acceptor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "rpc/connections.h"
#include "rpc/listen.h"
#include "rpc/warden.h"

/* How long a pause lasts before the next try. */
#define PAUSE_US 50000
/* How long those who came before the stop may take to speak. */
#define LAST_WAIT_US 500000
/* What those in the middle of TCP's handshake then get to finish it. */
#define HANDSHAKES_MS 10
/* Descriptors left for everything but connections: half of the limit on them within these bounds.
 */
#define MIN_RESERVED_FDS 32
#define MAX_RESERVED_FDS 64
/* Less than that is worth a warning. */
#define FEW_CONNECTIONS 256
/* Accepted from one socket before the others get their turn. */
#define ACCEPTS_A_TURN 64

struct wr_acceptor {
    struct wr_acceptor_options options;
    struct wr_metrics_block *metrics;  /* borrowed */
    struct wr_mutex mutex;             /* shared with the warden */
    struct wr_connections connections; /* guarded by mutex */
    struct wr_newcomers *newcomers;    /* owned */
    struct wr_warden warden;
    struct pollfd *polled; /* owned; the listening sockets, then stop_fd and newcomers */
    size_t n_sockets;
    int stop_fd; /* owned; an eventfd */
    int64_t pause_end_us;
    bool is_paused;
    bool is_at_cap; /* and counted as such */
    bool is_started;
    struct wr_log_limit cap_limit, pause_limit;
    struct wr_thread thread;
};

static size_t room_for_connections(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return SIZE_MAX;
    }

    const size_t limit = (size_t) files.rlim_cur;
    const size_t half = limit / 2 < MIN_RESERVED_FDS ? MIN_RESERVED_FDS : limit / 2;
    const size_t reserved = half < MAX_RESERVED_FDS ? half : MAX_RESERVED_FDS;

    return limit > reserved ? limit - reserved : 1;
}

/* What was asked for, 0 for as many as there is room for, as far as there is room. */
static size_t connection_cap(size_t chosen)
{
    const size_t room = room_for_connections();

    if (chosen > room) {
        wr_log(WR_LOG_WARN,
               "at most %zu connections, not %zu: the limit on open files leaves room for no more; "
               "raise it (ulimit -n)",
               room, chosen);
    } else if (chosen == 0 && room < FEW_CONNECTIONS) {
        wr_log(WR_LOG_WARN,
               "at most %zu connections: the limit on open files leaves room for no more; raise it "
               "(ulimit -n)",
               room);
    }
    return chosen == 0 || chosen > room ? room : chosen;
}

static void fill_polled(struct wr_acceptor *acceptor)
{
    const size_t n = acceptor->n_sockets;

    for (size_t i = 0; i < n; i++) {
        acceptor->polled[i] =
            (struct pollfd){.fd = wr_listen_fd(acceptor->options.listen, i), .events = POLLIN};
    }
    acceptor->polled[n] = (struct pollfd){.fd = acceptor->stop_fd, .events = POLLIN};
    acceptor->polled[n + 1] =
        (struct pollfd){.fd = wr_newcomers_fd(acceptor->newcomers), .events = POLLIN};
}

static enum wr_err open_acceptor(struct wr_acceptor *acceptor)
{
    const struct wr_acceptor_options *const options = &acceptor->options;

    acceptor->n_sockets = wr_listen_count(options->listen);
    acceptor->polled = calloc(acceptor->n_sockets + 2, sizeof *acceptor->polled);
    acceptor->metrics = wr_metrics_block_new(options->metrics);

    struct wr_metrics_block *const warden_metrics = wr_metrics_block_new(options->metrics);

    if (acceptor->polled == NULL || acceptor->metrics == NULL || warden_metrics == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    acceptor->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (acceptor->stop_fd < 0) {
        return WR_ERR_SYSTEM;
    }

    wr_warden_init(&acceptor->warden, options->max_memory_bytes, &acceptor->connections,
                   &acceptor->mutex, warden_metrics);

    const struct wr_newcomers_options newcomers = {
        .timeout_us = options->handshake_timeout_us,
        .adopt = options->adopt,
        .context = options->context,
        .metrics = acceptor->metrics,
    };
    const enum wr_err err = wr_newcomers_new(&newcomers, &acceptor->newcomers);

    if (err == WR_OK) {
        fill_polled(acceptor);
    }
    return err;
}

enum wr_err wr_acceptor_new(const struct wr_acceptor_options *options,
                            struct wr_acceptor **out_acceptor)
{
    struct wr_acceptor *const acceptor = calloc(1, sizeof *acceptor);

    if (acceptor == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    acceptor->options = *options;
    acceptor->stop_fd = -1;
    acceptor->warden.memory.statm_fd = -1;
    acceptor->warden.stop_fd = -1;
    wr_mutex_init(&acceptor->mutex, WR_LOCK_CONNECTIONS);
    wr_connections_init(&acceptor->connections, connection_cap(options->max_connections));

    const enum wr_err err = open_acceptor(acceptor);

    if (err != WR_OK) {
        wr_acceptor_destroy(acceptor);
        return err;
    }
    *out_acceptor = acceptor;
    return WR_OK;
}

static void begin_pause(struct wr_acceptor *acceptor)
{
    acceptor->is_paused = true;
    acceptor->pause_end_us = wr_clock_mono_us() + PAUSE_US;
}

/* Pauses for what others hold: descriptors, memory. */
static void pause_for(struct wr_acceptor *acceptor, int error)
{
    uint64_t skipped = 0;

    begin_pause(acceptor);
    wr_metrics_add(acceptor->metrics, WR_METRIC_ACCEPT_PAUSES, 1);
    if (wr_log_limit_pass(&acceptor->pause_limit, wr_clock_mono_us(), &skipped)) {
        wr_log(
            WR_LOG_WARN,
            "connections wait: %s; raise the limit on open files (ulimit -n) or lower the cap on "
            "connections (%" PRIu64 " more such pauses)",
            strerror(error), skipped);
    }
}

/* Counts the moment the cap is reached, not each look at it. */
static void note_cap(struct wr_acceptor *acceptor)
{
    uint64_t skipped = 0;

    begin_pause(acceptor);
    if (acceptor->is_at_cap) {
        return;
    }
    acceptor->is_at_cap = true;
    wr_metrics_add(acceptor->metrics, WR_METRIC_CONNECTIONS_REFUSED, 1);
    if (wr_log_limit_pass(&acceptor->cap_limit, wr_clock_mono_us(), &skipped)) {
        wr_log(WR_LOG_WARN,
               "connections wait: %zu are open, which is the cap (reached %" PRIu64
               " more times since the last such line)",
               acceptor->connections.max, skipped);
    }
}

static bool remember(struct wr_acceptor *acceptor, int fd)
{
    wr_mutex_lock(&acceptor->mutex);

    const bool is_in = wr_connections_add(&acceptor->connections, fd);

    wr_mutex_unlock(&acceptor->mutex);
    return is_in;
}

static void take_in(struct wr_acceptor *acceptor, int fd)
{
    const int on = 1;

    if (!remember(acceptor, fd) ||
        wr_newcomers_add(acceptor->newcomers, fd, wr_clock_mono_us()) != WR_OK) {
        (void) close(fd);
        pause_for(acceptor, ENOMEM);
        return;
    }
    (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a Unix socket */
    /* Urgent data would make a full socket look empty to the warden. */
    (void) setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    wr_metrics_add(acceptor->metrics, WR_METRIC_CONNECTIONS, 1);
}

/* True when room is left, maybe after those that are gone were forgotten. */
static bool has_room(struct wr_acceptor *acceptor)
{
    wr_mutex_lock(&acceptor->mutex);
    if (wr_connections_is_full(&acceptor->connections)) {
        wr_connections_sweep(&acceptor->connections);
    }

    const bool is_full = wr_connections_is_full(&acceptor->connections);

    wr_mutex_unlock(&acceptor->mutex);
    return !is_full;
}

/* One connection; false when there is none or none can be taken now. */
static bool accept_one(struct wr_acceptor *acceptor, int socket_fd)
{
    if (wr_warden_holds(&acceptor->warden)) {
        begin_pause(acceptor);
        return false;
    }
    if (!has_room(acceptor)) {
        note_cap(acceptor);
        return false;
    }

    const int fd = accept4(socket_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        acceptor->is_at_cap = false;
        take_in(acceptor, fd);
        return !acceptor->is_paused;
    }
    switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
        pause_for(acceptor, errno);
        return false;
    case EAGAIN:
        return false;
    default: /* the caller left, or its network failed: the next may be fine */
        return true;
    }
}

static void accept_some(struct wr_acceptor *acceptor)
{
    for (size_t i = 0; i < acceptor->n_sockets; i++) {
        if (acceptor->polled[i].revents == 0) {
            continue;
        }
        for (int n = 0; n < ACCEPTS_A_TURN; n++) {
            if (!accept_one(acceptor, acceptor->polled[i].fd)) {
                break;
            }
        }
    }
}

/* Until the pause is over, or the next newcomer is due; -1: for ever. */
static int wait_ms(const struct wr_acceptor *acceptor)
{
    const int64_t due_us = wr_newcomers_due_us(acceptor->newcomers);
    const int64_t end_us =
        acceptor->is_paused && acceptor->pause_end_us < due_us ? acceptor->pause_end_us : due_us;
    const int64_t left_us = end_us == INT64_MAX ? 0 : end_us - wr_clock_mono_us();

    if (end_us == INT64_MAX) {
        return -1;
    }
    return left_us <= 0 ? 0 : (int) (left_us / 1000 < INT_MAX ? left_us / 1000 + 1 : INT_MAX);
}

/* Who connects from now on is refused; who waits in the system's queue is taken in before, as a
 * close would reset them. Callers that come without an end are stopped by the time. */
static void shut_sockets(struct wr_acceptor *acceptor, int64_t end_us)
{
    acceptor->is_paused = false;
    for (size_t i = 0; i < acceptor->n_sockets; i++) {
        wr_listen_hush(acceptor->options.listen, i);
    }
    (void) poll(NULL, 0, HANDSHAKES_MS);
    for (size_t i = 0; i < acceptor->n_sockets; i++) {
        while (accept_one(acceptor, acceptor->polled[i].fd) && wr_clock_mono_us() < end_us) {
            continue;
        }
        wr_listen_shut(acceptor->options.listen, i);
    }
}

/* Those who connected before the stop are not turned away for it; those who then say nothing have
 * no call that could be lost. */
static void finish(struct wr_acceptor *acceptor)
{
    struct pollfd *const spoken = &acceptor->polled[acceptor->n_sockets + 1];
    const int64_t end_us = wr_clock_mono_us() + LAST_WAIT_US;
    int64_t now_us = 0;

    shut_sockets(acceptor, end_us);
    while (!wr_newcomers_is_empty(acceptor->newcomers) && (now_us = wr_clock_mono_us()) < end_us) {
        (void) poll(spoken, 1, (int) ((end_us - now_us) / 1000 + 1));
        wr_newcomers_turn(acceptor->newcomers, wr_clock_mono_us());
    }
    wr_newcomers_dismiss(acceptor->newcomers);
}

static void run(void *context)
{
    struct wr_acceptor *const acceptor = context;
    struct pollfd *const stop = &acceptor->polled[acceptor->n_sockets];

    for (;;) {
        /* A paused acceptor looks at no socket, and tries them all after a while. */
        const int n = acceptor->is_paused
                          ? poll(stop, 2, wait_ms(acceptor))
                          : poll(acceptor->polled, acceptor->n_sockets + 2, wait_ms(acceptor));

        if (n < 0) {
            WR_ASSERT(errno == EINTR || errno == ENOMEM);
            continue;
        }
        if (n > 0 && stop->revents != 0) {
            finish(acceptor);
            return;
        }
        if (!acceptor->is_paused) {
            accept_some(acceptor);
        } else if (wr_clock_mono_us() >= acceptor->pause_end_us) {
            acceptor->is_paused = false;
        }
        wr_newcomers_turn(acceptor->newcomers, wr_clock_mono_us());
    }
}

enum wr_err wr_acceptor_start(struct wr_acceptor *acceptor)
{
    enum wr_err err = wr_warden_start(&acceptor->warden);

    if (err == WR_OK) {
        err = wr_thread_start(&acceptor->thread, "acceptor", run, acceptor);
    }
    acceptor->is_started = err == WR_OK;
    return err;
}

void wr_acceptor_stop(struct wr_acceptor *acceptor)
{
    const uint64_t one = 1;

    if (!acceptor->is_started) {
        return;
    }
    WR_ASSERT(write(acceptor->stop_fd, &one, sizeof one) == (ssize_t) sizeof one);
    wr_thread_join(&acceptor->thread);
    acceptor->is_started = false;
}

void wr_acceptor_close_at(struct wr_acceptor *acceptor, int64_t mono_us)
{
    wr_warden_close_at(&acceptor->warden, mono_us);
}

size_t wr_acceptor_count(struct wr_acceptor *acceptor)
{
    WR_ASSERT(!acceptor->is_started);
    wr_mutex_lock(&acceptor->mutex);
    wr_connections_sweep(&acceptor->connections);

    const size_t n = acceptor->connections.n;

    wr_mutex_unlock(&acceptor->mutex);
    return n;
}

void wr_acceptor_destroy(struct wr_acceptor *acceptor)
{
    if (acceptor == NULL) {
        return;
    }
    wr_acceptor_stop(acceptor);
    if (acceptor->stop_fd >= 0) {
        (void) close(acceptor->stop_fd);
    }
    wr_newcomers_destroy(acceptor->newcomers);
    wr_warden_fini(&acceptor->warden);
    wr_connections_fini(&acceptor->connections);
    wr_mutex_fini(&acceptor->mutex);
    free(acceptor->polled);
    free(acceptor);
}
