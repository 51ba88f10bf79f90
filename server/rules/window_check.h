/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the window of a limit makes sense: its length, and where it begins.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_WINDOW_CHECK_H
#define WR_RULES_WINDOW_CHECK_H

#include "rules/limit_pass.h"

void wr_window_check(const struct wr_limit_pass *pass);

#endif
