/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The incumbent's variables that have no effect here. Who sets one is told, and no server starts
 * open that they would have closed. One that is empty, or asks for what is so anyway, is not set.
 *
 * Threads: main; they read the environment.
 */
#ifndef WR_OPTION_IDLE_H
#define WR_OPTION_IDLE_H

#include <stdbool.h>
#include <stdio.h>

/* False after a message to `err` when TLS is asked for, or client certificates that only TLS has.
 */
bool wr_idle_options_allow(FILE *err);

/* Names those that are set, in one line. */
void wr_idle_options_warn(FILE *err);

#endif
