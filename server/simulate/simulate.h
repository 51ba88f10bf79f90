/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weir simulate`: plays a load against rules on a virtual clock, and says what was let through and
 * the most of it in any trailing window.
 *
 * Threads: main.
 */
#ifndef WR_SIMULATE_SIMULATE_H
#define WR_SIMULATE_SIMULATE_H

#include <stdio.h>

/* `argv` begins with the word simulate. Returns the exit code, one of sysexits.h when not 0. */
int wr_simulate(int argc, char **argv, FILE *out, FILE *err);

#endif
