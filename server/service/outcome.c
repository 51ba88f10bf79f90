/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of a decision: statuses, overall code, headers, metadata. */
#include "service/decision.h"

#include "service/distinct_rules.h"
#include "service/dynamic_metadata.h"
#include "service/headers.h"
#include "service/subject.h"

#include <inttypes.h>

#define UNLIMITED_REMAINING UINT32_MAX
#define US_PER_SECOND INT64_C(1000000)

/* Whole seconds, rounded up, for windows of a second and more: a client that waits as told must
 * never come early. */
static int64_t shown_reset_us(int64_t reset_us, int64_t length_us)
{
    if (length_us < US_PER_SECOND) {
        return reset_us;
    }
    return (reset_us + US_PER_SECOND - 1) / US_PER_SECOND * US_PER_SECOND;
}

static struct wr_descriptor_status decided_status(const struct wr_decision *decision,
                                                  const struct wr_subject *subject)
{
    const struct wr_verdict *const verdict = &subject->take->verdict;
    struct wr_descriptor_status status = {
        .code = verdict->over ? WR_CODE_OVER_LIMIT : WR_CODE_OK,
        .has_limit = true,
        .requests_per_unit = (uint32_t) subject->limit.requests,
        .unit = subject->unit,
        .limit_remaining = (uint32_t) verdict->remaining,
        .reset_us = shown_reset_us(verdict->reset_us, subject->limit.length_us),
    };

    if (subject->rule != NULL) {
        status.name = subject->rule->name;
    }
    if (verdict->over) {
        wr_metrics_add(decision->frame.metrics, WR_METRIC_DESCRIPTORS_OVER, 1);
        if (wr_subject_is_shadow(subject)) {
            wr_metrics_add(decision->frame.metrics, WR_METRIC_SHADOW_OVER, 1);
            status.code = WR_CODE_OK;
        }
    }
    return status;
}

/* A trial, of a rule or of the whole server, never blocks anybody, with or without a store. */
static struct wr_descriptor_status unanswered_status(const struct wr_decision *decision,
                                                     const struct wr_subject *subject)
{
    static const struct {
        enum wr_metric metric;
        enum wr_code code;
    } rows[] = {
        [WR_FAILURE_ERROR] = {WR_METRIC_FAILURE_ERROR, WR_CODE_UNKNOWN},
        [WR_FAILURE_ALLOW] = {WR_METRIC_FAILURE_ALLOW, WR_CODE_OK},
        [WR_FAILURE_DENY] = {WR_METRIC_FAILURE_DENY, WR_CODE_OVER_LIMIT},
    };
    const enum wr_failure_mode mode = decision->frame.settings->failure_mode;

    if (wr_subject_is_shadow(subject) || decision->frame.settings->has_shadow_mode) {
        wr_metrics_add(decision->frame.metrics, WR_METRIC_FAILURE_ALLOW, 1);
        return (struct wr_descriptor_status){.code = WR_CODE_OK};
    }
    wr_metrics_add(decision->frame.metrics, rows[mode].metric, 1);
    return (struct wr_descriptor_status){.code = rows[mode].code};
}

static struct wr_descriptor_status make_status(const struct wr_decision *decision,
                                               const struct wr_subject *subject)
{
    switch (subject->kind) {
    case WR_SUBJECT_UNLIMITED:
        return (struct wr_descriptor_status){.code = WR_CODE_OK,
                                             .limit_remaining = UNLIMITED_REMAINING};
    case WR_SUBJECT_LIMITED:
        return subject->take->answer == WR_TAKE_DECIDED ? decided_status(decision, subject)
                                                        : unanswered_status(decision, subject);
    case WR_SUBJECT_BARE:
    default:
        return (struct wr_descriptor_status){.code = WR_CODE_OK};
    }
}

/* What all statuses come to together. */
struct tally {
    size_t n_over;                            /* not quota */
    size_t n_quota;                           /* members of the quota group */
    size_t n_quota_over;                      /* those over */
    size_t n_unknown;                         /* without an answer, failure mode error */
    const struct wr_descriptor_status *shown; /* in the headers; NULL: none has a limit */
};

/* The fewest left, the first of equals; but the last that refuses stands above all. */
static void choose_shown(struct tally *tally, const struct wr_descriptor_status *status,
                         bool refuses)
{
    if (!status->has_limit) {
        return;
    }
    if (tally->shown == NULL || refuses ||
        status->limit_remaining < tally->shown->limit_remaining) {
        tally->shown = status;
    }
}

static struct tally count_up(const struct wr_decision *decision,
                             const struct wr_descriptor_status *statuses)
{
    struct tally tally = {0};

    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        const bool quota = wr_subject_is_quota(decision, &decision->subjects[i]);
        const bool over = statuses[i].code == WR_CODE_OVER_LIMIT;

        tally.n_over += over && !quota;
        tally.n_quota += quota;
        tally.n_quota_over += over && quota;
        tally.n_unknown += statuses[i].code == WR_CODE_UNKNOWN;
        choose_shown(&tally, &statuses[i], over && !quota);
    }
    return tally;
}

/* OVER_LIMIT when a regular one is over, or when there are quotas and all of them are. */
static bool is_over(const struct tally *tally)
{
    return tally->n_over > 0 || (tally->n_quota > 0 && tally->n_quota_over == tally->n_quota);
}

static enum wr_code judge(const struct wr_decision *decision, const struct tally *tally)
{
    if (!is_over(tally)) {
        return WR_CODE_OK;
    }
    if (decision->frame.settings->has_shadow_mode) {
        wr_metrics_add(decision->frame.metrics, WR_METRIC_GLOBAL_SHADOW, 1);
        return WR_CODE_OK;
    }
    return WR_CODE_OVER_LIMIT;
}

/* The rules whose descriptors passed, each once. False when memory is out. */
static bool passed_rules(const struct wr_decision *decision, const struct wr_response *response,
                         const struct wr_rule **out_rules, size_t *out_n)
{
    const size_t n = decision->request->n_descriptors;
    const struct wr_rule **const rules = wr_arena_calloc(decision->frame.arena, n, sizeof *rules);

    if (rules == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct wr_subject *const subject = &decision->subjects[i];

        if (subject->kind == WR_SUBJECT_LIMITED && response->statuses[i].code == WR_CODE_OK) {
            rules[i] = subject->rule;
        }
    }
    return wr_distinct_rules(decision->frame.arena, rules, n, out_rules, out_n);
}

static bool add_dynamic_metadata(struct wr_decision *decision, struct wr_response *response)
{
    struct wr_arena *const arena = decision->frame.arena;
    const size_t n = decision->request->n_descriptors;
    const struct wr_rule **const rules = wr_arena_calloc(arena, n, sizeof *rules);
    const struct wr_value **const passed = wr_arena_calloc(arena, n, sizeof *passed);
    size_t n_rules = 0, n_passed = 0;

    if (rules == NULL || passed == NULL || !passed_rules(decision, response, rules, &n_rules)) {
        return false;
    }
    for (size_t i = 0; i < n_rules; i++) {
        if (rules[i]->metadata != NULL) {
            passed[n_passed++] = rules[i]->metadata;
        }
    }
    return wr_dynamic_metadata_build(arena, decision->request, passed, n_passed,
                                     &response->dynamic_metadata);
}

/* Why the store gave no answer, for the caller and for the log. */
static struct wr_str reason_of(enum wr_take_answer answer)
{
    static const struct wr_str reasons[] = {
        [WR_TAKE_DECIDED] = WR_STR("the counter store answered"),
        [WR_TAKE_FULL] = WR_STR("the counter store is full: a new counter found --max-counters "
                                "live ones"),
        [WR_TAKE_NO_MEMORY] = WR_STR("the counter store found no memory for a new counter"),
        [WR_TAKE_TIMEOUT] = WR_STR("the counter store did not answer in time"),
        [WR_TAKE_AWAY] = WR_STR("the counter store cannot be reached, or refuses to work"),
        [WR_TAKE_LATE] = WR_STR("the counter store came to it too late, and counted nothing"),
    };

    return reasons[answer];
}

/* The first take without an answer; NULL when all have one. */
static const struct wr_take *first_unanswered(const struct wr_decision *decision)
{
    for (size_t i = 0; i < decision->batch.n_takes; i++) {
        if (decision->batch.takes[i].answer != WR_TAKE_DECIDED) {
            return &decision->batch.takes[i];
        }
    }
    return NULL;
}

/* Once a second at most: a full store would fill the log as well. */
static void log_unanswered(const struct wr_decision *decision, const struct wr_take *take)
{
    static const char *const modes[] = {
        [WR_FAILURE_ERROR] = "error", [WR_FAILURE_ALLOW] = "allow", [WR_FAILURE_DENY] = "deny"};
    const struct wr_str reason = reason_of(take->answer);
    uint64_t skipped = 0;

    if (wr_log_limit_pass(decision->frame.store_line, decision->frame.now.mono_us, &skipped)) {
        wr_log(WR_LOG_WARN,
               "%.*s; failure mode %s decides (%" PRIu64 " more such calls since the last line)",
               (int) reason.len, reason.ptr, modes[decision->frame.settings->failure_mode],
               skipped);
    }
}

static enum wr_err fail_unanswered(const struct wr_take *take, struct wr_failure *out_failure)
{
    *out_failure = (struct wr_failure){
        .status = WR_STATUS_UNAVAILABLE,
        .message = reason_of(take->answer),
        .retry_us = WR_RETRY_US,
    };
    return WR_ERR_IO;
}

enum wr_err wr_decision_finish(struct wr_decision *decision, struct wr_response *out_response,
                               struct wr_failure *out_failure)
{
    const struct wr_settings *const settings = decision->frame.settings;
    const size_t n = decision->request->n_descriptors;
    struct wr_descriptor_status *const statuses =
        wr_arena_calloc(decision->frame.arena, n, sizeof *statuses);

    if (statuses == NULL) {
        return wr_fail_no_memory(out_failure);
    }
    for (size_t i = 0; i < n; i++) {
        statuses[i] = make_status(decision, &decision->subjects[i]);
    }

    const struct tally tally = count_up(decision, statuses);
    struct wr_response response = {
        .overall_code = judge(decision, &tally),
        .statuses = statuses,
        .n_statuses = n,
    };

    const struct wr_take *const unanswered = first_unanswered(decision);

    if (unanswered != NULL) {
        log_unanswered(decision, unanswered);
    }
    if (tally.n_unknown > 0 && !is_over(&tally)) {
        return fail_unanswered(unanswered, out_failure);
    }
    if (settings->has_response_headers && tally.shown != NULL &&
        !wr_headers_write(settings, tally.shown, decision->frame.arena, &response)) {
        return wr_fail_no_memory(out_failure);
    }
    if (settings->has_dynamic_metadata && !add_dynamic_metadata(decision, &response)) {
        return wr_fail_no_memory(out_failure);
    }
    *out_response = response;
    return WR_OK;
}
