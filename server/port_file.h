/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --port-file: a line `name host:port` a listener, complete from the moment it exists.
 *
 * Threads: main only.
 */
#ifndef WR_PORT_FILE_H
#define WR_PORT_FILE_H

#include <stddef.h>

#include "base/err.h"

struct wr_port_line {
    const char *name;    /* of the protocol */
    const char *address; /* host:port or unix:path */
};

/* Written beside `path` and renamed over it. WR_ERR_IO with errno set. */
WR_MUST_USE enum wr_err wr_port_file_write(const char *path, const struct wr_port_line *lines,
                                           size_t n);

#endif
