/* SPDX-License-Identifier: Apache-2.0 */
#include "weir/client.h"

#include <criterion/criterion.h>

static struct weir_request begun(void)
{
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    cr_assert_eq(weir_request_descriptor(&request), WEIR_OK);
    return request;
}

Test(request, borrows_texts_and_keeps_their_lengths)
{
    static const char text[] = {'a', '\0', 'b'};
    struct weir_request request = begun();

    cr_assert_eq(weir_request_entry(&request, weir_str("k"), (struct weir_str){text, 3}), WEIR_OK);

    const struct weir_entry *entry = &request.descriptors[0].entries[0];

    cr_assert_eq(entry->value.ptr, text);
    cr_assert_eq(entry->value.len, 3);
    cr_assert_eq(request.descriptors[0].entry_count, 1);
}

Test(request, takes_eight_descriptors_and_refuses_the_ninth)
{
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    for (size_t i = 0; i < WEIR_DESCRIPTORS_MAX; i++) {
        cr_assert_eq(weir_request_descriptor(&request), WEIR_OK, "descriptor %zu", i);
    }
    cr_assert_eq(weir_request_descriptor(&request), WEIR_ERR_FULL);
    cr_assert_eq(request.descriptor_count, WEIR_DESCRIPTORS_MAX);
}

Test(request, takes_eight_entries_and_refuses_the_ninth)
{
    struct weir_request request = begun();

    for (size_t i = 0; i < WEIR_ENTRIES_MAX; i++) {
        cr_assert_eq(weir_request_entry(&request, weir_str("k"), weir_str("v")), WEIR_OK,
                     "entry %zu", i);
    }
    cr_assert_eq(weir_request_entry(&request, weir_str("k"), weir_str("v")), WEIR_ERR_FULL);
    cr_assert_eq(request.descriptors[0].entry_count, WEIR_ENTRIES_MAX);
}

Test(request, keeps_its_first_error_and_changes_nothing_after_it)
{
    struct weir_request request = begun();

    cr_assert_eq(weir_request_entry(&request, weir_str(""), weir_str("v")), WEIR_ERR_INVALID);
    cr_assert_eq(weir_request_entry(&request, weir_str("k"), weir_str("v")), WEIR_ERR_INVALID);
    cr_assert_eq(weir_request_descriptor(&request), WEIR_ERR_INVALID);
    cr_assert_eq(weir_request_peek(&request), WEIR_ERR_INVALID);
    cr_assert_eq(weir_request_limit(&request, 1, WEIR_UNIT_HOUR), WEIR_ERR_INVALID);
    cr_assert_eq(request.err, WEIR_ERR_INVALID);
    cr_assert_eq(request.descriptor_count, 1);
    cr_assert_eq(request.descriptors[0].entry_count, 0);
    cr_assert_not(request.descriptors[0].has_hits);
    cr_assert_not(request.descriptors[0].has_limit);
}

Test(request, is_good_again_after_a_new_start)
{
    struct weir_request request = begun();

    cr_assert_eq(weir_request_entry(&request, weir_str(""), weir_str("")), WEIR_ERR_INVALID);
    weir_request_init(&request, weir_str("edge"));
    cr_assert_eq(weir_request_descriptor(&request), WEIR_OK);
    cr_assert_eq(request.err, WEIR_OK);
}

Test(request, wants_a_descriptor_before_what_belongs_to_one)
{
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    cr_assert_eq(weir_request_entry(&request, weir_str("k"), weir_str("v")), WEIR_ERR_INVALID);
    weir_request_init(&request, weir_str("edge"));
    cr_assert_eq(weir_request_take(&request, 3), WEIR_ERR_INVALID);
    weir_request_init(&request, weir_str("edge"));
    cr_assert_eq(weir_request_limit(&request, 3, WEIR_UNIT_DAY), WEIR_ERR_INVALID);
}

Test(request, tells_peek_take_and_refund_apart)
{
    struct weir_request request = begun();
    const struct weir_descriptor *descriptor = &request.descriptors[0];

    cr_assert_not(descriptor->has_hits);
    cr_assert_eq(weir_request_take(&request, UINT64_MAX), WEIR_OK);
    cr_assert(descriptor->has_hits && !descriptor->is_refund && descriptor->hits == UINT64_MAX);
    cr_assert_eq(weir_request_refund(&request, 5), WEIR_OK);
    cr_assert(descriptor->has_hits && descriptor->is_refund && descriptor->hits == 5);
    cr_assert_eq(weir_request_peek(&request), WEIR_OK);
    cr_assert(descriptor->has_hits && !descriptor->is_refund && descriptor->hits == 0);
}

Test(request, overrides_only_with_a_unit_that_has_a_name)
{
    for (int unit = -1; unit <= 8; unit++) {
        struct weir_request request = begun();
        const enum weir_err want = unit >= 1 && unit <= 7 ? WEIR_OK : WEIR_ERR_INVALID;

        cr_assert_eq(weir_request_limit(&request, 10, (enum weir_unit) unit), want, "unit %d",
                     unit);
    }
}

Test(request, starts_a_descriptor_clean_where_an_older_one_was)
{
    struct weir_request request = begun();

    cr_assert_eq(weir_request_refund(&request, 5), WEIR_OK);
    cr_assert_eq(weir_request_limit(&request, 1, WEIR_UNIT_SECOND), WEIR_OK);
    weir_request_hits(&request, 9);
    weir_request_init(&request, weir_str("other"));
    cr_assert_eq(weir_request_descriptor(&request), WEIR_OK);
    cr_assert_eq(request.hits, 0);
    cr_assert_not(request.descriptors[0].has_hits);
    cr_assert_not(request.descriptors[0].is_refund);
    cr_assert_not(request.descriptors[0].has_limit);
}
