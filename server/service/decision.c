/* SPDX-License-Identifier: Apache-2.0 */
#include "service/decision.h"

#include <inttypes.h>
#include <stdio.h>

#include "rules/identity.h"
#include "rules/terms.h"
#include "service/replaces.h"
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
    char text[192];
    struct wr_failure failure = {.status = WR_STATUS_INVALID_ARGUMENT};
    const int32_t unit = decision->request->descriptors[index].override.unit;
    int len = snprintf(text, sizeof text, "descriptors[%zu].limit.unit", index);

    if (!wr_arena_copy(decision->frame.arena, (struct wr_str){text, (size_t) len},
                       &failure.field)) {
        return wr_fail_no_memory(out_failure);
    }
    len =
        snprintf(text, sizeof text,
                 "descriptors[%zu].limit.unit is %" PRId32 "%s; a limit given with a request "
                 "needs SECOND (1), MINUTE (2), HOUR (3), DAY (4), MONTH (5), YEAR (6) or WEEK (7)",
                 index, unit, unit == 0 ? " (UNKNOWN)" : "");
    if (!wr_arena_copy(decision->frame.arena, (struct wr_str){text, (size_t) len},
                       &failure.message)) {
        return wr_fail_no_memory(out_failure);
    }
    return fail(out_failure, WR_ERR_INVALID, failure);
}

static enum wr_err fail_takes(const struct wr_decision *decision, struct wr_failure *out_failure)
{
    char text[96];
    struct wr_failure failure = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                 .field = WR_STR("descriptors")};
    const int len = snprintf(text, sizeof text,
                             "descriptors meet more than %zu limits, this server's --max-takes",
                             decision->frame.settings->max_takes);

    if (!wr_arena_copy(decision->frame.arena, (struct wr_str){text, (size_t) len},
                       &failure.message)) {
        return wr_fail_no_memory(out_failure);
    }
    return fail(out_failure, WR_ERR_TOO_LARGE, failure);
}

/* The units of an override are those of the rules: WEEK too, though its enum has no name for 7. */
static bool is_override_unit(int32_t unit)
{
    return unit > 0 && wr_unit_length_us((enum wr_unit) unit) > 0;
}

/* Number and unit are the request's; what else a limit has is that of the rule on its path, or,
 * without one, of the domain. */
static void limit_by_override(struct wr_subject *subject, const struct wr_override *override,
                              enum wr_count domain_count)
{
    const struct wr_node *const node = subject->node;
    const struct wr_rule *const rule = node != NULL && node->n_rules > 0 ? node->rules : NULL;
    struct wr_layer *const layer = subject->layers;

    subject->kind = WR_SUBJECT_LIMITED;
    layer->policy = rule != NULL ? &rule->policy : NULL;
    layer->unit = (enum wr_unit) override->unit;
    layer->limit =
        wr_terms_override(rule != NULL ? rule : &(struct wr_rule){.limit.count = domain_count},
                          override->requests_per_unit, layer->unit);
}

static void limit_by_rules(struct wr_subject *subject)
{
    if (subject->n_layers == 0) {
        return;
    }
    subject->rule = subject->node->rules;
    subject->kind = subject->rule->is_unlimited ? WR_SUBJECT_UNLIMITED : WR_SUBJECT_LIMITED;
    for (size_t i = 0; i < subject->n_layers; i++) {
        const struct wr_rule *const rule = &subject->node->rules[i];

        subject->layers[i] = (struct wr_layer){
            .rule = rule, .policy = &rule->policy, .limit = rule->limit, .unit = rule->unit};
    }
}

/* What is never counted needs no take. */
static size_t takes_of(const struct wr_subject *subject)
{
    const bool is_unlimited =
        !subject->is_override && subject->n_layers > 0 && subject->node->rules->is_unlimited;

    return is_unlimited ? 0 : subject->n_layers;
}

static void match(struct wr_subject *subject, const struct wr_domain *domain,
                  const struct wr_descriptor *descriptor)
{
    size_t n_matched;

    subject->reached =
        wr_domain_reach(domain, descriptor->entries, descriptor->n_entries, &n_matched);
    subject->node = n_matched == descriptor->n_entries ? subject->reached : NULL;
}

static enum wr_err match_all(struct wr_decision *decision, const struct wr_domain *domain,
                             struct wr_failure *out_failure)
{
    const struct wr_request *const request = decision->request;
    const size_t max_takes = decision->frame.settings->max_takes;
    size_t n_takes = 0;

    for (size_t i = 0; i < request->n_descriptors; i++) {
        const struct wr_descriptor *const descriptor = &request->descriptors[i];
        struct wr_subject *const subject = &decision->subjects[i];

        match(subject, domain, descriptor);
        subject->is_override = descriptor->has_override;
        if (subject->is_override && !is_override_unit(descriptor->override.unit)) {
            return fail_override(decision, i, out_failure);
        }
        if (subject->is_override) {
            subject->n_layers = 1;
        } else {
            subject->n_layers = subject->node != NULL ? subject->node->n_rules : 0;
        }
        decision->n_layers += subject->n_layers;
        n_takes += takes_of(subject);
        if (max_takes != 0 && n_takes > max_takes) {
            return fail_takes(decision, out_failure);
        }
    }
    return WR_OK;
}

/* The limits of what matched. False when memory is out. */
static bool make_layers(struct wr_decision *decision, const struct wr_domain *domain)
{
    const struct wr_request *const request = decision->request;
    struct wr_layer *next =
        wr_arena_calloc(decision->frame.arena, decision->n_layers, sizeof *next);

    if (next == NULL) {
        return false;
    }
    decision->layers = next;
    for (size_t i = 0; i < request->n_descriptors; i++) {
        struct wr_subject *const subject = &decision->subjects[i];

        subject->layers = next;
        next += subject->n_layers;
        if (subject->is_override) {
            limit_by_override(subject, &request->descriptors[i].override, wr_domain_count(domain));
        } else {
            limit_by_rules(subject);
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

/* Whether the limit is charged a cost that is spent, whatever becomes of the call. */
static bool must_book(const struct wr_request *request, const struct wr_descriptor *descriptor,
                      const struct wr_layer *layer)
{
    return layer->policy != NULL && wr_policy_must_book(layer->policy) &&
           !descriptor->is_negative_hits && hits_of(request, descriptor) > 0;
}

/* Whether a refusal by the subject refuses its group. Layers refuse each other on trial, too, as
 * long as they are by themselves. */
static bool is_enforced(const struct wr_decision *decision, const struct wr_subject *subject)
{
    const bool is_on_trial = wr_subject_is_shadow(subject) ||
                             wr_subject_is_quota(decision, subject) ||
                             decision->frame.settings->has_shadow_mode;

    return !is_on_trial || (subject->n_layers > 1 && !decision->is_group);
}

/* Whether the subject refuses its group when the store gives this layer no answer, and memory is
 * not asked for one. */
static bool refuses_unanswered(const struct wr_decision *decision, const struct wr_subject *subject,
                               const struct wr_layer *layer)
{
    const enum wr_failure_mode fate = wr_layer_fate(decision, subject, layer);

    return is_enforced(decision, subject) && (fate == WR_FAILURE_DENY || fate == WR_FAILURE_ERROR);
}

static bool make_take(struct wr_decision *decision, size_t index, struct wr_layer *layer,
                      struct wr_take *take)
{
    const struct wr_request *const request = decision->request;
    const struct wr_descriptor *const descriptor = &request->descriptors[index];
    const struct wr_subject *const subject = &decision->subjects[index];
    const struct wr_identity_parts identity = {
        .domain = request->domain,
        .node = subject->reached,
        .is_override = subject->is_override,
        .entries = descriptor->entries,
        .n_entries = descriptor->n_entries,
        .limit = &layer->limit,
        .layer = layer->rule != NULL ? layer->rule->layer : 0,
    };

    *take = (struct wr_take){
        .limit = layer->limit,
        .hits = hits_of(request, descriptor),
        .group = decision->is_group ? 0 : (uint32_t) index,
        .is_further = layer != subject->layers,
        .is_domain_group = decision->is_group,
        .is_refund = descriptor->is_negative_hits,
        .is_enforced = is_enforced(decision, subject),
        .must_book = must_book(request, descriptor, layer),
        .has_local_fallback = wr_layer_failure_mode(decision, layer) == WR_FAILURE_LOCAL,
        .refuses_unanswered = refuses_unanswered(decision, subject, layer),
    };
    layer->take = take;
    return wr_identity_write(decision->frame.arena, &identity, &take->key);
}

/* The takes of one descriptor; of a late call only those that must be booked. False when memory is
 * out. */
static bool make_takes(struct wr_decision *decision, size_t index)
{
    struct wr_subject *const subject = &decision->subjects[index];
    struct wr_batch *const batch = &decision->batch;
    const size_t n_before = batch->n_takes;

    if (subject->kind != WR_SUBJECT_LIMITED) {
        return true;
    }
    for (size_t i = 0; i < subject->n_layers; i++) {
        struct wr_layer *const layer = &subject->layers[i];

        if (layer->is_replaced ||
            (decision->frame.is_late &&
             !must_book(decision->request, &decision->request->descriptors[index], layer))) {
            continue;
        }
        if (!make_take(decision, index, layer, &batch->takes[batch->n_takes])) {
            return false;
        }
        batch->n_takes++;
    }
    decision->n_limited += batch->n_takes > n_before;
    return true;
}

static bool make_batch(struct wr_decision *decision)
{
    const struct wr_settings *const settings = decision->frame.settings;
    struct wr_batch *const batch = &decision->batch;

    *batch = (struct wr_batch){
        .takes = wr_arena_calloc(decision->frame.arena, decision->n_layers, sizeof *batch->takes),
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
    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        if (!make_takes(decision, i)) {
            return false;
        }
    }
    return true;
}

static void note_descriptors(const struct wr_decision *decision)
{
    struct wr_metrics_block *const metrics = decision->frame.metrics;

    if (decision->frame.is_late) {
        wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS_BOOKED_LATE, decision->n_limited);
        return;
    }
    wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS, decision->request->n_descriptors);
    wr_metrics_add(metrics, WR_METRIC_DESCRIPTORS_LIMITED, decision->n_limited);
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
        if (!make_layers(decision, domain) || !wr_replaces_apply(decision)) {
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
