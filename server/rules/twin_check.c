/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/twin_check.h"

#include "rules/terms.h"

/* Whether `a` refuses whatever `b` refuses. */
static bool is_as_tight(const struct wr_limit *a, const struct wr_limit *b)
{
    return a->requests <= b->requests && a->burst <= b->burst &&
           a->warm_up_start <= b->warm_up_start;
}

/* Whether one of two limits would do: they differ in numbers alone, and all of one are smaller. A
 * bucket of a low rate and one of a small burst both decide, as do limits that forget, warm up or
 * book refused hits each in its own way. */
static bool are_twins(const struct wr_limit_pass *pass, const struct wr_draft_limit *other)
{
    const struct wr_limit *const a = &pass->limit;
    const struct wr_limit b = wr_terms_limit(other);
    const struct wr_policy *const policy = &pass->draft->policy;

    return wr_limit_is_alike(a, &b) &&
           wr_str_equal(wr_terms_zone(other), wr_terms_zone(pass->draft)) &&
           a->n_buckets == b.n_buckets && a->warm_up_us == b.warm_up_us &&
           policy->has_count == other->policy.has_count && policy->count == other->policy.count &&
           (is_as_tight(a, &b) || is_as_tight(&b, a));
}

void wr_twin_check(const struct wr_limit_pass *pass, const struct wr_draft_limits *limits,
                   size_t index)
{
    for (size_t i = 0; i < index && pass->limit.length_us > 0; i++) {
        if (are_twins(pass, &limits->all[i])) {
            wr_check_warn(pass->check, pass->of_limit, "remove one of the two",
                          "this limit counts as the one at %zu:%zu does, of which the tighter "
                          "alone decides",
                          limits->all[i].place.line, limits->all[i].place.column);
            return;
        }
    }
}
