/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/response.h"

#include <criterion/criterion.h>

#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define S(seconds) ((int64_t) (seconds) *1000000)

static const struct wr_descriptor_status ten_a_minute = {
    .code = WR_CODE_OK,
    .has_limit = true,
    .requests_per_unit = 10,
    .unit = WR_UNIT_MINUTE,
    .limit_remaining = 9,
    .reset_us = S(30),
};

static void expect_bytes(const struct wr_response *response, const char *hex)
{
    struct wr_arena arena;
    struct wr_str message = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert(wr_response_encode(response, &arena, &message));
    bytes_expect(message, hex);
    wr_arena_fini(&arena);
}

static void expect_status_bytes(enum wr_code overall, const struct wr_descriptor_status *status,
                                const char *hex)
{
    const struct wr_response response = {
        .overall_code = overall, .statuses = status, .n_statuses = 1};

    expect_bytes(&response, hex);
}

Test(response, says_what_clients_of_today_read)
{
    struct wr_descriptor_status status = ten_a_minute;

    expect_status_bytes(WR_CODE_OK, &status, "0801 120e 0801 1204 080a 1002 1809 2202 081e");

    status.code = WR_CODE_OVER_LIMIT;
    status.limit_remaining = 0;
    expect_status_bytes(WR_CODE_OVER_LIMIT, &status, "0802 120c 0802 1204 080a 1002 2202 081e");
}

Test(response, leaves_out_the_limit_where_there_is_none)
{
    const struct wr_descriptor_status bare = {.code = WR_CODE_OK};
    const struct wr_descriptor_status unlimited = {.code = WR_CODE_OK,
                                                   .limit_remaining = UINT32_MAX};

    expect_status_bytes(WR_CODE_OK, &bare, "0801 1202 0801");
    expect_status_bytes(WR_CODE_OK, &unlimited, "0801 1208 0801 18ffffffff0f");
}

Test(response, has_a_status_for_each_descriptor_in_order)
{
    const struct wr_descriptor_status statuses[] = {
        {.code = WR_CODE_OK}, ten_a_minute, {.code = WR_CODE_OVER_LIMIT}};
    const struct wr_response none = {.overall_code = WR_CODE_OK};
    const struct wr_response three = {
        .overall_code = WR_CODE_OVER_LIMIT, .statuses = statuses, .n_statuses = 3};

    expect_bytes(&none, "0801");
    expect_bytes(&three, "0802 1202 0801 120e 0801 1204 080a 1002 1809 2202 081e 1202 0802");
}

Test(response, numbers_units_as_the_protocol_does)
{
    static const struct {
        enum wr_unit unit;
        const char *hex;
    } rows[] = {
        {WR_UNIT_SECOND, "0801 120a 0801 1204 0801 1001 2200"},
        {WR_UNIT_MINUTE, "0801 120a 0801 1204 0801 1002 2200"},
        {WR_UNIT_HOUR, "0801 120a 0801 1204 0801 1003 2200"},
        {WR_UNIT_DAY, "0801 120a 0801 1204 0801 1004 2200"},
        {WR_UNIT_MONTH, "0801 120a 0801 1204 0801 1005 2200"},
        {WR_UNIT_YEAR, "0801 120a 0801 1204 0801 1006 2200"},
        {WR_UNIT_WEEK, "0801 120a 0801 1204 0801 1007 2200"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_descriptor_status status = {
            .code = WR_CODE_OK, .has_limit = true, .requests_per_unit = 1, .unit = rows[i].unit};

        expect_status_bytes(WR_CODE_OK, &status, rows[i].hex);
    }
}

Test(response, splits_the_time_to_reset_into_seconds_and_nanoseconds)
{
    struct wr_descriptor_status status = {.code = WR_CODE_OK, .has_limit = true};

    status.reset_us = 250000;
    expect_status_bytes(WR_CODE_OK, &status, "0801 120b 0801 1200 2205 1080e59a77");
    status.reset_us = S(31536000) + 1;
    expect_status_bytes(WR_CODE_OK, &status, "0801 120e 0801 1200 2208 0880e7840f 10e807");
}

Test(response, sends_names_whole_but_for_what_no_string_can_hold)
{
    static const struct {
        struct wr_str name;
        const char *hex;
    } rows[] = {
        {WR_STR("ab"), "0801 120c 0801 1204 1a026162 2202081e"},
        {WR_STR("\xc3\xa9"), "0801 120c 0801 1204 1a02c3a9 2202081e"},
        {WR_STR("a\0b"), "0801 120d 0801 1205 1a03613f62 2202081e"},
        {WR_STR("a\xff\xc3"), "0801 120d 0801 1205 1a03613f3f 2202081e"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_descriptor_status status = {
            .code = WR_CODE_OK, .has_limit = true, .name = rows[i].name, .reset_us = S(30)};

        expect_status_bytes(WR_CODE_OK, &status, rows[i].hex);
    }
}

Test(response, sends_headers_that_nothing_can_break_out_of)
{
    static const struct {
        struct wr_header header;
        const char *hex;
    } rows[] = {
        {{WR_STR("X-Limit"), WR_STR("1, 2")}, "0801 1a0f 0a07582d4c696d6974 1204312c2032"},
        {{WR_STR("a:b c"), WR_STR("d")}, "0801 1a0a 0a05612d622d63 120164"},
        {{WR_STR("a\r\n"), WR_STR("b\r\nc\t\x7f")}, "0801 1a0d 0a03612d2d 120662202063 2020"},
        {{WR_STR("\xc3\xa9"), WR_STR("\xc3\xa9")}, "0801 1a08 0a022d2d 1202c3a9"},
        {{WR_STR("n"), WR_STR("\0")}, "0801 1a06 0a016e 12013f"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_response response = {
            .overall_code = WR_CODE_OK, .headers = &rows[i].header, .n_headers = 1};

        expect_bytes(&response, rows[i].hex);
    }
}

Test(response, carries_dynamic_metadata_after_the_headers)
{
    const struct wr_value_member member = {.key = WR_STR("k"),
                                           .value = {.kind = WR_VALUE_BOOL, .as.boolean = true}};
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {&member, 1}};
    const struct wr_value empty = {.kind = WR_VALUE_MAP};
    struct wr_response response = {.overall_code = WR_CODE_OK, .dynamic_metadata = &map};

    expect_bytes(&response, "0801 3209 0a07 0a016b 1202 2001");
    response.dynamic_metadata = &empty;
    expect_bytes(&response, "0801 3200");
}

static bool encode(struct wr_arena *arena, const void *response)
{
    struct wr_str message = {NULL, 0};
    const bool is_done = wr_response_encode(response, arena, &message);

    cr_assert(is_done || message.ptr == NULL);
    return is_done;
}

Test(response, says_so_when_memory_is_out_at_any_allocation)
{
    const struct wr_value_member member = {
        .key = WR_STR("k"), .value = {.kind = WR_VALUE_STRING, .as.string = WR_STR("v")}};
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {&member, 1}};
    const struct wr_header header = {WR_STR("name"), WR_STR("value")};
    struct wr_descriptor_status status = ten_a_minute;
    const struct wr_response response = {.overall_code = WR_CODE_OK,
                                         .statuses = &status,
                                         .n_statuses = 1,
                                         .headers = &header,
                                         .n_headers = 1,
                                         .dynamic_metadata = &map};

    status.name = wr_str_of("a name");
    cr_assert_gt(failing_sweep(encode, &response), 10);
}

Test(response, is_read_back_by_protobuf_c)
{
    const struct wr_header header = {WR_STR("name"), WR_STR("value")};
    const struct wr_descriptor_status statuses[] = {ten_a_minute, {.code = WR_CODE_OVER_LIMIT}};
    const struct wr_response response = {.overall_code = WR_CODE_OVER_LIMIT,
                                         .statuses = statuses,
                                         .n_statuses = 2,
                                         .headers = &header,
                                         .n_headers = 1};
    struct wr_arena arena;
    struct wr_str message = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert(wr_response_encode(&response, &arena, &message));

    Envoy__Service__Ratelimit__V3__RateLimitResponse *const got =
        envoy__service__ratelimit__v3__rate_limit_response__unpack(NULL, message.len,
                                                                   (const uint8_t *) message.ptr);

    cr_assert_not_null(got);
    cr_assert_eq(got->overall_code,
                 ENVOY__SERVICE__RATELIMIT__V3__RATE_LIMIT_RESPONSE__CODE__OVER_LIMIT);
    cr_assert_eq(got->n_statuses, 2);
    cr_assert_eq(got->statuses[0]->current_limit->requests_per_unit, 10);
    cr_assert_eq(got->statuses[0]->duration_until_reset->seconds, 30);
    cr_assert_null(got->statuses[1]->current_limit);
    cr_assert_null(got->statuses[1]->duration_until_reset);
    cr_assert_str_eq(got->response_headers_to_add[0]->value, "value");
    envoy__service__ratelimit__v3__rate_limit_response__free_unpacked(got, NULL);
    wr_arena_fini(&arena);
}
