/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `weir`: reads the command line and does what it asks for.
 *
 * Threads: main only.
 */
#ifndef WR_PROGRAM_H
#define WR_PROGRAM_H

#include "app.h"

/* Returns the exit code. `new_backend` makes the store when the command is to serve. */
int wr_program(int argc, char **argv, wr_backend_new_fn new_backend);

#endif
