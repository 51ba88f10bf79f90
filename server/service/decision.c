/* SPDX-License-Identifier: Apache-2.0 */
#include "service/decision.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/str_set.h"
#include "rules/identity.h"
#include "service/distinct_rules.h"
#include "service/subject.h"

static enum wr_err fail(struct wr_failure *out_failure, enum wr_err err, struct wr_failure failure)
{
    *out_failure = failure;
    return err;
}

static enum wr_err check_request(const struct wr_request *request, const struct wr_rules *rules,
                                 struct wr_failure *out_failure)
{
    if (request->domain.len == 0) {
        return fail(out_failure, WR_ERR_INVALID,
                    (struct wr_failure){
                        .status = WR_STATUS_INVALID_ARGUMENT,
                        .message = WR_STR("rate limit domain must not be empty"),
                        .field = WR_STR("domain"),
                    });
    }
    if (request->n_descriptors == 0) {
        return fail(out_failure, WR_ERR_INVALID,
                    (struct wr_failure){
                        .status = WR_STATUS_INVALID_ARGUMENT,
                        .message = WR_STR("rate limit descriptor list must not be empty"),
                        .field = WR_STR("descriptors"),
                    });
    }
    if (rules == NULL) {
        return fail(out_failure, WR_ERR_NOT_FOUND,
                    (struct wr_failure){
                        .status = WR_STATUS_UNAVAILABLE,
                        .message = WR_STR("no rate limit configuration loaded yet"),
                        .retry_us = WR_RETRY_US,
                    });
    }
    return WR_OK;
}

static enum wr_err fail_override(const struct wr_decision *decision, size_t index,
                                 struct wr_failure *out_failure)
{
    char text[160];
    struct wr_failure failure = {.status = WR_STATUS_INVALID_ARGUMENT};
    const int32_t unit = decision->request->descriptors[index].override.unit;
    int len = snprintf(text, sizeof text, "descriptors[%zu].limit.unit", index);

    if (!wr_arena_copy(decision->frame.arena, (struct wr_str){text, (size_t) len},
                       &failure.field)) {
        return wr_fail_no_memory(out_failure);
    }
    len = snprintf(text, sizeof text,
                   "descriptors[%zu].limit.unit is %" PRId32 "%s; a limit given with a request "
                   "needs SECOND (1), MINUTE (2), HOUR (3), DAY (4), MONTH (5) or YEAR (6)",
                   index, unit, unit == 0 ? " (UNKNOWN)" : "");
    if (!wr_arena_copy(decision->frame.arena, (struct wr_str){text, (size_t) len},
                       &failure.message)) {
        return wr_fail_no_memory(out_failure);
    }
    return fail(out_failure, WR_ERR_INVALID, failure);
}

/* The units of an override are those of the rules but for WEEK, which its enum lacks. */
static bool is_override_unit(int32_t unit)
{
    return unit >= (int32_t) WR_UNIT_SECOND && unit <= (int32_t) WR_UNIT_YEAR;
}

/* Number and unit are the request's; what else a limit has is that of the rule on its path, or,
 * without one, of the domain. */
static void limit_by_override(struct wr_subject *subject, const struct wr_override *override,
                              const struct wr_node *node, enum wr_count domain_count)
{
    const struct wr_rule *const rule = node != NULL ? node->rule : NULL;

    subject->kind = WR_SUBJECT_LIMITED;
    subject->policy = rule != NULL ? &rule->policy : NULL;
    subject->unit = (enum wr_unit) override->unit;
    subject->limit = (struct wr_limit){
        .requests = override->requests_per_unit,
        .length_us = wr_unit_length_us(subject->unit),
        .count = rule != NULL ? rule->limit.count : domain_count,
    };
}

static void limit_by_rule(struct wr_subject *subject, const struct wr_node *node)
{
    if (node == NULL || node->rule == NULL) {
        return;
    }
    subject->node = node;
    subject->rule = node->rule;
    subject->policy = &node->rule->policy;
    subject->kind = node->rule->is_unlimited ? WR_SUBJECT_UNLIMITED : WR_SUBJECT_LIMITED;
    subject->unit = node->rule->unit;
    subject->limit = node->rule->limit;
}

static enum wr_err match_all(struct wr_decision *decision, const struct wr_domain *domain,
                             struct wr_failure *out_failure)
{
    const struct wr_request *const request = decision->request;

    for (size_t i = 0; i < request->n_descriptors; i++) {
        const struct wr_descriptor *const descriptor = &request->descriptors[i];
        const struct wr_node *const node =
            wr_domain_match(domain, descriptor->entries, descriptor->n_entries);

        if (!descriptor->has_override) {
            limit_by_rule(&decision->subjects[i], node);
        } else if (is_override_unit(descriptor->override.unit)) {
            limit_by_override(&decision->subjects[i], &descriptor->override, node,
                              wr_domain_count(domain));
        } else {
            return fail_override(decision, i, out_failure);
        }
    }
    return WR_OK;
}

static bool has_replaces(const struct wr_decision *decision)
{
    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        const struct wr_rule *const rule = decision->subjects[i].rule;

        if (rule != NULL && rule->n_replaces > 0) {
            return true;
        }
    }
    return false;
}

/* Every name that a matched rule replaces, in the decision's arena. False when memory is out. */
static bool collect_replaced(struct wr_decision *decision, struct wr_str_set *out_names)
{
    struct wr_arena *const arena = decision->frame.arena;
    const size_t n = decision->request->n_descriptors;
    const struct wr_rule **const rules = wr_arena_calloc(arena, n, sizeof *rules);
    const struct wr_rule **const distinct = wr_arena_calloc(arena, n, sizeof *distinct);
    size_t n_distinct = 0, n_names = 0;

    if (rules == NULL || distinct == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        rules[i] = decision->subjects[i].rule;
    }
    if (!wr_distinct_rules(arena, rules, n, distinct, &n_distinct)) {
        return false;
    }
    for (size_t i = 0; i < n_distinct; i++) {
        n_names += distinct[i]->n_replaces;
    }
    if (!wr_str_set_init(out_names, arena, n_names)) {
        return false;
    }
    for (size_t i = 0; i < n_distinct; i++) {
        for (size_t k = 0; k < distinct[i]->n_replaces; k++) {
            (void) wr_str_set_add(out_names, &distinct[i]->replaces[k]);
        }
    }
    return true;
}

/* Names are collected from every matched rule, unlimited and replaced ones too; so two rules that
 * replace each other both go. False when memory is out. */
static bool apply_replaces(struct wr_decision *decision)
{
    struct wr_str_set names;

    if (!has_replaces(decision)) {
        return true;
    }
    if (!collect_replaced(decision, &names)) {
        return false;
    }
    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        struct wr_subject *const subject = &decision->subjects[i];

        if (subject->kind == WR_SUBJECT_LIMITED && subject->rule != NULL &&
            subject->rule->name.len > 0 && wr_str_set_has(&names, subject->rule->name)) {
            subject->kind = WR_SUBJECT_BARE;
        }
    }
    return true;
}

static uint64_t hits_of(const struct wr_request *request, const struct wr_descriptor *descriptor)
{
    if (descriptor->has_hits_addend) {
        return descriptor->hits_addend;
    }
    return request->hits_addend == 0 ? 1 : request->hits_addend;
}

/* Whether the descriptor stands for a cost that is spent, whatever becomes of the call. */
static bool must_book(const struct wr_decision *decision, size_t index)
{
    const struct wr_subject *const subject = &decision->subjects[index];
    const struct wr_descriptor *const descriptor = &decision->request->descriptors[index];

    return subject->policy != NULL && wr_policy_must_book(subject->policy) &&
           !descriptor->is_negative_hits && hits_of(decision->request, descriptor) > 0;
}

static bool make_take(struct wr_decision *decision, size_t index, struct wr_take *take)
{
    const struct wr_request *const request = decision->request;
    const struct wr_descriptor *const descriptor = &request->descriptors[index];
    struct wr_subject *const subject = &decision->subjects[index];

    *take = (struct wr_take){
        .limit = subject->limit,
        .hits = hits_of(request, descriptor),
        .group = decision->is_group ? 0 : (uint32_t) index,
        .is_domain_group = decision->is_group,
        .is_refund = descriptor->is_negative_hits,
        .is_enforced = !wr_subject_is_shadow(subject) && !wr_subject_is_quota(decision, subject) &&
                       !decision->frame.settings->has_shadow_mode,
        .must_book = must_book(decision, index),
        .has_local_fallback = wr_subject_failure_mode(decision, subject) == WR_FAILURE_LOCAL,
    };
    subject->take = take;
    return wr_identity_write(decision->frame.arena, request->domain, subject->node,
                             descriptor->entries, descriptor->n_entries, &subject->limit,
                             &take->key);
}

static bool has_take(const struct wr_decision *decision, size_t index)
{
    return decision->subjects[index].kind == WR_SUBJECT_LIMITED &&
           (!decision->frame.is_late || must_book(decision, index));
}

static bool make_batch(struct wr_decision *decision)
{
    const struct wr_settings *const settings = decision->frame.settings;
    const size_t n = decision->request->n_descriptors;
    struct wr_batch *const batch = &decision->batch;

    *batch = (struct wr_batch){
        .takes = wr_arena_calloc(decision->frame.arena, n, sizeof *batch->takes),
        .now = decision->frame.now,
        /* nobody waits for what a late call books */
        .deadline_mono_us = decision->frame.is_late ? INT64_MAX : decision->frame.deadline_mono_us,
        .mode = settings->stops_when_over ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT,
        .metrics = decision->frame.metrics,
        .arena = decision->frame.arena,
    };
    if (batch->takes == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!has_take(decision, i)) {
            continue;
        }
        if (!make_take(decision, i, &batch->takes[batch->n_takes])) {
            return false;
        }
        batch->n_takes++;
    }
    return true;
}

static void note_descriptors(const struct wr_decision *decision)
{
    struct wr_metrics_block *const metrics = decision->frame.metrics;
    const uint64_t n_takes = decision->batch.n_takes;

    if (decision->frame.is_late) {
        wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS_BOOKED_LATE, n_takes);
        return;
    }
    wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS, decision->request->n_descriptors);
    wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS_LIMITED, n_takes);
}

enum wr_err wr_decision_begin(const struct wr_decision_frame *frame,
                              const struct wr_request *request, struct wr_decision **out_decision,
                              struct wr_failure *out_failure)
{
    enum wr_err err = check_request(request, frame->rules, out_failure);

    if (err != WR_OK) {
        return err;
    }

    struct wr_decision *const decision = wr_arena_calloc(frame->arena, 1, sizeof *decision);
    struct wr_subject *const subjects =
        wr_arena_calloc(frame->arena, request->n_descriptors, sizeof *subjects);

    if (decision == NULL || subjects == NULL) {
        return wr_fail_no_memory(out_failure);
    }
    decision->frame = *frame;
    decision->request = request;
    decision->subjects = subjects;

    const struct wr_domain *const domain = wr_rules_domain(frame->rules, request->domain);

    if (domain == NULL) {
        wr_metrics_add(frame->metrics, WR_METRIC_DOMAIN_NOT_FOUND, 1);
    } else {
        decision->is_group = wr_domain_is_group(domain);
        err = match_all(decision, domain, out_failure);
        if (err != WR_OK) {
            return err;
        }
        if (!apply_replaces(decision)) {
            return wr_fail_no_memory(out_failure);
        }
    }
    if (!make_batch(decision)) {
        return wr_fail_no_memory(out_failure);
    }
    note_descriptors(decision);
    *out_decision = decision;
    return WR_OK;
}

struct wr_batch *wr_decision_batch(struct wr_decision *decision)
{
    return &decision->batch;
}
