/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot from YAML text, for tests: the text must be good.
 *
 * Threads: any thread.
 */
#ifndef WR_TESTS_SUPPORT_RULES_TEXT_H
#define WR_TESTS_SUPPORT_RULES_TEXT_H

#include "rules/rules.h"

/* One reference, the caller's. Aborts with the notes when the text is refused. */
struct wr_rules *wr_rules_of_text(const char *yaml);

#endif
