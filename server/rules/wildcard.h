/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns in which each '*' stands for any text, also none. There is no escape: what holds no '*'
 * is no pattern.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_WILDCARD_H
#define WR_RULES_WILDCARD_H

#include <stdbool.h>

#include "base/str.h"

/* True when `text` holds a '*'. */
bool wr_wildcard_is(struct wr_str text);

/*
 * True when all of `text` fits `pattern`: it begins with what stands before the first '*', ends
 * with what stands behind the last, and holds what stands between them in order, nothing twice.
 * Without a '*' only the same text fits.
 */
bool wr_wildcard_match(struct wr_str pattern, struct wr_str text);

#endif
