/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening sockets that the options ask for, and telling people and scripts where they are.
 *
 * Threads: main only.
 */
#ifndef WR_LISTENERS_H
#define WR_LISTENERS_H

#include "options.h"

struct wr_listen;

/* Removes an old --port-file once the sockets are open. EX_OK, else an exit code after a message
 * that names the option and the address. */
int wr_listeners_open(const struct wr_options *options, struct wr_listen **out_listen);

/* Logs each address and writes --port-file. EX_OK, else an exit code after a message. */
int wr_listeners_announce(const struct wr_options *options, const struct wr_listen *listen);

#endif
