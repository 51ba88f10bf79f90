/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of `weir simulate`.
 *
 * Threads: main.
 */
#ifndef WR_SIMULATE_ARGS_H
#define WR_SIMULATE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "simulate/load_spec.h"

#define WR_SIM_RULES_MAX 16

struct wr_sim_args {
    const char *rules[WR_SIM_RULES_MAX]; /* files; texts are of the command line */
    size_t n_rules;
    const char *descriptor; /* NULL: what meets the first limit of each file */
    const char *load;       /* as written */
    struct wr_load_spec spec;
    struct wr_rate against; /* 0: the rule's own */
    const char *plot;       /* a file; NULL: none */
    bool is_json, wants_help;
};

/* Reads what begins with the word simulate. False after a message to `err`. */
bool wr_sim_args_parse(struct wr_sim_args *args, int argc, char **argv, FILE *err);

void wr_sim_args_help(FILE *out);

#endif
