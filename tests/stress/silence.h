/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that takes connections and says nothing.
 *
 * Threads: any thread.
 */
#ifndef WR_TESTS_STRESS_SILENCE_H
#define WR_TESTS_STRESS_SILENCE_H

/* Room for the target of a silence. */
#define WR_SILENCE_TARGET_SIZE 32

/* A socket that takes connections into its backlog and leaves them there; to be closed. Writes
 * where it is, as HOST:PORT. */
int wr_silence_open(char out_target[WR_SILENCE_TARGET_SIZE]);

#endif
