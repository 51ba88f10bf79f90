/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decision remembers between its batch and its response. Private to decision.c and
 * replaces.c, which fill it, and outcome.c and unanswered.c, which read it.
 *
 * Threads: owner thread of the call only.
 */
#ifndef WR_SERVICE_SUBJECT_H
#define WR_SERVICE_SUBJECT_H

#include <stdbool.h>

#include "limit/limit.h"
#include "limit/unit.h"
#include "rules/rules.h"
#include "service/decision.h"
#include "service/request.h"
#include "store/backend.h"

/* How long a caller is asked to wait when the store gave no answer, or no rules are loaded. */
#define WR_RETRY_US INT64_C(1000000)

/* What applies to one descriptor. */
enum wr_subject_kind {
    WR_SUBJECT_BARE,      /* no limit: no match, unknown domain, or replaced by another rule */
    WR_SUBJECT_UNLIMITED, /* never counted */
    WR_SUBJECT_LIMITED,   /* has takes */
};

/* One of the limits that a descriptor meets. */
struct wr_layer {
    const struct wr_rule *rule;     /* NULL: the limit is the request's */
    const struct wr_policy *policy; /* of the rule on the path, also when the limit is the
                                       request's; NULL: no rule is there */
    struct wr_limit limit;
    enum wr_unit unit;
    bool is_replaced;     /* by another rule: it has no take */
    struct wr_take *take; /* when its subject is limited */
};

struct wr_subject {
    enum wr_subject_kind kind;
    bool is_override;              /* the limit is the request's */
    const struct wr_node *node;    /* what matched; NULL: nothing */
    const struct wr_node *reached; /* what its first entries matched, if not all; NULL: nothing */
    const struct wr_rule *rule;    /* the first of the node, for what all of them have in common;
                                      NULL: none, or the limit is the request's */
    struct wr_layer *layers;
    size_t n_layers;
};

struct wr_decision {
    struct wr_decision_frame frame;
    const struct wr_request *request;
    struct wr_subject *subjects; /* one a descriptor */
    struct wr_layer *layers;     /* of all subjects */
    size_t n_layers;
    size_t n_limited; /* descriptors with takes */
    bool is_group;    /* all takes stand or fall together; a matter of the domain */
    struct wr_batch batch;
};

/* A rule on trial: it counts, and never blocks. */
static inline bool wr_subject_is_shadow(const struct wr_subject *subject)
{
    return subject->rule != NULL && subject->rule->is_shadow;
}

/* Who decides when the store does not: the rule says, else the server. */
static inline enum wr_failure_mode wr_layer_failure_mode(const struct wr_decision *decision,
                                                         const struct wr_layer *layer)
{
    return layer->policy != NULL && layer->policy->has_failure_mode
               ? layer->policy->failure_mode
               : decision->frame.settings->failure_mode;
}

/* What becomes of a layer without an answer. A trial, of a rule or of the whole server, never
 * blocks anybody, with or without a store. */
static inline enum wr_failure_mode wr_layer_fate(const struct wr_decision *decision,
                                                 const struct wr_subject *subject,
                                                 const struct wr_layer *layer)
{
    return wr_subject_is_shadow(subject) || decision->frame.settings->has_shadow_mode
               ? WR_FAILURE_ALLOW
               : wr_layer_failure_mode(decision, layer);
}

static inline bool wr_layer_is_decided(const struct wr_layer *layer)
{
    return layer->take != NULL && layer->take->answer == WR_TAKE_DECIDED;
}

/* A quota: over alone it refuses nothing, all quotas over together do. */
static inline bool wr_subject_is_quota(const struct wr_decision *decision,
                                       const struct wr_subject *subject)
{
    return subject->kind != WR_SUBJECT_UNLIMITED &&
           (decision->frame.settings->has_quota_mode ||
            (subject->kind == WR_SUBJECT_LIMITED && subject->rule != NULL &&
             subject->rule->is_quota));
}

#endif
