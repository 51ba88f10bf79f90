/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* EPOLLRDHUP */
#include "rpc/newcomers.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/str.h"
#include "rpc/address.h"
#include "rpc/preface.h"

#define EVENTS_A_TURN 64
/* Read of a request that is not for us, before the answer to it: a close with bytes unread would
 * throw the answer away. */
#define READ_CHUNK 4096
#define READ_CHUNKS 16

struct newcomer {
    int fd; /* owned */
    int64_t due_us;
    struct newcomer *next, *prev;
};

struct wr_newcomers {
    struct wr_newcomers_options options;
    int epoll_fd; /* owned */
    /* In the order of their coming, so the first is due first. */
    struct newcomer *first, *last;
    struct wr_log_limit limits[WR_PREFACE_OTHER + 1]; /* by what was spoken */
};

/* What becomes of those who do not speak HTTP/2, by what they speak instead. */
static const struct {
    enum wr_metric metric;
    const char *what, *hint;
} refusals[] = {
    [WR_PREFACE_SHORT] = {WR_METRIC_CONNECTIONS_SILENT,
                          "said too little within the handshake timeout",
                          "gRPC clients begin to speak at once"},
    [WR_PREFACE_HTTP1] = {WR_METRIC_CONNECTIONS_HTTP1, "speaks HTTP/1.1",
                          "set http2_protocol_options in Envoy's cluster, or use a gRPC client"},
    [WR_PREFACE_TLS] = {WR_METRIC_CONNECTIONS_TLS, "speaks TLS to a plain port",
                        "take the transport socket or the TLS credentials off the client"},
    [WR_PREFACE_NO_SETTINGS] = {WR_METRIC_CONNECTIONS_OTHER,
                                "sent no SETTINGS behind the preface of HTTP/2",
                                "RFC 9113, 3.4 wants it there"},
    [WR_PREFACE_OTHER] = {WR_METRIC_CONNECTIONS_OTHER, "speaks neither HTTP nor TLS",
                          "this port is for gRPC"},
};

static const char http1_answer[] = "HTTP/1.1 505 HTTP Version Not Supported\r\n"
                                   "connection: close\r\n"
                                   "content-type: text/plain\r\n"
                                   "content-length: 41\r\n"
                                   "\r\n"
                                   "This port speaks gRPC, that is, HTTP/2.\r\n";

enum wr_err wr_newcomers_new(const struct wr_newcomers_options *options,
                             struct wr_newcomers **out_newcomers)
{
    struct wr_newcomers *const newcomers = calloc(1, sizeof *newcomers);

    if (newcomers == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    newcomers->options = *options;
    newcomers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (newcomers->epoll_fd < 0) {
        free(newcomers);
        return WR_ERR_SYSTEM;
    }
    *out_newcomers = newcomers;
    return WR_OK;
}

/* Forgets it; its socket is the caller's now. */
static int take_out(struct wr_newcomers *newcomers, struct newcomer *newcomer)
{
    struct epoll_event unused = {0};
    const int fd = newcomer->fd;

    WR_ASSERT(epoll_ctl(newcomers->epoll_fd, EPOLL_CTL_DEL, fd, &unused) == 0);
    if (newcomer == newcomers->first) {
        newcomers->first = newcomer->next;
    } else {
        newcomer->prev->next = newcomer->next;
    }
    if (newcomer == newcomers->last) {
        newcomers->last = newcomer->prev;
    } else {
        newcomer->next->prev = newcomer->prev;
    }
    free(newcomer);
    return fd;
}

void wr_newcomers_dismiss(struct wr_newcomers *newcomers)
{
    while (newcomers->first != NULL) {
        (void) close(take_out(newcomers, newcomers->first));
    }
}

void wr_newcomers_destroy(struct wr_newcomers *newcomers)
{
    if (newcomers == NULL) {
        return;
    }
    wr_newcomers_dismiss(newcomers);
    (void) close(newcomers->epoll_fd);
    free(newcomers);
}

int wr_newcomers_fd(const struct wr_newcomers *newcomers)
{
    return newcomers->epoll_fd;
}

bool wr_newcomers_is_empty(const struct wr_newcomers *newcomers)
{
    return newcomers->first == NULL;
}

int64_t wr_newcomers_due_us(const struct wr_newcomers *newcomers)
{
    return newcomers->first == NULL ? INT64_MAX : newcomers->first->due_us;
}

enum wr_err wr_newcomers_add(struct wr_newcomers *newcomers, int fd, int64_t mono_us)
{
    struct newcomer *const newcomer = calloc(1, sizeof *newcomer);
    const int64_t timeout_us = newcomers->options.timeout_us;
    /* By edges: bytes that were looked at and left unread are no news. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = newcomer};

    if (newcomer == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    if (epoll_ctl(newcomers->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(newcomer);
        return WR_ERR_SYSTEM;
    }
    *newcomer = (struct newcomer){
        .fd = fd,
        .due_us = timeout_us == 0 ? INT64_MAX : mono_us + timeout_us,
        .prev = newcomers->last,
    };
    if (newcomers->last == NULL) {
        newcomers->first = newcomer;
    } else {
        newcomers->last->next = newcomer;
    }
    newcomers->last = newcomer;
    return WR_OK;
}

static void log_refusal(struct wr_newcomers *newcomers, int fd, enum wr_preface spoken,
                        int64_t mono_us)
{
    struct wr_address peer = {.len = sizeof peer.storage};
    char text[WR_ADDRESS_TEXT_SIZE];
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&newcomers->limits[spoken], mono_us, &skipped) &&
        getpeername(fd, (struct sockaddr *) &peer.storage, &peer.len) == 0) {
        wr_address_format(&peer, text);
        wr_log(WR_LOG_WARN,
               "closed a connection: the client at %s %s; %s (%" PRIu64
               " more such since the last line)",
               text, refusals[spoken].what, refusals[spoken].hint, skipped);
    }
}

static void answer_http1(int fd)
{
    char unwanted[READ_CHUNK];

    for (int i = 0; i < READ_CHUNKS; i++) {
        if (recv(fd, unwanted, sizeof unwanted, MSG_DONTWAIT) <= 0) {
            break;
        }
    }
    (void) send(fd, http1_answer, sizeof http1_answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void refuse(struct wr_newcomers *newcomers, struct newcomer *newcomer,
                   enum wr_preface spoken, int64_t mono_us)
{
    const int fd = take_out(newcomers, newcomer);

    wr_metrics_add(newcomers->options.metrics, refusals[spoken].metric, 1);
    log_refusal(newcomers, fd, spoken, mono_us);
    if (spoken == WR_PREFACE_HTTP1) {
        answer_http1(fd);
    }
    (void) close(fd);
}

/* What is there to be read; it stays there. */
static enum wr_preface spoken_by(int fd, ssize_t *out_n)
{
    char bytes[WR_PREFACE_SIZE];
    const ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    const struct wr_str seen = {.ptr = bytes, .len = n > 0 ? (size_t) n : 0};
    const enum wr_preface spoken = wr_preface_of(seen);
    int n_waiting = 0;

    *out_n = n;
    if (spoken == WR_PREFACE_HTTP2 &&
        (ioctl(fd, FIONREAD, &n_waiting) != 0 || (size_t) n_waiting < wr_preface_len(seen))) {
        return WR_PREFACE_SHORT; /* the settings are not all there */
    }
    return spoken;
}

/* It has said something, or left. */
static void look_at(struct wr_newcomers *newcomers, struct newcomer *newcomer, uint32_t events,
                    int64_t mono_us)
{
    ssize_t n = 0;
    const enum wr_preface spoken = spoken_by(newcomer->fd, &n);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }

    const bool is_leaving = n <= 0 || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;

    if (spoken == WR_PREFACE_HTTP2) {
        newcomers->options.adopt(newcomers->options.context, take_out(newcomers, newcomer));
    } else if (spoken != WR_PREFACE_SHORT) {
        refuse(newcomers, newcomer, spoken, mono_us);
    } else if (is_leaving) { /* as probes of the port do */
        (void) close(take_out(newcomers, newcomer));
    }
}

void wr_newcomers_turn(struct wr_newcomers *newcomers, int64_t mono_us)
{
    struct epoll_event events[EVENTS_A_TURN];
    const int n = epoll_wait(newcomers->epoll_fd, events, EVENTS_A_TURN, 0);

    for (int i = 0; i < n; i++) {
        look_at(newcomers, events[i].data.ptr, events[i].events, mono_us);
    }
    while (newcomers->first != NULL && newcomers->first->due_us <= mono_us) {
        refuse(newcomers, newcomers->first, WR_PREFACE_SHORT, mono_us);
    }
}
