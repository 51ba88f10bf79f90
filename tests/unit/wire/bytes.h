/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of tests, written in hexadecimal; each in memory of just its size, so that the
 * sanitizer sees a read beyond it.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_UNIT_WIRE_BYTES_H
#define WR_TESTS_UNIT_WIRE_BYTES_H

#include "base/str.h"

/* The bytes of `hex`, in which spaces mean nothing; free with bytes_free. */
struct wr_str bytes_of_hex(const char *hex);

/* A copy of `bytes`; free with bytes_free. */
struct wr_str bytes_copy(struct wr_str bytes);

void bytes_free(struct wr_str bytes);

/* Fails the running test unless `bytes` are those of `hex`. */
void bytes_expect(struct wr_str bytes, const char *hex);

#endif
