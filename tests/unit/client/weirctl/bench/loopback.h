/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somewhere to connect to.
 *
 * Threads: any thread.
 */
#ifndef TESTS_UNIT_CLIENT_WEIRCTL_BENCH_LOOPBACK_H
#define TESTS_UNIT_CLIENT_WEIRCTL_BENCH_LOOPBACK_H

/* A socket of 127.0.0.1 that takes connections into its backlog, and leaves them there unless it is
 * told otherwise; to be closed. */
int loopback_listen(unsigned int *out_port);

#endif
