/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "ask.h"
#include "bench/report.h"
#include "output.h"

#include <unistd.h>

#define TIMEOUT_DEFAULT_MS 1000
#define DURATION_DEFAULT_MS 10000
#define DURATION_MAX_MS 86400000 /* when the number of checks ends it */
#define IN_FLIGHT_DEFAULT 10

static struct weirctl_load_plan plan_of(const struct weirctl_args *args)
{
    const uint32_t duration_default = args->requests > 0 ? DURATION_MAX_MS : DURATION_DEFAULT_MS;
    const uint32_t duration_ms = args->duration_ms > 0 ? args->duration_ms : duration_default;

    return (struct weirctl_load_plan){
        .target = args->target,
        .keys = args->keys > 0 ? (uint32_t) args->keys : 1,
        .connections = args->connections > 0 ? (uint32_t) args->connections : 1,
        .in_flight = args->in_flight > 0 ? (uint32_t) args->in_flight : IN_FLIGHT_DEFAULT,
        .rate = (uint32_t) args->rate,
        .requests = args->requests,
        .duration_ns = (uint64_t) duration_ms * 1000000,
        .timeout_ms = args->timeout_ms > 0 ? args->timeout_ms : TIMEOUT_DEFAULT_MS,
    };
}

static void show_progress(void *arg, const struct weirctl_load_report *report)
{
    weirctl_report_progress(stderr, arg, report);
}

static int no_answer(const struct weir_error *error)
{
    fprintf(stderr, "weirctl: no answer: %s\n", error->text);
    return WEIRCTL_EXIT_NO_ANSWER;
}

static int print(const struct weirctl_args *args, const struct weirctl_load_plan *plan,
                 const struct weirctl_load_report *report)
{
    const uint64_t unanswered = report->failed + report->unsent;

    if (!args->json) {
        weirctl_report_print(stdout, plan, report);
    } else if (!weirctl_json_bench(stdout, plan, report)) {
        return WEIRCTL_EXIT_IO;
    }
    if (unanswered > 0) {
        fprintf(stderr, "weirctl: %llu checks had no answer: %s\n", (unsigned long long) unanswered,
                report->complaint.text);
    }
    return unanswered > 0 || report->sent == 0 ? WEIRCTL_EXIT_NO_ANSWER : WEIRCTL_EXIT_OK;
}

static int run(const struct weirctl_args *args, const struct weirctl_body *body)
{
    struct weirctl_load_plan plan = plan_of(args);
    static struct weirctl_load_report report; /* too large for a stack */
    struct weir_error error;

    plan.body = body;
    plan.arg = &plan;
    if (isatty(STDERR_FILENO) == 1) {
        plan.on_progress = show_progress;
    }

    const enum weir_err err = weirctl_load_run(&plan, &report, &error);

    if (plan.on_progress != NULL) {
        fputs("\r\x1b[K", stderr);
    }
    return err == WEIR_OK ? print(args, &plan, &report) : no_answer(&error);
}

int weirctl_bench(const struct weirctl_args *args)
{
    const struct weir_error no_memory = {WEIR_ERR_MEMORY, "out of memory"};
    struct weir_request request;
    struct weirctl_body body;

    weirctl_ask_build(args, &request);
    if (weirctl_body_init(&body, &request, args->keys > 0 ? (uint32_t) args->keys : 1) != WEIR_OK) {
        return no_answer(&no_memory);
    }

    const int status = run(args, &body);

    weirctl_body_fini(&body);
    return status;
}
