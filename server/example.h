/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weir example`: prints a call that meets the first limit of rule files, as commands for a shell.
 *
 * Threads: main only.
 */
#ifndef WR_EXAMPLE_H
#define WR_EXAMPLE_H

#include <stdio.h>

#include "options.h"

/*
 * Prints two lines, each a whole command, quoted where a shell asks for it, that calls a server on
 * the port that is used unless another is said: `grpcurl -plaintext -d JSON ADDRESS METHOD` and
 * `weirctl check DOMAIN DESCRIPTOR`. scripts/greet.sh puts another address in. Exit code: 0, 1
 * after a message when no file has a limit that an example can be made for, 64 when there is
 * nothing to look at.
 */
int wr_example(const struct wr_command_line *line, FILE *out, FILE *err);

#endif
