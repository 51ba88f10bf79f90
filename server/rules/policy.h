/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule, or a domain, says about how it is charged and who decides without a store. Nothing
 * said is left to the one above: the rule's domain, then the server.
 *
 * Threads: plain values and pure functions.
 */
#ifndef WR_RULES_POLICY_H
#define WR_RULES_POLICY_H

#include <stdbool.h>

#include "base/str.h"
#include "limit/limit.h"

/* What a descriptor gets when the store gave no answer for it; each use is counted. */
enum wr_failure_mode {
    WR_FAILURE_ERROR, /* the call fails as UNAVAILABLE, so that the caller's own policy decides */
    WR_FAILURE_ALLOW, /* OK without current_limit */
    WR_FAILURE_DENY,  /* OVER_LIMIT without current_limit */
    WR_FAILURE_LOCAL, /* memory counts on in place of a remote store; when it cannot: ERROR */
};

struct wr_policy {
    bool has_count;
    enum wr_count count;
    bool has_failure_mode;
    enum wr_failure_mode failure_mode;
};

/* True when all hits were asked to be counted: they stand for a cost that is spent already, so they
 * are booked even when the call comes too late to be answered. */
static inline bool wr_policy_must_book(const struct wr_policy *policy)
{
    return policy->has_count && policy->count == WR_COUNT_ALL;
}

/* The count of that name, by case; false when there is none. */
bool wr_count_of_name(struct wr_str name, enum wr_count *out_count);

/* As rules and messages have it. */
const char *wr_count_name(enum wr_count count);

/* The failure mode of that name, by case; false when there is none. */
bool wr_failure_mode_of_name(struct wr_str name, enum wr_failure_mode *out_mode);

/* As rules, options, headers and messages have it. */
const char *wr_failure_mode_name(enum wr_failure_mode mode);

#endif
