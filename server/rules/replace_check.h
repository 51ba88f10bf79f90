/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of `replaces` that do not do what they look like: names that no limit of the domain has,
 * limits on trial that take enforced ones away, and rings of limits that take each other away, so
 * that a request that meets all of them may be counted by none. Private to doubts.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_REPLACE_CHECK_H
#define WR_RULES_REPLACE_CHECK_H

#include <stdbool.h>

#include "rules/doubt_pass.h"

/* Looks at all limits of the domain. False when memory is out. */
bool wr_replace_check(const struct wr_doubt_pass *pass);

#endif
