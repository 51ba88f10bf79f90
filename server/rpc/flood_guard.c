/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/flood_guard.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/address.h"
#include "rpc/connections.h"
#include "rpc/socket.h"

/* How often sockets are looked at: seldom, and when one was not seen empty for a quarter of the
 * bound so often that luck cannot make an honest caller pass the rest. C core takes at most some
 * 100 MB from one look to the next. */
#define CALM_US 50000
#define ALERT_US 5000
#define ALERT_BYTES (WR_FLOOD_MAX_BYTES / 4)

int64_t wr_flood_guard_due_us(const struct wr_flood_guard *guard)
{
    return guard->due_us;
}

/* What was taken since the socket was seen empty; what was taken before the first look that sees it
 * otherwise is not known, and not counted. */
static uint64_t taken_since_empty(struct wr_connection *connection)
{
    struct wr_socket_traffic traffic;
    size_t unread = 0;

    if (!wr_socket_unread(connection->fd, &unread) || unread == 0) {
        connection->was_empty = true;
        return 0;
    }
    if (!wr_socket_traffic(connection->fd, &traffic)) {
        return 0;
    }

    const uint64_t taken = traffic.received > unread ? traffic.received - unread : 0;

    if (connection->was_empty || taken < connection->taken_when_empty) {
        connection->was_empty = false;
        connection->taken_when_empty = taken;
    }
    return taken - connection->taken_when_empty;
}

static void log_cut(struct wr_flood_guard *guard, int fd, int64_t mono_us)
{
    struct wr_address peer = {.len = sizeof peer.storage};
    char text[WR_ADDRESS_TEXT_SIZE];
    uint64_t skipped = 0;

    if (getpeername(fd, (struct sockaddr *) &peer.storage, &peer.len) == 0 &&
        wr_log_limit_pass(&guard->limit, mono_us, &skipped)) {
        wr_address_format(&peer, text);
        wr_log(WR_LOG_WARN,
               "closed a connection: the client at %s sends without a pause and waits for no "
               "answer, %" PRIu64 " MiB so far; no rate-limit client does: keep it away from the "
               "port (%" PRIu64 " more such since the last line)",
               text, WR_FLOOD_MAX_BYTES >> 20, skipped);
    }
}

/* The transport may close the descriptor at any time, so that a copy is used. */
static void cut(struct wr_flood_guard *guard, struct wr_connection *connection, int64_t mono_us)
{
    const int fd = wr_connection_dup(connection);

    connection->was_empty = true;
    if (fd < 0) {
        return;
    }
    log_cut(guard, fd, mono_us);
    wr_metrics_add(guard->metrics, WR_METRIC_CONNECTIONS_FLOOD, 1);
    wr_socket_reset(fd);
    (void) close(fd);
}

/* The most that was taken from one that is left. */
static uint64_t look_locked(struct wr_flood_guard *guard, int64_t mono_us) WR_REQUIRES(guard->mutex)
{
    struct wr_connections *const connections = guard->connections;
    uint64_t most = 0;

    for (size_t i = 0; i < connections->n; i++) {
        const uint64_t taken = taken_since_empty(&connections->items[i]);

        if (taken > WR_FLOOD_MAX_BYTES) {
            cut(guard, &connections->items[i], mono_us);
        } else if (taken > most) {
            most = taken;
        }
    }
    return most;
}

void wr_flood_guard_look(struct wr_flood_guard *guard, int64_t mono_us)
{
    if (mono_us < guard->due_us) {
        return;
    }
    wr_mutex_lock(guard->mutex);

    const uint64_t most = look_locked(guard, mono_us);

    wr_mutex_unlock(guard->mutex);
    guard->due_us = mono_us + (most < ALERT_BYTES ? CALM_US : ALERT_US);
}
