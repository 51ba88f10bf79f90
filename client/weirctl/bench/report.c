/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>

#define BAR_WIDTH 24

uint64_t weirctl_report_rate(const struct weirctl_load_report *report)
{
    const uint64_t answers = report->admitted + report->refused + report->failed;
    const uint64_t elapsed_us = report->elapsed_ns / 1000;

    return elapsed_us > 0 ? answers * 1000000 / elapsed_us : 0;
}

unsigned int weirctl_report_done(const struct weirctl_load_plan *plan,
                                 const struct weirctl_load_report *report)
{
    uint64_t done = report->elapsed_ns / (plan->duration_ns / 1000);

    if (plan->requests >= 1) {
        const uint64_t answers = report->admitted + report->refused + report->failed;
        const uint64_t by_count = answers * 1000 / plan->requests;

        done = by_count > done ? by_count : done;
    }
    return done < 1000 ? (unsigned int) done : 1000;
}

void weirctl_report_progress(FILE *stream, const struct weirctl_load_plan *plan,
                             const struct weirctl_load_report *report)
{
    const unsigned int done = weirctl_report_done(plan, report);
    char bar[BAR_WIDTH + 1];

    for (unsigned int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i * 1000 < done * BAR_WIDTH ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    fprintf(stream, "\r[%s] %3u%%  %" PRIu64 "/s  %" PRIu64 " answers, %" PRIu64 " failed\x1b[K",
            bar, done / 10, weirctl_report_rate(report),
            report->admitted + report->refused + report->failed, report->failed);
    fflush(stream);
}

/* A time in the unit that suits it, of three digits or more. */
static void print_time(FILE *stream, const char *name, uint64_t ns, bool is_at_least)
{
    const uint64_t us = (ns + 999) / 1000;
    const bool is_short = us < 10000;
    char text[32];

    snprintf(text, sizeof text, "%s%" PRIu64, is_at_least ? ">=" : "",
             is_short ? us : (us + 999) / 1000);
    fprintf(stream, "  %-6s %8s %s\n", name, text, is_short ? "us" : "ms");
}

static void print_latency(FILE *stream, const struct weirctl_histogram *latency_ns, bool is_open)
{
    const bool has_bounds = weirctl_histogram_is_at_least(latency_ns, 100000);

    fprintf(stream, "\nLatency, from %s:\n", is_open ? "when each was due" : "when each was sent");
#define PRINT_LATENCY(name, ns, per_100k)                                                          \
    print_time(stream, name, ns, weirctl_histogram_is_at_least(latency_ns, per_100k));
    WEIRCTL_LATENCIES(PRINT_LATENCY, latency_ns)
#undef PRINT_LATENCY
    if (has_bounds) {
        fputs(">= at least: what had no answer counts with the time it had waited\n", stream);
    }
}

void weirctl_report_print(FILE *stream, const struct weirctl_load_plan *plan,
                          const struct weirctl_load_report *report)
{
    const uint64_t elapsed_ms = report->elapsed_ns / 1000000;

    if (plan->rate > 0) {
        fprintf(stream, "Open loop, %" PRIu32 " checks a second", plan->rate);
    } else {
        fputs("Closed loop", stream);
    }
    fprintf(stream, ", %" PRIu32 " connections with up to %" PRIu32 " in flight each\n\n",
            plan->connections, plan->in_flight);
    fprintf(stream,
            "%" PRIu64 " checks in %" PRIu64 ".%03" PRIu64 " s: %" PRIu64 " a second\n"
            "  admitted %" PRIu64 "\n  refused  %" PRIu64 "\n  failed   %" PRIu64 "\n",
            report->sent, elapsed_ms / 1000, elapsed_ms % 1000, weirctl_report_rate(report),
            report->admitted, report->refused, report->failed);
    if (report->unsent > 0) {
        fprintf(stream,
                "  unsent   %" PRIu64 "  (all in flight was taken until their time was up)\n",
                report->unsent);
    }
    if (report->latency_ns.count > 0) {
        print_latency(stream, &report->latency_ns, plan->rate > 0);
    }
}
