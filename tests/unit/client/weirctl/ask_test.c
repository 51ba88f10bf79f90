/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/ask.h"

#include <criterion/criterion.h>

static const struct weirctl_args plain = {
    .command = WEIRCTL_CHECK,
    .domain = "edge",
    .descriptor_count = 2,
    .descriptors = {{1, {{{"k", 1}, {"v", 1}}}}, {2, {{{"a", 1}, {"1", 1}}, {{"b", 1}, {"", 0}}}}},
};

Test(ask, takes_domain_and_descriptors_as_they_are)
{
    struct weir_request request;

    weirctl_ask_build(&plain, &request);
    cr_assert_eq(request.err, WEIR_OK);
    cr_assert_eq(request.descriptor_count, 2);
    cr_assert_eq(request.descriptors[1].entry_count, 2);
    cr_assert_eq(request.hits, 0);
    cr_assert_not(request.descriptors[0].has_hits || request.descriptors[0].has_limit);
}

Test(ask, charges_each_descriptor_as_told)
{
    struct weirctl_args args = plain;
    struct weir_request request;

    args.charge = WEIRCTL_CHARGE_PEEK;
    weirctl_ask_build(&args, &request);
    for (size_t i = 0; i < 2; i++) {
        cr_assert(request.descriptors[i].has_hits && request.descriptors[i].hits == 0);
    }
    args.charge = WEIRCTL_CHARGE_REFUND;
    args.hits = 7;
    weirctl_ask_build(&args, &request);
    cr_assert(request.descriptors[1].is_refund && request.descriptors[1].hits == 7);
    args.charge = WEIRCTL_CHARGE_HITS;
    weirctl_ask_build(&args, &request);
    cr_assert_eq(request.hits, 7);
    cr_assert_not(request.descriptors[0].has_hits);
}

Test(ask, overrides_the_limit_of_each_descriptor)
{
    struct weirctl_args args = plain;
    struct weir_request request;

    args.has_limit = true;
    args.limit = (struct weirctl_limit){10, WEIR_UNIT_MINUTE};
    weirctl_ask_build(&args, &request);
    for (size_t i = 0; i < 2; i++) {
        cr_assert(request.descriptors[i].has_limit && request.descriptors[i].limit_requests == 10);
    }
}
