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

/* C core takes at most some 100 MB in that time. */
#define LOOK_US 50000

int64_t wr_flood_guard_due_us(const struct wr_flood_guard *guard)
{
    return guard->due_us;
}

/* True for one that has to be cut off. What was taken before the first look at a socket that is not
 * empty is not known, and not counted. */
static bool is_flood(struct wr_connection *connection)
{
    struct wr_socket_traffic traffic;
    size_t unread = 0;

    if (!wr_socket_unread(connection->fd, &unread) || unread == 0) {
        connection->was_empty = true;
        return false;
    }
    if (!wr_socket_traffic(connection->fd, &traffic)) {
        return false;
    }

    const uint64_t taken = traffic.received > unread ? traffic.received - unread : 0;

    if (connection->was_empty || taken < connection->taken_when_empty) {
        connection->was_empty = false;
        connection->taken_when_empty = taken;
    }
    return taken - connection->taken_when_empty > WR_FLOOD_MAX_BYTES;
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

static void look_locked(struct wr_flood_guard *guard, int64_t mono_us) WR_REQUIRES(guard->mutex)
{
    struct wr_connections *const connections = guard->connections;

    for (size_t i = 0; i < connections->n; i++) {
        if (is_flood(&connections->items[i])) {
            cut(guard, &connections->items[i], mono_us);
        }
    }
}

void wr_flood_guard_look(struct wr_flood_guard *guard, int64_t mono_us)
{
    if (mono_us < guard->due_us) {
        return;
    }
    guard->due_us = mono_us + LOOK_US;
    wr_mutex_lock(guard->mutex);
    look_locked(guard, mono_us);
    wr_mutex_unlock(guard->mutex);
}
