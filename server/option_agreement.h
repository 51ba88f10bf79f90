/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How options go together, which no single row of the table can tell.
 *
 * Threads: pure functions, but for what they write.
 */
#ifndef WR_OPTION_AGREEMENT_H
#define WR_OPTION_AGREEMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

/* False after a message to `err` when a server cannot be started with all of them. */
bool wr_options_agree(const struct wr_options *options, FILE *err);

/* Names those that differ from `defaults` and have no effect beside the others: who gives them
 * expects one. */
void wr_options_warn_of_unused(const struct wr_options *options, const struct wr_options *defaults,
                               FILE *err);

/* Whether counters that are to be charged as one may lie apart: in a cluster, under names that have
 * no common slot. */
bool wr_options_keep_groups_apart(const struct wr_options *options);

/* Warns where that takes the meaning of an option. */
void wr_options_warn_of_parts(const struct wr_options *options, FILE *err);

#endif
