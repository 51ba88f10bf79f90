/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of a limit that lets less through than its number says, of traffic that comes evenly and
 * just as fast: what counts in whole microseconds rounds them up, and sliding kinds do not know
 * when within a window, or a bucket, a hit was. Private to limit_check.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_LOSS_CHECK_H
#define WR_RULES_LOSS_CHECK_H

#include "rules/limit_pass.h"

void wr_loss_check(const struct wr_limit_pass *pass);

#endif
