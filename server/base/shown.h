/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that others wrote, as it may be shown to people: on a terminal, in the log, in what goes
 * back to a control plane. What acts on a terminal or on the order of letters (control characters
 * of both kinds, separators of lines, marks of direction) and what is no UTF-8 becomes '?'.
 *
 * Threads: pure functions.
 */
#ifndef WR_BASE_SHOWN_H
#define WR_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/str.h"

/* Writes `text` to `out`, as many whole characters as `room` bytes hold, and returns how many bytes
 * these are, never more than the text has. Nothing is terminated. `out` may be the text itself. */
size_t wr_shown_write(struct wr_str text, char *out, size_t room);

/* True when nothing of `text` is replaced. */
bool wr_shown_is_whole(struct wr_str text);

/* All of `text`. */
void wr_shown_print(struct wr_str text, FILE *out);

/* printf for one line with foreign texts in it: what they bring ends no line, only the last
 * character may. A longer line than 2 KiB is cut. */
void wr_shown_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
