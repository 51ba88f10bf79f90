/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/connections.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_CAPACITY 64

void wr_connections_init(struct wr_connections *connections, size_t max)
{
    *connections = (struct wr_connections){.max = max};
}

void wr_connections_fini(struct wr_connections *connections)
{
    free(connections->items);
    wr_connections_init(connections, connections->max);
}

bool wr_connections_is_full(const struct wr_connections *connections)
{
    return connections->n >= connections->max;
}

static bool is_at(const struct wr_connection *connection, int fd)
{
    struct stat now;

    return fstat(fd, &now) == 0 && S_ISSOCK(now.st_mode) && now.st_ino == connection->ino;
}

int wr_connection_dup(const struct wr_connection *connection)
{
    const int fd = fcntl(connection->fd, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0 && !is_at(connection, fd)) {
        (void) close(fd);
        return -1;
    }
    return fd;
}

void wr_connections_sweep(struct wr_connections *connections)
{
    size_t kept = 0;

    for (size_t i = 0; i < connections->n; i++) {
        if (is_at(&connections->items[i], connections->items[i].fd)) {
            connections->items[kept] = connections->items[i];
            kept++;
        }
    }
    connections->n = kept;
}

/* Room for one more: of those that are gone, if they are many, else of new memory. */
static bool make_room(struct wr_connections *connections)
{
    wr_connections_sweep(connections);
    if (connections->n < connections->capacity / 2) {
        return true;
    }

    const size_t capacity = connections->capacity == 0 ? FIRST_CAPACITY : connections->capacity * 2;
    struct wr_connection *const items =
        realloc(connections->items, capacity * sizeof *connections->items);

    if (items == NULL) {
        return false;
    }
    connections->items = items;
    connections->capacity = capacity;
    return true;
}

bool wr_connections_add(struct wr_connections *connections, int fd)
{
    struct stat now;

    if (wr_connections_is_full(connections) || fstat(fd, &now) != 0) {
        return false;
    }
    if (connections->n == connections->capacity && !make_room(connections)) {
        return false;
    }
    connections->items[connections->n] =
        (struct wr_connection){.fd = fd, .ino = now.st_ino, .was_empty = true};
    connections->n++;
    return true;
}
