/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shown.h"
#include "rules/duration.h"
#include "simulate/trace_time.h"

/* In pixels; WIDTH is about that of a page's text. */
#define WIDTH 900
#define LEFT 75
#define RIGHT 20
#define HEAD 75
#define FOOT 65
#define PANEL 90
#define GAP 60
#define BAR 3 /* the least height: few hits in a slice are seen beside many in another */

/* ---- What is shown ---- */

static double seconds(int64_t us)
{
    return (double) us / 1e6;
}

static void put_texts(const struct wr_sim_row *row, struct wr_plot_panel *panel)
{
    char length[WR_DURATION_TEXT_SIZE], date[WR_TRACE_TIME_TEXT_SIZE];

    wr_duration_write(row->against.per_us, length);
    (void) snprintf(panel->title, sizeof panel->title,
                    "%.60s: at most %.2f × %" PRIu64 " in any %s", row->rule,
                    wr_sim_row_ratio(row, &row->trailing), row->against.hits, length);
    wr_trace_time_write(row->origin_us, date);
    (void) snprintf(panel->x_label, sizeof panel->x_label, "seconds%s%s",
                    row->is_dated ? " from " : "", row->is_dated ? date : "");
}

static void sum_slices(const struct wr_passed_list *passed, int64_t length_us,
                       struct wr_plot_panel *panel)
{
    uint64_t trailing = 0;
    size_t first = 0, next = 0;

    for (int64_t i = 0; i < WR_PLOT_SLICES; i++) {
        const int64_t end_us = (i + 1) * panel->slice_us;

        for (; next < passed->n && passed->items[next].at_us < end_us; next++) {
            panel->admitted[i] += passed->items[next].hits;
        }
        trailing += panel->admitted[i];
        for (; first < next && passed->items[first].at_us < end_us - length_us; first++) {
            trailing -= passed->items[first].hits;
        }
        panel->trailing[i] = trailing;
    }
}

static void find_ends(const struct wr_sim_windows *windows, int64_t origin_us,
                      struct wr_plot_panel *panel)
{
    int64_t at_us = wr_sim_windows_next(windows, origin_us + 1) - origin_us;

    while (at_us < panel->duration_us && windows->length_us > 4 * panel->slice_us &&
           panel->n_ends < WR_PLOT_ENDS_MAX) {
        panel->ends_us[panel->n_ends++] = at_us;
        at_us = wr_sim_windows_next(windows, origin_us + at_us + 1) - origin_us;
    }
}

struct wr_plot_panel wr_plot_panel_of(const struct wr_sim_row *row,
                                      const struct wr_sim_windows *windows,
                                      const struct wr_played *played)
{
    struct wr_plot_panel panel = {
        .slice_us = (played->duration_us + WR_PLOT_SLICES - 1) / WR_PLOT_SLICES,
        .duration_us = played->duration_us,
        .limit = row->against.hits,
        .most = row->trailing.hits,
    };

    put_texts(row, &panel);
    sum_slices(&played->passed, row->against.per_us, &panel);
    find_ends(windows, played->origin_us, &panel);
    return panel;
}

/* ---- What gnuplot is told ---- */

static const char *terminal_of(const char *path)
{
    const char *const dot = strrchr(path, '.');

    if (dot != NULL && strcmp(dot, ".svg") == 0) {
        return "svg";
    }
    return dot != NULL && strcmp(dot, ".png") == 0 ? "pngcairo" : NULL;
}

bool wr_sim_can_plot(const char *path)
{
    return terminal_of(path) != NULL;
}

/* In gnuplot's single quotes a quote is written twice; what would end the line is left out. */
static void put_quoted(FILE *out, const char *text)
{
    (void) fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void) fputc('\'', out);
        }
        (void) fputc((unsigned char) *text < ' ' ? '?' : *text, out);
    }
    (void) fputc('\'', out);
}

/* Bars, at the slices' middles and no lower than `least`; those of nothing are left out. */
static void put_admitted(FILE *out, const struct wr_plot_panel *panel, double least)
{
    fprintf(out, "$admitted << END\n0 0\n");
    for (int64_t i = 0; i < WR_PLOT_SLICES; i++) {
        if (panel->admitted[i] > 0) {
            fprintf(out, "%.6f %.3f\n", seconds(i * panel->slice_us + panel->slice_us / 2),
                    fmax((double) panel->admitted[i], least));
        }
    }
    fprintf(out, "END\n");
}

/* Steps, at the slices' ends: where the value changes, and the last. */
static void put_trailing(FILE *out, const struct wr_plot_panel *panel)
{
    fprintf(out, "$trailing << END\n0 0\n");
    for (int64_t i = 0; i < WR_PLOT_SLICES; i++) {
        if (panel->trailing[i] != (i == 0 ? 0 : panel->trailing[i - 1]) ||
            i == WR_PLOT_SLICES - 1) {
            fprintf(out, "%.6f %" PRIu64 "\n", seconds((i + 1) * panel->slice_us),
                    panel->trailing[i]);
        }
    }
    fprintf(out, "END\n");
}

/* The panel is `height` hits high. */
static void put_panel(FILE *out, const struct wr_plot_panel *panel, double height)
{
    static const char line[] = "nohead back dt %d lc rgb '#8a8a8a'\n";

    put_admitted(out, panel, height * BAR / PANEL);
    put_trailing(out, panel);
    fprintf(out, "unset arrow\n");
    for (size_t i = 0; i < panel->n_ends; i++) {
        fprintf(out, "set arrow from %.6f, graph 0 to %.6f, graph 1 ", seconds(panel->ends_us[i]),
                seconds(panel->ends_us[i]));
        fprintf(out, line, 2);
    }
    fprintf(out, "set arrow from graph 0, first %" PRIu64 " to graph 1, first %" PRIu64 " ",
            panel->limit, panel->limit);
    fprintf(out, line, 3);
    fprintf(out, "set xrange [0:%.6f]\nset boxwidth %.6f\nset title ", seconds(panel->duration_us),
            seconds(panel->slice_us));
    put_quoted(out, panel->title);
    fprintf(out, "\nplot $admitted with boxes fs solid noborder lc rgb '#2a6f97' notitle, "
                 "$trailing with steps lw 2 lc rgb '#d1661a' notitle\n");
}

/* One scale for all panels, so that they can be compared. */
static uint64_t highest(const struct wr_plot_panel *panels, size_t n)
{
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++) {
        most = panels[i].most > most ? panels[i].most : most;
        most = panels[i].limit > most ? panels[i].limit : most;
    }
    return most;
}

/* The background is white, not left open, so that the picture can be read on a dark page. */
static void put_page(FILE *out, const char *path, size_t n)
{
    const int height = HEAD + (int) n * (PANEL + GAP) - GAP + FOOT;

    fprintf(out,
            "set terminal %s noenhanced font ',13' background '#ffffff' size %d,%d\n"
            "set encoding utf8\nset output ",
            terminal_of(path), WIDTH, height);
    put_quoted(out, path);
    fprintf(out,
            "\nset multiplot layout %zu,1 margins %.4f,%.4f,%.4f,%.4f spacing 0,%.4f title "
            "'hits let through: in each slice of time (bars, at least %d pixels high), in the "
            "trailing window (line)'\n",
            n, LEFT / (double) WIDTH, 1 - RIGHT / (double) WIDTH, FOOT / (double) height,
            1 - HEAD / (double) height, GAP / (double) height, BAR);
}

static void draw(FILE *out, const char *path, const struct wr_plot_panel *panels, size_t n)
{
    const uint64_t top = highest(panels, n);
    const double height = 1.1 * (double) top;

    put_page(out, path, n);
    fprintf(out, "set tics nomirror\nset border 3\nset yrange [0:%.3f]\nset title offset 0,-0.6\n",
            height);
    for (size_t i = 0; i < n; i++) {
        if (panels[i].limit > 0 && top / panels[i].limit <= 5) {
            fprintf(out, "set ytics %" PRIu64 "\n", panels[i].limit);
        } else {
            fprintf(out, "set ytics autofreq\n");
        }
        if (i + 1 == n) {
            fprintf(out, "set xlabel '%s'\n", panels[i].x_label);
        }
        put_panel(out, &panels[i], height);
    }
    fprintf(out, "unset multiplot\n");
}

/* ---- gnuplot ---- */

/* Its exit code, as of waitpid; -1 when it could not be started or took not all that it was told.
 * It may end before: then writing fails, and the process is not ended by it. */
static int run_gnuplot(const char *path, const struct wr_plot_panel *panels, size_t n)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    FILE *const gnuplot = popen("gnuplot", "w");

    if (gnuplot == NULL) {
        return -1;
    }
    (void) sigaction(SIGPIPE, &ignore, &before);

    draw(gnuplot, path, panels, n);

    const bool is_told = fflush(gnuplot) == 0;
    const int status = pclose(gnuplot);

    (void) sigaction(SIGPIPE, &before, NULL);
    return is_told || status != 0 ? status : -1;
}

/* gnuplot would go on without its output, and write to that of the process. */
static bool can_write(const char *path)
{
    FILE *const file = fopen(path, "ab");

    return file != NULL && fclose(file) == 0;
}

enum wr_err wr_sim_plot(const char *path, const struct wr_plot_panel *panels, size_t n, FILE *err)
{
    if (!can_write(path)) {
        wr_shown_printf(err, "weir simulate: --plot %s: %s\n", path, strerror(errno));
        return WR_ERR_IO;
    }

    const int status = run_gnuplot(path, panels, n);

    if (status != 0) {
        wr_shown_printf(err, "weir simulate: --plot %s: gnuplot did not draw it%s\n", path,
                        status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127
                            ? "; is it installed (gnuplot-nox)?"
                            : "");
    }
    return status == 0 ? WR_OK : WR_ERR_SYSTEM;
}
