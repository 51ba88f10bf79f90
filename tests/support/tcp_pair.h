/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of a connection by TCP.
 *
 * Threads: any thread, one at a time an end.
 */
#ifndef WR_TESTS_SUPPORT_TCP_PAIR_H
#define WR_TESTS_SUPPORT_TCP_PAIR_H

#include <stdbool.h>

struct wr_tcp_pair {
    int client, server;
};

struct wr_tcp_pair wr_tcp_pair_open(void);

void wr_tcp_pair_close(struct wr_tcp_pair pair);

/* Whether the client finds that the server reset the connection; the system tells it once. */
bool wr_tcp_pair_is_cut_off(struct wr_tcp_pair pair);

#endif
