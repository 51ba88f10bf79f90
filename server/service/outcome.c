/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of a decision: statuses, overall code, headers, metadata. */
#include "service/decision.h"

#include "service/distinct_rules.h"
#include "service/dynamic_metadata.h"
#include "service/headers.h"
#include "service/subject.h"
#include "service/unanswered.h"

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

/* Whether a decided layer is over: then the subject is. */
static bool is_over_any(const struct wr_subject *subject)
{
    for (size_t i = 0; i < subject->n_layers; i++) {
        const struct wr_layer *const layer = &subject->layers[i];

        if (wr_layer_is_decided(layer) && layer->take->verdict.over) {
            return true;
        }
    }
    return false;
}

/* How long until a hit passes. A layer that is not over but has nothing left refuses the next: it
 * was charged by the call that another one refused. */
static int64_t wait_for_hit(const struct wr_verdict *verdict)
{
    return verdict->remaining == 0 ? verdict->reset_us : 0;
}

/* Whether the verdict of `a` says more about its descriptor than that of `b`. When that is over:
 * the longer wait, whichever refused; the one that did, of equals. Else the fewer left. */
static bool tells_more(const struct wr_layer *a, const struct wr_layer *b, bool is_over)
{
    const struct wr_verdict *const x = &a->take->verdict, *const y = &b->take->verdict;

    if (!is_over) {
        return x->remaining < y->remaining;
    }

    const int64_t x_us = wait_for_hit(x), y_us = wait_for_hit(y);

    return x_us != y_us ? x_us > y_us : x->over && !y->over;
}

/* The layer that is shown of a subject of which one is decided. */
static const struct wr_layer *shown_layer(const struct wr_subject *subject, bool is_over)
{
    const struct wr_layer *shown = &subject->layers[0];

    for (size_t i = 1; i < subject->n_layers; i++) {
        const struct wr_layer *const layer = &subject->layers[i];

        if (wr_layer_is_decided(layer) &&
            (!wr_layer_is_decided(shown) || tells_more(layer, shown, is_over))) {
            shown = layer;
        }
    }
    return shown;
}

static struct wr_descriptor_status decided_status(const struct wr_decision *decision,
                                                  const struct wr_subject *subject)
{
    const bool is_over = is_over_any(subject);
    const struct wr_layer *const layer = shown_layer(subject, is_over);
    const struct wr_verdict *const verdict = &layer->take->verdict;
    struct wr_descriptor_status status = {
        .code = is_over ? WR_CODE_OVER_LIMIT : WR_CODE_OK,
        .has_limit = true,
        .requests_per_unit = (uint32_t) verdict->enforced, /* memory has a share */
        .unit = layer->unit,
        .limit_remaining = (uint32_t) verdict->remaining,
        .reset_us = shown_reset_us(verdict->reset_us, layer->limit.length_us),
    };

    if (layer->rule != NULL) {
        status.name = layer->rule->name.len > 0 ? layer->rule->name : layer->rule->window;
        status.window = layer->rule->window;
    }
    if (is_over) {
        wr_metrics_add(decision->frame.metrics, WR_METRIC_DESCRIPTORS_OVER, 1);
        if (wr_subject_is_shadow(subject)) {
            wr_metrics_add(decision->frame.metrics, WR_METRIC_SHADOW_OVER, 1);
            status.code = WR_CODE_OK;
        }
    }
    return status;
}

static struct wr_descriptor_status make_status(const struct wr_decision *decision,
                                               const struct wr_subject *subject)
{
    switch (subject->kind) {
    case WR_SUBJECT_UNLIMITED:
        return (struct wr_descriptor_status){.code = WR_CODE_OK,
                                             .limit_remaining = UNLIMITED_REMAINING};
    case WR_SUBJECT_LIMITED:
        wr_unanswered_count(decision, subject);
        return wr_subject_is_unanswered(decision, subject) ? wr_unanswered_status(decision, subject)
                                                           : decided_status(decision, subject);
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

static bool add_dynamic_metadata(struct wr_decision *decision, struct wr_str decider,
                                 struct wr_response *response)
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
    return wr_dynamic_metadata_build(arena,
                                     &(struct wr_dynamic_metadata){
                                         .request = decision->request,
                                         .statuses = response->statuses,
                                         .passed = passed,
                                         .n_passed = n_passed,
                                         .decider = decider,
                                     },
                                     &response->dynamic_metadata);
}

static bool add_headers(const struct wr_decision *decision, const struct tally *tally,
                        struct wr_str decider, struct wr_response *response)
{
    const struct wr_settings *const settings = decision->frame.settings;
    const struct wr_headers headers = {
        .status = settings->has_response_headers ? tally->shown : NULL,
        .decider = settings->degraded_header.len > 0 ? decider : (struct wr_str){0},
    };

    return wr_headers_write(settings, &headers, decision->frame.arena, response);
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
    const struct wr_str decider = wr_unanswered_decider(decision);

    wr_unanswered_log(decision);
    if (tally.n_unknown > 0 && !is_over(&tally)) {
        return wr_unanswered_fail(decision, statuses, out_failure);
    }
    if (!add_headers(decision, &tally, decider, &response)) {
        return wr_fail_no_memory(out_failure);
    }
    if (settings->has_dynamic_metadata && !add_dynamic_metadata(decision, decider, &response)) {
        return wr_fail_no_memory(out_failure);
    }
    *out_response = response;
    return WR_OK;
}
