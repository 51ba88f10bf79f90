/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules as a source gives them, before anything is checked: what was written, and where. Every
 * source (YAML files, messages of a control plane) makes drafts; one validator goes over all of
 * them.
 *
 * Threads: owner thread only while built and checked.
 */
#ifndef WR_RULES_DRAFT_H
#define WR_RULES_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "base/value.h"
#include "rules/policy.h"

/* The most '*' in a key, or a value. All else that a pattern holds a request must hold as well;
 * only these cost one that is short. */
#define WR_STARS_MAX 255

struct wr_draft_replace {
    struct wr_str name;
    struct wr_place place;
};

/* A word as written, and where; empty when absent. */
struct wr_draft_text {
    struct wr_str text;
    struct wr_place place;
};

struct wr_draft_number {
    bool is_set;
    uint32_t number;
    struct wr_place place;
};

struct wr_draft_limit {
    struct wr_place place;
    uint32_t requests_per_unit;
    bool lacks_requests; /* it was not written, where an absent number can be told from 0 */
    struct wr_str unit;  /* as written; empty when absent */
    struct wr_place unit_place;
    bool is_unlimited;
    struct wr_draft_text window, algorithm, align, time_zone, headroom;
    struct wr_draft_number multiplier, burst, buckets;
    bool has_warm_up;
    struct wr_place warm_up_place;
    struct wr_draft_text warm_up_duration, warm_up_start;
    struct wr_str name;
    struct wr_place name_place; /* when there is a name */
    const struct wr_draft_replace *replaces;
    size_t n_replaces;
    struct wr_policy policy;
};

struct wr_draft_rule {
    struct wr_place place; /* of its first key */
    struct wr_str key;
    struct wr_str value; /* empty: a rule for any value */
    bool has_limit;
    struct wr_draft_limit limit;         /* of `rate_limit` */
    const struct wr_draft_limit *layers; /* of `limits`, which stands in place of it */
    size_t n_layers;
    struct wr_place layers_place;
    bool has_group_ip; /* values that are addresses count by prefix */
    struct wr_place group_ip_place;
    struct wr_draft_number ipv4_bits, ipv6_bits;
    bool is_shadow, is_quota, has_detailed_metric, has_value_to_metric, has_share_threshold;
    bool has_metadata;
    struct wr_value metadata;       /* a map */
    struct wr_draft_rule *children; /* in order of declaration */
    size_t n_children;
    bool
        is_broken; /* its source found an error in it: only its pair and its children are checked */
};

/* What one file, or one resource, says about one domain. */
struct wr_draft {
    struct wr_str source;  /* name for messages */
    struct wr_place place; /* of the domain */
    struct wr_str domain;
    struct wr_policy policy;     /* of all rules of the domain that say nothing else; count only */
    struct wr_place count_place; /* when there is a count */
    struct wr_draft_rule *rules;
    size_t n_rules;
    bool is_refused;   /* set when it has an error: it takes no part in a snapshot */
    bool is_broken;    /* its source could not make it out: nothing in it is checked */
    bool has_warning;  /* a note that is no error was made on it, whatever others say */
    bool lacks_memory; /* memory ran out over it: what it says is not known */
    bool is_fresh;     /* it is new: doubts between it and others of its domain are told */
    bool is_told; /* what stands against it was noted before: errors on it draw no further notes */
};

/* The limits of one rule, however they are written. */
struct wr_draft_limits {
    const struct wr_draft_limit *all;
    size_t n;
    bool is_list; /* they stand in one, if only one */
};

static inline struct wr_draft_limits wr_draft_limits_of(const struct wr_draft_rule *rule)
{
    if (rule->n_layers > 0) {
        return (struct wr_draft_limits){.all = rule->layers, .n = rule->n_layers, .is_list = true};
    }
    return (struct wr_draft_limits){.all = &rule->limit, .n = rule->has_limit ? 1 : 0};
}

/* Checks a draft for itself: empty keys, duplicates, limits, replaces, share_threshold. A window
 * must be `min_window_us` or longer. What it finds goes to `diag`, all of it; with an error the
 * draft becomes refused. */
void wr_draft_check(struct wr_draft *draft, int64_t min_window_us, struct wr_diag *diag);

/*
 * Checks `n` drafts, refused ones too, against those before each. With `merges_domains` a later
 * draft of a known domain adds its rules to that domain, and is refused for a pair that stands
 * there already, or another count; else it is refused as such. Either way it is the later one of
 * two that is refused, even when the earlier one is refused for something else.
 */
void wr_drafts_compare(struct wr_draft *const *drafts, size_t n, bool merges_domains,
                       struct wr_diag *diag);

#endif
