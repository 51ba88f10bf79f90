/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/twin_check.h"

#include "rules/terms.h"

#define PLACE_SIZE 512

/* Whether `a` refuses whatever `b` refuses. */
static bool is_as_tight(const struct wr_limit *a, const struct wr_limit *b)
{
    return a->requests <= b->requests && a->burst <= b->burst &&
           a->warm_up_start <= b->warm_up_start;
}

/* Whether the same becomes of both when the store gives no answer. */
static bool fail_alike(const struct wr_policy *a, const struct wr_policy *b)
{
    return a->has_failure_mode == b->has_failure_mode && a->failure_mode == b->failure_mode;
}

/* Whether nothing takes away one of two limits and leaves the other, or goes with it. */
static bool are_replaced_alike(const struct wr_draft_limit *a, const struct wr_draft_limit *b)
{
    return a->n_replaces == 0 && b->n_replaces == 0 && wr_str_equal(a->name, b->name);
}

/* Whether one of two limits would do: they differ in numbers alone, and all of one are smaller. A
 * bucket of a low rate and one of a small burst both decide, as do limits that forget, warm up or
 * book refused hits each in its own way, and those of which one is there when the other is not. */
static bool are_twins(const struct wr_limit_pass *pass, const struct wr_draft_limit *other)
{
    const struct wr_limit *const a = &pass->limit;
    const struct wr_limit b = wr_terms_limit(other);
    const struct wr_policy *const policy = &pass->draft->policy;

    return wr_limit_is_alike(a, &b) &&
           wr_str_equal(wr_terms_zone(other), wr_terms_zone(pass->draft)) &&
           a->n_buckets == b.n_buckets && a->warm_up_us == b.warm_up_us &&
           policy->has_count == other->policy.has_count && policy->count == other->policy.count &&
           fail_alike(policy, &other->policy) && are_replaced_alike(pass->draft, other) &&
           (is_as_tight(a, &b) || is_as_tight(&b, a));
}

void wr_twin_check(const struct wr_limit_pass *pass, const struct wr_draft_limits *limits,
                   size_t index)
{
    for (size_t i = 0; i < index && pass->limit.length_us > 0; i++) {
        if (are_twins(pass, &limits->all[i])) {
            char where[PLACE_SIZE];

            wr_place_format(&limits->all[i].place, where, sizeof where);
            wr_check_warn(pass->check, pass->of_limit, "remove one of the two",
                          "this limit counts as the one at %s does, of which the tighter alone "
                          "decides",
                          where);
            return;
        }
    }
}
