/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server put together from its parts: loads rules, opens listeners, serves until a signal,
 * drains.
 *
 * Everything hangs from one struct wr_app, so that two servers in one process work.
 * Threads: main only; it starts and joins all others.
 */
#ifndef WR_APP_H
#define WR_APP_H

#include "options.h"
#include "store_choice.h"

/*
 * Serves until SIGTERM or SIGINT; a second one ends the process at once. Returns the exit code: 0
 * after a drain, else one of sysexits.h after a message to stderr.
 */
int wr_app_run(const struct wr_options *options, wr_backend_new_fn new_backend);

#endif
