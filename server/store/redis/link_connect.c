/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/epoll.h>

#include "store/redis/link_inside.h"

#define READS_PER_TURN 16

/* ---- the connection ---- */

static bool is_talking(const struct wr_redis_link *link)
{
    return link->state == WR_REDIS_LINK_GREETING || link->state == WR_REDIS_LINK_UP;
}

static void want(struct wr_redis_link *link, uint32_t events)
{
    wr_redis_loop_rewatch(link->options.loop, &link->watch, events);
}

static void read_in(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;
    enum wr_redis_io io = WR_REDIS_IO_DONE;

    for (int i = 0; i < READS_PER_TURN && io == WR_REDIS_IO_DONE; i++) {
        io = wr_redis_dialogue_read(&link->dialogue, &link->socket);
        if (io == WR_REDIS_IO_DONE || io == WR_REDIS_IO_CLOSED) {
            wr_redis_link_take_replies(link);
        }
        if (link->generation != generation) {
            return;
        }
    }
    if (io == WR_REDIS_IO_WANT_WRITE) {
        want(link, EPOLLIN | EPOLLOUT);
    } else if (io == WR_REDIS_IO_CLOSED) {
        wr_redis_link_disconnect(link, "closed the connection");
    } else if (io == WR_REDIS_IO_FAILED) {
        wr_redis_link_disconnect(link, wr_redis_socket_reason(&link->socket));
    }
}

/* Why a server takes no more it may have said before. */
static void write_failed(struct wr_redis_link *link, const char *why)
{
    const uint64_t generation = link->generation;

    read_in(link);
    if (link->generation == generation) {
        wr_redis_link_disconnect(link, why);
    }
}

static void write_out(struct wr_redis_link *link)
{
    switch (wr_redis_dialogue_write(&link->dialogue, &link->socket)) {
    case WR_REDIS_IO_DONE:
    case WR_REDIS_IO_WANT_READ:
        want(link, EPOLLIN);
        break;
    case WR_REDIS_IO_WANT_WRITE:
        want(link, EPOLLIN | EPOLLOUT);
        break;
    case WR_REDIS_IO_CLOSED:
        write_failed(link, "closed the connection");
        break;
    case WR_REDIS_IO_FAILED:
    default:
        write_failed(link, wr_redis_socket_reason(&link->socket));
        break;
    }
}

static const char *why_renewed(const struct wr_redis_link *link)
{
    if (link->is_moving) {
        return NULL;
    }
    return link->is_doubted
               ? "answers a script with what is no answer of it: is it Redis or Valkey?"
               : "somebody else may be there by now";
}

/* The end of a turn: what it brought is written at once. */
static void flush(struct wr_redis_flush *flush)
{
    struct wr_redis_link *const link = flush->context;

    if (link->state == WR_REDIS_LINK_UP && link->is_renewing && link->dialogue.n_live == 0) {
        wr_redis_link_disconnect(link, why_renewed(link));
    } else if (is_talking(link)) {
        write_out(link);
    }
}

static void connected(struct wr_redis_link *link)
{
    link->state = WR_REDIS_LINK_GREETING;
    if (!wr_redis_dialogue_reset(&link->dialogue) || !wr_redis_link_greet(link)) {
        wr_redis_link_disconnect(link, "out of memory");
        return;
    }
    wr_redis_link_flush_later(link);
}

static void proceed(struct wr_redis_link *link)
{
    switch (wr_redis_socket_proceed(&link->socket)) {
    case WR_REDIS_IO_DONE:
        connected(link);
        break;
    case WR_REDIS_IO_WANT_READ:
        want(link, EPOLLIN);
        break;
    case WR_REDIS_IO_WANT_WRITE:
        want(link, EPOLLOUT);
        break;
    case WR_REDIS_IO_CLOSED:
        wr_redis_link_disconnect(link, "closed the connection");
        break;
    case WR_REDIS_IO_FAILED:
    default:
        wr_redis_link_disconnect(link, wr_redis_socket_reason(&link->socket));
        break;
    }
}

static void ready(struct wr_redis_watch *watch, uint32_t events)
{
    struct wr_redis_link *const link = watch->context;
    const uint64_t generation = link->generation;

    if (link->state == WR_REDIS_LINK_CONNECTING) {
        proceed(link);
        return;
    }
    if ((events & ~(uint32_t) EPOLLOUT) != 0) {
        read_in(link);
    }
    if (link->generation == generation && wr_redis_dialogue_has_output(&link->dialogue)) {
        wr_redis_link_flush_later(link);
    }
}

/* To the next of the addresses. */
static void connect_next(struct wr_redis_link *link)
{
    const struct wr_redis_endpoint *const endpoint = &link->endpoints.items[link->next_endpoint++];

    link->state = WR_REDIS_LINK_CONNECTING;
    wr_redis_link_set_timer(link, &link->timer, link->options.limits.connect_timeout_us);
    if (wr_redis_socket_connect(&link->socket, (const struct sockaddr *) &endpoint->storage,
                                endpoint->len, link->options.security,
                                link->port != 0 ? wr_str_of(link->host) : (struct wr_str){0}) !=
        WR_OK) {
        wr_redis_link_disconnect(link, wr_redis_socket_reason(&link->socket));
        return;
    }
    link->watch.fd = link->socket.fd;
    if (wr_redis_loop_watch(link->options.loop, &link->watch, EPOLLOUT) != WR_OK) {
        wr_redis_link_disconnect(link, "the system refuses to watch one more connection");
    }
}

static void use_endpoints(struct wr_redis_link *link, const struct wr_redis_endpoints *endpoints,
                          const char *why)
{
    char text[WR_REDIS_WHY_SIZE];

    link->endpoints = *endpoints;
    link->next_endpoint = 0;
    if (endpoints->n > 0) {
        connect_next(link);
        return;
    }
    (void) snprintf(text, sizeof text, "its address is not to be had: %s", why);
    wr_redis_link_disconnect(link, text);
}

static void resolved(void *context, const struct wr_redis_endpoints *endpoints, const char *why)
{
    struct wr_redis_link *const link = context;

    link->lookup = NULL;
    use_endpoints(link, endpoints, why);
}

/* Where is the place? */
void wr_redis_link_seek(struct wr_redis_link *link)
{
    struct wr_redis_endpoints endpoints;
    const struct wr_str host = wr_str_of(link->host);

    link->state = WR_REDIS_LINK_SEEKING;
    link->is_renewing = link->is_moving = link->has_met_replica = false;
    wr_redis_resolve_numeric(host, link->port, &endpoints);
    if (endpoints.n > 0 || link->port == 0 || link->options.resolver == NULL) {
        use_endpoints(link, &endpoints, "it is no address, and no path that is short enough");
        return;
    }
    wr_redis_link_set_timer(link, &link->timer, link->options.limits.connect_timeout_us);
    link->lookup = wr_redis_resolve(link->options.resolver, link->options.loop, host, link->port,
                                    resolved, link);
    if (link->lookup == NULL) {
        wr_redis_link_disconnect(link, "out of memory");
    }
}

static void timer_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_link *const link = timer->context;

    (void) mono_us;
    switch (link->state) {
    case WR_REDIS_LINK_SEEKING:
        wr_redis_link_disconnect(link, "the name server does not answer in time");
        break;
    case WR_REDIS_LINK_CONNECTING:
        wr_redis_link_disconnect(link,
                                 link->options.security == NULL
                                     ? "cannot be connected to in time"
                                     : "cannot be connected to in time; does it speak TLS there?");
        break;
    case WR_REDIS_LINK_GREETING:
        wr_redis_link_disconnect(link, "connected, but does not answer in time");
        break;
    case WR_REDIS_LINK_RESTING:
        wr_redis_link_seek(link);
        break;
    case WR_REDIS_LINK_CLOSED:
    case WR_REDIS_LINK_UP:
    default:
        break;
    }
}

void wr_redis_link_give_back_lines(struct wr_redis_link *link)
{
    struct wr_redis_line line;

    while (wr_redis_dialogue_take(&link->dialogue, &line)) {
        if (line.request != NULL) {
            const bool is_unsent = wr_redis_dialogue_is_unsent(&link->dialogue, &line);

            wr_redis_link_give_back(link, line.request, is_unsent ? WR_REDIS_AWAY : WR_REDIS_LOST,
                                    NULL);
        }
    }
}

/* Leaves no descriptor, timer or look-up behind. */
void wr_redis_link_hang_up(struct wr_redis_link *link)
{
    link->generation++;
    wr_redis_lookup_cancel(link->lookup);
    link->lookup = NULL;
    wr_redis_timer_clear(&link->timer);
    wr_redis_timer_clear(&link->beat);
    wr_redis_loop_forget_flush(link->options.loop, &link->flush);
    if (link->socket.fd >= 0) {
        wr_redis_loop_unwatch(link->options.loop, &link->watch);
    }
    wr_redis_socket_close(&link->socket);
    link->is_beat_out = link->is_time_out = link->is_load_out = false;
    link->is_subscribing = link->is_denied = false;
    wr_redis_time_forget(&link->time);
}

/* A connection that was of use is replaced at once. */
static void rest(struct wr_redis_link *link, bool was_of_use)
{
    const int64_t pause_us =
        wr_pauses_next(&link->pauses, wr_redis_loop_random(link->options.loop));

    link->state = WR_REDIS_LINK_RESTING;
    wr_redis_link_set_timer(link, &link->timer, was_of_use ? 0 : pause_us);
}

/* To the next address of the same name, without a pause. */
static void go_on(struct wr_redis_link *link, const char *why)
{
    wr_redis_link_log_away(link, why);
    link->state = WR_REDIS_LINK_RESTING;
    wr_redis_link_give_back_lines(link);
    if (link->state == WR_REDIS_LINK_RESTING && !wr_redis_timer_is_set(&link->timer)) {
        connect_next(link);
    }
}

/* The connection, or the attempt at one, is over. `why` NULL: it is left for another place. */
void wr_redis_link_disconnect(struct wr_redis_link *link, const char *why)
{
    char text[WR_REDIS_WHY_SIZE];
    const bool was_up = link->state == WR_REDIS_LINK_UP;
    const bool was_near =
        link->state == WR_REDIS_LINK_CONNECTING || link->state == WR_REDIS_LINK_GREETING;

    (void) snprintf(text, sizeof text, "%s", why != NULL ? why : "it moves");
    wr_redis_link_hang_up(link);
    if (was_near && link->next_endpoint < link->endpoints.n) {
        go_on(link, text);
        return;
    }
    wr_redis_link_count(link, was_up ? WR_METRIC_REDIS_CONNECTIONS_LOST
                                     : WR_METRIC_REDIS_CONNECT_FAILURES);
    if (why != NULL) {
        wr_redis_link_log_away(link, text);
    }
    link->has_failed = !was_up || link->pauses.n > 0 || link->breaker.is_open || link->is_doubted;
    rest(link, !link->has_failed);

    const uint64_t generation = link->generation;

    wr_redis_link_give_back_lines(link);
    if (link->has_failed) {
        wr_redis_link_give_back_waiting(link);
    }
    if (link->generation == generation) {
        wr_redis_link_tell_ready(link);
    }
    if (link->generation == generation && link->options.on_down != NULL) {
        link->options.on_down(link->options.context, link, text);
    }
}

void wr_redis_link_init_connect(struct wr_redis_link *link)
{
    wr_redis_socket_init(&link->socket);
    link->watch = (struct wr_redis_watch){.fd = -1, .on_ready = ready, .context = link};
    link->flush = (struct wr_redis_flush){.run = flush, .context = link};
    link->timer = (struct wr_redis_timer){.on_due = timer_due, .context = link};
}
