/* SPDX-License-Identifier: Apache-2.0 */
/* The only part that knows jansson. */
#include "bench/report.h"
#include "output.h"

#include <jansson.h>

static const char *outcome_name(enum weir_outcome outcome)
{
    static const char *const names[] = {
        [WEIR_NO_ANSWER] = "no_answer",
        [WEIR_ADMITTED] = "admitted",
        [WEIR_REFUSED] = "refused",
    };

    return names[outcome];
}

/* Null for a text that JSON cannot hold: a server's name may be no UTF-8. */
static json_t *text_or_null(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);

    return value != NULL ? value : json_null();
}

static json_t *limit_value(const struct weir_status *status)
{
    if (!status->has_limit) {
        return json_null();
    }

    const struct weir_limit *limit = &status->limit;
    const bool has_name = limit->name_len > 0 && limit->name_len <= WEIR_NAME_MAX;

    return json_pack("{s:I, s:s, s:o}", "requests", (json_int_t) limit->requests, "unit",
                     weir_unit_name(limit->unit), "name",
                     has_name ? text_or_null(limit->name, limit->name_len) : json_null());
}

static json_t *status_value(const struct weir_status *status)
{
    const int64_t reset_ms = status->reset_us / 1000 + (status->reset_us % 1000 != 0 ? 1 : 0);

    return json_pack("{s:s, s:o, s:I, s:o}", "code", weir_code_name(status->code), "limit",
                     limit_value(status), "remaining", (json_int_t) status->remaining, "reset_ms",
                     status->has_reset ? json_integer(reset_ms) : json_null());
}

static json_t *statuses_value(const struct weir_result *result)
{
    json_t *array = json_array();

    for (size_t i = 0; i < result->status_count; i++) {
        if (json_array_append_new(array, status_value(&result->statuses[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *error_value(const struct weir_error *error)
{
    if (error->code == WEIR_OK) {
        return json_null();
    }
    return json_pack("{s:s, s:o}", "code", weir_err_name(error->code), "text",
                     text_or_null(error->text, strlen(error->text)));
}

/* Takes the value; NULL, from a lack of memory, is a failure. */
static bool print_line(FILE *stream, json_t *value)
{
    const bool ok =
        value != NULL && json_dumpf(value, stream, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;

    json_decref(value);
    fputc('\n', stream);
    return ok;
}

bool weirctl_json_result(FILE *stream, const struct weir_result *result)
{
    const char *code = weir_code_name(result->overall_code);

    return print_line(stream,
                      json_pack("{s:s, s:s, s:I, s:o, s:o}", "outcome",
                                outcome_name(result->outcome), "code", code, "retry_after_ms",
                                (json_int_t) result->retry_after_ms, "statuses",
                                statuses_value(result), "error", error_value(&result->error)));
}

bool weirctl_json_health(FILE *stream, const char *service, enum weir_health health)
{
    return print_line(stream, json_pack("{s:o, s:s, s:n}", "service",
                                        text_or_null(service, strlen(service)), "status",
                                        weir_health_name(health), "error"));
}

bool weirctl_json_health_error(FILE *stream, const char *service, const struct weir_error *error)
{
    return print_line(stream, json_pack("{s:o, s:n, s:o}", "service",
                                        text_or_null(service, strlen(service)), "status", "error",
                                        error_value(error)));
}

/* Microseconds, rounded up; false when out of memory. */
static bool put_time(json_t *object, const char *name, uint64_t ns)
{
    return json_object_set_new(object, name, json_integer((json_int_t) ((ns + 999) / 1000))) == 0;
}

/* NULL in place of a value that is not. */
static json_t *whole(json_t *value, bool is_whole)
{
    if (!is_whole) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *latency_value(const struct weirctl_histogram *latency_ns)
{
    if (latency_ns->count == 0) {
        return json_null();
    }

    json_t *value = json_object();
    bool ok = true;

#define PUT_LATENCY(name, ns, per_100k) ok = ok && put_time(value, name, ns);
    WEIRCTL_LATENCIES(PUT_LATENCY, latency_ns)
#undef PUT_LATENCY
    return whole(value, ok);
}

/* The names of those that are only lower bounds. */
static json_t *at_least_value(const struct weirctl_histogram *latency_ns)
{
    json_t *array = json_array();
    bool ok = true;

#define PUT_NAME(name, ns, per_100k)                                                               \
    if (weirctl_histogram_is_at_least(latency_ns, per_100k)) {                                     \
        ok = ok && json_array_append_new(array, json_string(name)) == 0;                           \
    }
    WEIRCTL_LATENCIES(PUT_NAME, latency_ns)
#undef PUT_NAME
    return whole(array, ok);
}

bool weirctl_json_bench(FILE *stream, const struct weirctl_load_plan *plan,
                        const struct weirctl_load_report *report)
{
    return print_line(
        stream,
        json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
                  "loop", plan->rate > 0 ? "open" : "closed", "rate",
                  plan->rate > 0 ? json_integer(plan->rate) : json_null(), "connections",
                  (json_int_t) plan->connections, "in_flight", (json_int_t) plan->in_flight, "keys",
                  (json_int_t) plan->keys, "sent", (json_int_t) report->sent, "unsent",
                  (json_int_t) report->unsent, "admitted", (json_int_t) report->admitted, "refused",
                  (json_int_t) report->refused, "failed", (json_int_t) report->failed, "elapsed_us",
                  (json_int_t) (report->elapsed_ns / 1000), "per_second",
                  (json_int_t) weirctl_report_rate(report), "latency_us",
                  latency_value(&report->latency_ns), "at_least",
                  at_least_value(&report->latency_ns), "error", error_value(&report->complaint)));
}
