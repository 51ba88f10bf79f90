/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that others wrote, as they may be shown on a terminal: what acts on it or on the order of
 * letters (control characters of both kinds, separators of lines, marks of direction) and what is
 * no UTF-8 is replaced.
 *
 * Threads: pure functions.
 */
#ifndef WEIR_SHOWN_H
#define WEIR_SHOWN_H

#include "weir/client.h"

/* How many bytes at the start of `text`, which is not empty, are one character; `*out_is_shown`
 * tells whether it may be shown. */
size_t weir_shown_first(struct weir_str text, bool *out_is_shown);

#endif
