/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command written as RESP: an array of bulk strings.
 *
 * Threads: pure functions.
 */
#ifndef WR_STORE_REDIS_COMMAND_H
#define WR_STORE_REDIS_COMMAND_H

#include <stddef.h>

#include "base/str.h"

/* Bytes of the command of these `n` words. */
size_t wr_redis_command_size(const struct wr_str *words, size_t n);

/* Writes it to `out`, wr_redis_command_size bytes of room; returns how many. `*out_at`, unless it
 * is NULL, gets for each word where its text begins in `out`. */
size_t wr_redis_command_write(const struct wr_str *words, size_t n, char *out, size_t *out_at);

#endif
