/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weir check`: reads rules as the server would, prints what is wrong as a compiler does.
 *
 * Threads: main only.
 */
#ifndef WR_CHECK_H
#define WR_CHECK_H

#include <stdio.h>

#include "options.h"

/* Exit code: 0 all files are good, 1 something is wrong, 64 nothing to check. */
int wr_check(const struct wr_command_line *line, FILE *out, FILE *err);

#endif
