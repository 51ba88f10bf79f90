/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor as a person writes it, in the way of `weirctl check`: KEY=VALUE[,KEY=VALUE…]. A
 * backslash before a comma, a = or a backslash makes it part of the text.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_DESCRIPTOR_H
#define WR_SIMULATE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "rules/entry.h"

/* Reads `text` into `entries`, which has room for `max`; texts go to `arena`. Their number; 0 when
 * `text` is no descriptor of up to `max` entries, or memory is out. */
size_t wr_sim_descriptor_parse(const char *text, struct wr_arena *arena, struct wr_entry *entries,
                               size_t max);

/* Writes it without escapes; texts are shown as base/shown.h does. */
void wr_sim_descriptor_write(const struct wr_entry *entries, size_t n, FILE *out);

#endif
