/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of take/ as the build puts it into the program.
 *
 * Threads: immutable.
 */
#ifndef WR_STORE_REDIS_TAKE_H
#define WR_STORE_REDIS_TAKE_H

#include <stddef.h>

/* In hexadecimal, as EVALSHA wants it. */
extern const char wr_redis_take_sha1[41];

/* The SCRIPT LOAD command as RESP. */
extern const char wr_redis_take_load[];
extern const size_t wr_redis_take_load_len;

#endif
