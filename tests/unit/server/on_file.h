/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of weir that is run on one rule file, which a test writes as a text.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_SERVER_ON_FILE_H
#define WR_TESTS_UNIT_SERVER_ON_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "options.h"

typedef int (*run_command_fn)(const struct wr_command_line *line, FILE *out, FILE *err);

/* The exit code of `run` on a file with that text; what was printed is in `said`. */
int run_on_file(run_command_fn run, const char *yaml, bool is_strict, char *said, size_t size);

#endif
