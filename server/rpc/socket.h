/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system knows of a connected socket, and how one is cut off, whoever reads from it.
 *
 * Threads: any thread.
 */
#ifndef WR_RPC_SOCKET_H
#define WR_RPC_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_socket_traffic {
    uint64_t received; /* bytes, those that nobody has read yet included */
    uint64_t answered; /* bytes that were sent and have arrived */
};

/* False for what is no connection by TCP, or none any more. */
bool wr_socket_traffic(int fd, struct wr_socket_traffic *out_traffic);

/* Bytes that have arrived and that nobody has read yet; false for what is no socket. */
bool wr_socket_unread(int fd, size_t *out_bytes);

/* Ends the connection. By TCP it is a reset, which drops what was received and is not read yet: a
 * transport would go on with it after a mere shutdown. By a Unix socket that is all there is. */
void wr_socket_reset(int fd);

#endif
