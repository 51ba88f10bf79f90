/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/error_details.h"

#include <criterion/criterion.h>

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "tests/unit/wire/failing_sweep.h"

/* The status of `failure`; free with google__rpc__status__free_unpacked. */
static Google__Rpc__Status *encode_and_read(const struct wr_failure *failure)
{
    struct wr_arena arena;
    struct wr_str details = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert(wr_error_details_encode(failure, &arena, &details));

    Google__Rpc__Status *const status =
        google__rpc__status__unpack(NULL, details.len, (const uint8_t *) details.ptr);

    cr_assert_not_null(status);
    cr_assert_eq(status->code, (int) failure->status);
    wr_arena_fini(&arena);
    return status;
}

static void expect_bad_request(const Google__Protobuf__Any *any, const char *field,
                               const char *description)
{
    cr_assert_str_eq(any->type_url, "type.googleapis.com/google.rpc.BadRequest");

    Google__Rpc__BadRequest *const message =
        google__rpc__bad_request__unpack(NULL, any->value.len, any->value.data);

    cr_assert_not_null(message);
    cr_assert_eq(message->n_field_violations, 1);
    cr_assert_str_eq(message->field_violations[0]->field, field);
    cr_assert_str_eq(message->field_violations[0]->description, description);
    google__rpc__bad_request__free_unpacked(message, NULL);
}

static void expect_retry_info(const Google__Protobuf__Any *any, int64_t seconds, int32_t nanos)
{
    cr_assert_str_eq(any->type_url, "type.googleapis.com/google.rpc.RetryInfo");

    Google__Rpc__RetryInfo *const message =
        google__rpc__retry_info__unpack(NULL, any->value.len, any->value.data);

    cr_assert_not_null(message);
    cr_assert_eq(message->retry_delay->seconds, seconds);
    cr_assert_eq(message->retry_delay->nanos, nanos);
    google__rpc__retry_info__free_unpacked(message, NULL);
}

Test(error_details, are_empty_when_code_and_message_say_all)
{
    const struct wr_failure failure = {.status = WR_STATUS_INTERNAL, .message = WR_STR("a bug")};
    struct wr_arena arena;
    struct wr_str details = {"x", 1};

    wr_arena_init(&arena, 64);
    cr_assert(wr_error_details_encode(&failure, &arena, &details));
    cr_assert_eq(details.len, 0);
    wr_arena_fini(&arena);
}

Test(error_details, name_the_field_that_is_to_blame)
{
    const struct wr_failure failure = {.status = WR_STATUS_INVALID_ARGUMENT,
                                       .message = WR_STR("unit 99 is none"),
                                       .field = WR_STR("descriptors[2].limit.unit")};
    Google__Rpc__Status *const status = encode_and_read(&failure);

    cr_assert_str_eq(status->message, "unit 99 is none");
    cr_assert_eq(status->n_details, 1);
    expect_bad_request(status->details[0], "descriptors[2].limit.unit", "unit 99 is none");
    google__rpc__status__free_unpacked(status, NULL);
}

Test(error_details, say_when_to_try_again)
{
    const struct wr_failure failure = {
        .status = WR_STATUS_UNAVAILABLE, .message = WR_STR("no rules yet"), .retry_us = 1500000};
    Google__Rpc__Status *const status = encode_and_read(&failure);

    cr_assert_eq(status->n_details, 1);
    expect_retry_info(status->details[0], 1, 500000000);
    google__rpc__status__free_unpacked(status, NULL);
}

Test(error_details, hold_both_the_field_first)
{
    const struct wr_failure failure = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                       .message = WR_STR("too many\0"),
                                       .field = WR_STR("descriptors"),
                                       .retry_us = 1};
    Google__Rpc__Status *const status = encode_and_read(&failure);

    cr_assert_eq(status->n_details, 2);
    expect_bad_request(status->details[0], "descriptors", "too many?");
    expect_retry_info(status->details[1], 0, 1000);
    google__rpc__status__free_unpacked(status, NULL);
}

static bool encode(struct wr_arena *arena, const void *failure)
{
    struct wr_str details = {NULL, 0};

    return wr_error_details_encode(failure, arena, &details);
}

Test(error_details, say_so_when_memory_is_out_at_any_allocation)
{
    const struct wr_failure failure = {.status = WR_STATUS_UNAVAILABLE,
                                       .message = WR_STR("message"),
                                       .field = WR_STR("field"),
                                       .retry_us = 1};

    cr_assert_gt(failing_sweep(encode, &failure), 5);
}
