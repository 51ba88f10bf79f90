/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of some names a misspelt one was probably meant to be. Case, '_' and '-' do not count; of
 * the rest a third of the letters may differ.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_NEAR_H
#define WR_RULES_NEAR_H

#include <stddef.h>

#include "base/str.h"

#define WR_NEAR_HINT_SIZE 64

/* The place of the nearest of `n` names; `n` when none is near. */
size_t wr_near_place(const struct wr_str *names, size_t n, struct wr_str name);

/* What to tell who wrote `name` in place of one of `list`, which reads "one of a, b, c", perhaps
 * with more behind a ';': "did you mean `a`?", which is put into `hint`, or the list. */
const char *wr_near_hint(struct wr_str name, const char *list, char hint[WR_NEAR_HINT_SIZE]);

#endif
