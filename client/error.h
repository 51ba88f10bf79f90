/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a struct weir_error: a code, and one sentence of bounded length. The parts may come from a
 * server, so what acts on a terminal is replaced and a text too long ends in "...".
 *
 * Threads: pure functions on the caller's storage.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include "weir/client.h"

#if defined(__GNUC__)
#define WEIR_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define WEIR_PRINTF(at, first)
#endif

/* Sets `error` (NULL is fine) and returns `code`. */
WEIR_PRINTF(3, 4)
enum weir_err weir_error_set(struct weir_error *error, enum weir_err code, const char *format, ...);

/* WEIR_OK and no text. */
void weir_error_clear(struct weir_error *error);

#endif
