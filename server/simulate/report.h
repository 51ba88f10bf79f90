/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulation came to, for people and for programs.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_REPORT_H
#define WR_SIMULATE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "simulate/player.h"
#include "simulate/worst.h"

/* A moment is so small a part of a window. */
#define WR_SIM_MOMENTS 100

struct wr_sim_row {
    const char *rule;       /* its file, in short; borrowed, as the next */
    const char *plays;      /* what was asked, and the limits that it met */
    struct wr_rate against; /* the limit and window that are measured against */
    int64_t origin_us, duration_us;
    bool is_dated; /* of a trace with dates */
    uint64_t n_admitted, n_refused;
    struct wr_worst trailing; /* the most in any trailing window */
    struct wr_worst moment;   /* the most in any hundredth of one */
};

/* The row of one play. */
struct wr_sim_row wr_sim_row_of(const char *rule, const char *plays, const struct wr_rate *against,
                                const struct wr_played *played);

/* How many times the limit that is. */
double wr_sim_row_ratio(const struct wr_sim_row *row, const struct wr_worst *worst);

void wr_sim_print_table(const struct wr_sim_row *rows, size_t n, FILE *out);

/* An array of objects; `load` is as written. False when memory is out or `out` takes no more. */
bool wr_sim_print_json(const struct wr_sim_row *rows, size_t n, const char *load, FILE *out);

#endif
