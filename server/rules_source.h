/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the rules come from, by the options: --rules, the incumbent's RUNTIME_* variables, or a
 * control plane, which has no paths.
 *
 * Threads: filled by main, then immutable.
 */
#ifndef WR_RULES_SOURCE_H
#define WR_RULES_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "rules/load.h"

struct wr_rules_source {
    char runtime_path[4096];     /* of the RUNTIME_* variables */
    const char *runtime_item;    /* points to it */
    bool may_be_absent;          /* is waited for instead of being an error */
    struct wr_load_options load; /* borrows from here and from the options */
};

/* Fills `*source`, which must stay in place. False after a message to `err`. */
bool wr_rules_source_init(struct wr_rules_source *source, const struct wr_options *options,
                          FILE *err);

/* The bounds and switches that the options hold; without paths. */
struct wr_load_options wr_load_options_of(const struct wr_options *options);

#endif
