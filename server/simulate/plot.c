/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/plot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SLICES 240
#define PANEL_HEIGHT 150
#define FOOT_HEIGHT 60
#define WIDTH 900

static double seconds(int64_t us)
{
    return (double) us / 1e6;
}

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

/* Admitted in each slice, as boxes. */
static void put_slices(FILE *out, const struct wr_played *played, int64_t slice_us)
{
    uint64_t sums[SLICES] = {0};

    for (size_t i = 0; i < played->passed.n; i++) {
        sums[played->passed.items[i].at_us / slice_us] += played->passed.items[i].hits;
    }
    for (int64_t i = 0; i < SLICES; i++) {
        fprintf(out, "%.6f %" PRIu64 "\n", seconds(i * slice_us + slice_us / 2), sums[i]);
    }
    fprintf(out, "e\n");
}

/* Admitted in the window that ends with each slice, as a line. */
static void put_trailing(FILE *out, const struct wr_plot_panel *panel, int64_t slice_us)
{
    const struct wr_passed_list *const passed = &panel->played->passed;
    uint64_t sum = 0;
    size_t first = 0, next = 0;

    for (int64_t i = 1; i <= SLICES; i++) {
        const int64_t end_us = i * slice_us;

        for (; next < passed->n && passed->items[next].at_us < end_us; next++) {
            sum += passed->items[next].hits;
        }
        for (; first < next && passed->items[first].at_us < end_us - panel->length_us; first++) {
            sum -= passed->items[first].hits;
        }
        fprintf(out, "%.6f %" PRIu64 "\n", seconds(end_us), sum);
    }
    fprintf(out, "e\n");
}

/* Windows of a few slices would be a wall of lines. */
static void put_windows(FILE *out, const struct wr_plot_panel *panel, int64_t slice_us)
{
    fprintf(out, "unset arrow\n");
    for (int64_t at_us = panel->length_us;
         at_us < panel->played->duration_us && panel->length_us > 4 * slice_us;
         at_us += panel->length_us) {
        fprintf(out,
                "set arrow from %.6f, graph 0 to %.6f, graph 1 nohead back dt 2 lc rgb '#999999'\n",
                seconds(at_us), seconds(at_us));
    }
    fprintf(out,
            "set arrow from graph 0, first %" PRIu64 " to graph 1, first %" PRIu64
            " nohead back dt 3 lc rgb '#999999'\n",
            panel->limit, panel->limit);
}

static void put_panel(FILE *out, const struct wr_plot_panel *panel)
{
    const int64_t slice_us = (panel->played->duration_us + SLICES - 1) / SLICES;

    put_windows(out, panel, slice_us);
    fprintf(out, "set xrange [0:%.6f]\nset boxwidth %.6f\nset title ",
            seconds(panel->played->duration_us), seconds(slice_us));
    put_quoted(out, panel->title);
    fprintf(out, "\nplot '-' using 1:2 with boxes fs solid lc rgb '#2a6f97' notitle, "
                 "'-' using 1:2 with steps lw 2 lc rgb '#e07a1f' notitle\n");
    put_slices(out, panel->played, slice_us);
    put_trailing(out, panel, slice_us);
}

/* One scale for all panels, so that they can be compared. */
static uint64_t highest(const struct wr_plot_panel *panels, size_t n)
{
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++) {
        const uint64_t worst = wr_passed_worst(&panels[i].played->passed, panels[i].length_us).hits;

        most = worst > most ? worst : most;
        most = panels[i].limit > most ? panels[i].limit : most;
    }
    return most;
}

static bool draw(FILE *out, const char *path, const struct wr_plot_panel *panels, size_t n)
{
    fprintf(out, "set terminal %s size %d,%d\nset output ", terminal_of(path), WIDTH,
            (int) n * PANEL_HEIGHT + FOOT_HEIGHT);
    put_quoted(out, path);
    fprintf(out,
            "\nset multiplot layout %zu,1 title 'admitted: in each slice of time (bars), "
            "in the trailing window (line)'\n"
            "set tics nomirror\nset border 3\nset lmargin 10\nset rmargin 3\n"
            "set yrange [0:%.3f]\nset ytics %" PRIu64 "\nset title offset 0,-0.7\n",
            n, 1.1 * (double) highest(panels, n), panels[0].limit > 0 ? panels[0].limit : 1);
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
