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

#include "base/err.h"
#include "simulate/player.h"
#include "simulate/report.h"

#define WR_PLOT_SLICES 240

/* Lines at the ends of more windows would be a wall. */
#define WR_PLOT_ENDS_MAX 60

#define WR_PLOT_TEXT_SIZE 128

/* One of the panels, which stand one below the other. */
struct wr_plot_panel {
    char title[WR_PLOT_TEXT_SIZE], x_label[WR_PLOT_TEXT_SIZE];
    int64_t slice_us;
    int64_t duration_us;
    uint64_t admitted[WR_PLOT_SLICES]; /* in each slice */
    uint64_t trailing[WR_PLOT_SLICES]; /* in the window that ends with each */
    int64_t ends_us[WR_PLOT_ENDS_MAX]; /* of windows */
    size_t n_ends;
    uint64_t limit;
    uint64_t most; /* in any trailing window */
};

/* True when the ending of the name, .svg or .png, says what to draw. */
bool wr_sim_can_plot(const char *path);

/* The panel of one play and its row. */
struct wr_plot_panel wr_plot_panel_of(const struct wr_sim_row *row,
                                      const struct wr_sim_windows *windows,
                                      const struct wr_played *played);

/* Draws `n` > 0 panels to `path`. After a message to `err`: WR_ERR_IO when it cannot be written,
 * WR_ERR_SYSTEM when gnuplot is not there or fails. */
WR_MUST_USE enum wr_err wr_sim_plot(const char *path, const struct wr_plot_panel *panels, size_t n,
                                    FILE *err);

#endif
