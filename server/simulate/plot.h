/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of what was let through, slice by slice and in the trailing window, with the ends of
 * windows and the limit: drawn by gnuplot.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_PLOT_H
#define WR_SIMULATE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "simulate/play.h"

/* One of the panels, which stand one below the other. */
struct wr_plot_panel {
    const char *title;
    const struct wr_played *played;
    int64_t length_us; /* of the window that is measured in */
    uint64_t limit;
};

/* Draws to `path`, whose ending, .svg or .png, chooses. False after a message to `err`. */
bool wr_sim_plot(const char *path, const struct wr_plot_panel *panels, size_t n, FILE *err);

#endif
