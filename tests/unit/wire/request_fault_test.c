/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/request_fault.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static const unsigned char message[16];

static void expect_text(struct wr_str got, const char *want)
{
    cr_assert(wr_str_equal(got, wr_str_of(want)), "'%.*s' is not '%s'", (int) got.len, got.ptr,
              want);
}

static void expect_failure(const struct wr_request_fault *fault, enum wr_err err, const char *text,
                           const char *field)
{
    struct wr_arena arena;
    struct wr_failure failure = {.status = WR_STATUS_OK};

    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_request_fault_explain(fault, message, &arena, &failure), err);
    cr_assert_eq(failure.status, err == WR_ERR_MALFORMED ? WR_STATUS_INVALID_ARGUMENT
                                                         : WR_STATUS_RESOURCE_EXHAUSTED);
    expect_text(failure.message, text);
    expect_text(failure.field, field);
    wr_arena_fini(&arena);
}

Test(request_fault, names_the_path_from_the_outside_in)
{
    struct wr_request_fault fault = {.n_path = 0};

    (void) wr_scan_fail(&fault.scan, WR_FAULT_UTF8, message + 9);
    cr_assert_null(wr_request_fault_in(&fault, "key", WR_NO_INDEX));
    cr_assert_null(wr_request_fault_in(&fault, "entries", 0));
    cr_assert_null(wr_request_fault_in(&fault, "descriptors", 3));
    expect_failure(&fault, WR_ERR_MALFORMED,
                   "descriptors[3].entries[0].key is not valid UTF-8 (byte 9 of the request)",
                   "descriptors[3].entries[0].key");
}

Test(request_fault, has_room_for_the_longest_path)
{
    struct wr_request_fault fault = {.n_path = 0};

    (void) wr_scan_fail(&fault.scan, WR_FAULT_NUMBER, message);
    (void) wr_request_fault_in(&fault, "value", WR_NO_INDEX);
    (void) wr_request_fault_in(&fault, "entries", SIZE_MAX - 1);
    (void) wr_request_fault_in(&fault, "descriptors", SIZE_MAX - 1);
    expect_failure(&fault, WR_ERR_MALFORMED,
                   "descriptors[18446744073709551614].entries[18446744073709551614].value has a "
                   "field number that is not in 1 to 536870911 (byte 0 of the request)",
                   "descriptors[18446744073709551614].entries[18446744073709551614].value");
}

Test(request_fault, speaks_of_the_request_where_there_is_no_path)
{
    struct wr_request_fault fault = {.n_path = 0};

    (void) wr_scan_fail(&fault.scan, WR_FAULT_CUT, message + 16);
    expect_failure(&fault, WR_ERR_MALFORMED,
                   "the request ends in the middle of a field (byte 16 of the request)", "");
}

Test(request_fault, tells_the_cap_that_was_passed)
{
    struct wr_request_fault fault = {.n_path = 0};

    cr_assert_null(wr_request_fault_too_many(&fault, "entries", 10));
    (void) wr_request_fault_in(&fault, "descriptors", 2);
    expect_failure(&fault, WR_ERR_TOO_LARGE,
                   "descriptors[2].entries has more than 10 elements, this server's --max-entries",
                   "descriptors[2].entries");
}

Test(request_fault, names_no_field_when_memory_is_out)
{
    struct wr_request_fault fault = {.n_path = 0};

    cr_assert_null(wr_request_fault_no_memory(&fault));
    (void) wr_request_fault_in(&fault, "descriptors", 2);
    expect_failure(&fault, WR_ERR_NO_MEMORY, "out of memory", "");
}

Test(request_fault, falls_back_to_a_plain_sentence_when_there_is_no_room_for_words)
{
    struct wr_request_fault malformed = {.n_path = 0}, too_large = {.n_path = 0};
    struct wr_failure failure;
    struct wr_arena arena;

    (void) wr_scan_fail(&malformed.scan, WR_FAULT_CUT, message);
    (void) wr_request_fault_too_many(&too_large, "descriptors", 1);
    wr_arena_init(&arena, 64);
    failing_malloc_start(0);

    const enum wr_err first = wr_request_fault_explain(&malformed, message, &arena, &failure);
    const struct wr_str first_text = failure.message;
    const enum wr_err second = wr_request_fault_explain(&too_large, message, &arena, &failure);

    failing_malloc_stop();
    cr_assert_eq(first, WR_ERR_MALFORMED);
    expect_text(first_text, "the request is malformed");
    cr_assert_eq(second, WR_ERR_TOO_LARGE);
    expect_text(failure.message, "the request is too large");
    wr_arena_fini(&arena);
}
