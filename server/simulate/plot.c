/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/plot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SLICES 240
#define PANEL_HEIGHT 150
#define FOOT_HEIGHT 40
#define WIDTH 900
#define US_PER_SECOND 1e6

static const char *terminal_of(const char *path)
{
    const char *const dot = strrchr(path, '.');

    if (dot != NULL && strcmp(dot, ".svg") == 0) {
        return "svg";
    }
    return dot != NULL && strcmp(dot, ".png") == 0 ? "pngcairo" : NULL;
}

/* In gnuplot's single quotes a quote is written twice. */
static void put_quoted(FILE *out, const char *text)
{
    (void) fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void) fputc('\'', out);
        }
        (void) fputc(*text, out);
    }
    (void) fputc('\'', out);
}

static void put_slices(FILE *out, const struct wr_played *played)
{
    uint64_t sums[SLICES] = {0};
    const int64_t slice_us = (played->duration_us + SLICES - 1) / SLICES;

    for (size_t i = 0; i < played->passed.n; i++) {
        sums[played->passed.items[i].at_us / slice_us] += played->passed.items[i].hits;
    }
    for (size_t i = 0; i < SLICES; i++) {
        fprintf(out, "%.6f %llu\n", ((double) i + 0.5) * (double) slice_us / US_PER_SECOND,
                (unsigned long long) sums[i]);
    }
    fprintf(out, "e\n");
}

static void put_panel(FILE *out, const struct wr_plot_panel *panel)
{
    const double end_s = (double) panel->played->duration_us / US_PER_SECOND;
    const double length_s = (double) panel->length_us / US_PER_SECOND;
    const double slice_s = end_s / SLICES;

    fprintf(out, "unset arrow\nset xrange [0:%.6f]\nset title ", end_s);
    put_quoted(out, panel->title);
    (void) fputc('\n', out);
    /* Windows of a few slices would be a wall of lines. */
    for (double at_s = length_s; at_s < end_s && length_s > 4 * slice_s; at_s += length_s) {
        fprintf(out, "set arrow from %.6f, graph 0 to %.6f, graph 1 nohead dt 2 lc rgb '#888888'\n",
                at_s, at_s);
    }
    fprintf(out, "set boxwidth %.6f\n", slice_s);
    fprintf(out, "plot '-' using 1:2 with boxes fs solid lc rgb '#2a6f97' notitle\n");
    put_slices(out, panel->played);
}

static bool draw(FILE *out, const char *path, const struct wr_plot_panel *panels, size_t n)
{
    fprintf(out, "set terminal %s size %d,%d\nset output ", terminal_of(path), WIDTH,
            (int) n * PANEL_HEIGHT + FOOT_HEIGHT);
    put_quoted(out, path);
    fprintf(out,
            "\nset multiplot layout %zu,1\nset tics nomirror\nset border 3\n"
            "set yrange [0:*]\nset ylabel 'admitted'\nset title offset 0,-0.7\n",
            n);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n) {
            fprintf(out, "set xlabel 'seconds'\n");
        }
        put_panel(out, &panels[i]);
    }
    fprintf(out, "unset multiplot\n");
    return fflush(out) == 0;
}

bool wr_sim_plot(const char *path, const struct wr_plot_panel *panels, size_t n, FILE *err)
{
    if (terminal_of(path) == NULL) {
        fprintf(err, "weir simulate: --plot %s: the name must end with .svg or .png\n", path);
        return false;
    }

    FILE *const gnuplot = popen("gnuplot", "w");

    if (gnuplot == NULL) {
        fprintf(err, "weir simulate: --plot: gnuplot could not be started\n");
        return false;
    }

    const bool is_written = draw(gnuplot, path, panels, n);
    const int status = pclose(gnuplot);

    if (!is_written || status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(err, "weir simulate: --plot %s: gnuplot did not draw it%s\n", path,
                status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127
                    ? "; is it installed (gnuplot-nox)?"
                    : "");
        return false;
    }
    return true;
}
