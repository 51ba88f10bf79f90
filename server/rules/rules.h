/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of all rules in force: domains, their trees, their limits. Built whole from checked
 * drafts, then never changed, so that any number of threads read it without a lock.
 *
 * Invariant: everything reachable from a snapshot lives as long as a reference to it is held.
 * Threads: immutable; acquire and release from any thread.
 */
#ifndef WR_RULES_RULES_H
#define WR_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/value.h"
#include "limit/limit.h"
#include "limit/unit.h"
#include "rules/draft.h"
#include "rules/entry.h"
#include "rules/policy.h"

struct wr_rules;
struct wr_domain;

/* A limit of the snapshot, on one node: a layer, when the node has several. */
struct wr_rule {
    struct wr_limit limit; /* when not unlimited; its count is that of the domain when the rule says
                              none */
    struct wr_policy policy; /* as the rule says it */
    enum wr_unit unit;       /* nearest to the window; WR_UNIT_UNKNOWN when unlimited */
    struct wr_str window;    /* its length for people, when no unit has it; else empty */
    bool has_burst;          /* it was said, and is no share of the number */
    const struct wr_calendar
        *calendars;     /* one a unit, see wr_terms_calendar; NULL: not aligned so */
    uint32_t layer;     /* place among the limits of the node that count alike */
    struct wr_str name; /* may be empty */
    struct wr_str path; /* domain.key_value.key …, as written but cut at WR_RULE_PATH_MAX: for
                           people and statistics */
    const struct wr_str *replaces; /* names */
    size_t n_replaces;
    bool is_unlimited, is_shadow, is_quota, has_detailed_metric;
    const struct wr_value *metadata; /* a map; NULL when there is none */
};

/* A node of a domain's tree: what one entry of a descriptor matched. */
struct wr_node {
    const struct wr_node *parent; /* NULL at the first level */
    struct wr_str key;            /* as written, '*' and all */
    struct wr_str value;          /* as written; empty: any value */
    bool has_share_threshold;     /* all values that match `value` share one counter */
    bool has_value_to_metric;
    bool has_group_ip; /* values that are addresses count by their first bits */
    uint8_t ipv4_bits, ipv6_bits;
    const struct wr_rule *rules; /* all must admit */
    size_t n_rules;              /* 0: no limit here */
};

/* A limit that may be over without refusing its request, as a quota beside other quotas may, and
 * where it was written. */
struct wr_trial {
    struct wr_str where, path; /* the place as text; the rule, as in wr_rule */
    bool is_shadow;            /* else it is a quota */
};

/* A limit that is charged with others or not at all, and where it was written. */
struct wr_bound {
    struct wr_str where, path; /* as in wr_trial */
};

/*
 * Builds a snapshot with one reference from those of the `n` checked drafts that are not refused.
 * Copies what it needs. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM when no random key can be drawn.
 */
WR_MUST_USE enum wr_err wr_rules_new(struct wr_draft *const *drafts, size_t n,
                                     struct wr_rules **out_rules);

struct wr_rules *wr_rules_acquire(struct wr_rules *rules);

/* Frees the snapshot with its last reference. NULL is fine. */
void wr_rules_release(struct wr_rules *rules);

size_t wr_rules_domain_count(const struct wr_rules *rules);

size_t wr_rules_limit_count(const struct wr_rules *rules);

/* The domain of that name; NULL when there is none. */
const struct wr_domain *wr_rules_domain(const struct wr_rules *rules, struct wr_str name);

/* True when a rule asks for hits to be booked even when their call is late. */
bool wr_rules_have_bookings(const struct wr_rules *rules);

/* The first of them, by domain and order of declaration; NULL: there is none. */
const struct wr_trial *wr_rules_first_trial(const struct wr_rules *rules);

/* The first limit that stands or falls with others; NULL when each stands alone. */
const struct wr_bound *wr_rules_first_bound(const struct wr_rules *rules);

/* The count of what has no rule that says otherwise. */
enum wr_count wr_domain_count(const struct wr_domain *domain);

/* True when the domain or one of its rules is all-or-nothing: then all takes of a call stand or
 * fall together. */
bool wr_domain_is_group(const struct wr_domain *domain);

/*
 * The node that the last of `n` entries matches, walking from the first: at each level the exact
 * key and value, else the first wildcard in order of declaration, else the key with any value; no
 * way back. NULL when an entry matches nothing, or n is 0. The cost does not depend on how many
 * siblings a level has, wildcards apart.
 */
const struct wr_node *wr_domain_match(const struct wr_domain *domain,
                                      const struct wr_entry *entries, size_t n);

/* The node that the last of the entries matches of which each matches one, from the first on, and
 * how many these are; NULL when there is none. */
const struct wr_node *wr_domain_reach(const struct wr_domain *domain,
                                      const struct wr_entry *entries, size_t n,
                                      size_t *out_n_matched);

#endif
