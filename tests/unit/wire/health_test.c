/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/health.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(health, reads_the_service_asked_for)
{
    static const struct {
        const char *hex;
        enum wr_err err;
        const char *service;
    } rows[] = {
        {"", WR_OK, ""},
        {"0a00", WR_OK, ""},
        {"0a09 726174656c696d6974", WR_OK, "ratelimit"},
        {"1005 0a0161", WR_OK, "a"},
        {"0a0461", WR_ERR_MALFORMED, NULL},
        {"0a01ff", WR_ERR_MALFORMED, NULL},
        {"2601", WR_ERR_MALFORMED, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_str message = bytes_of_hex(rows[i].hex);
        struct wr_arena arena;
        struct wr_str service = {NULL, 0};

        wr_arena_init(&arena, 64);
        cr_assert_eq(wr_health_request_decode(message, &arena, &service), rows[i].err, "row %zu",
                     i);
        if (rows[i].service == NULL) {
            cr_assert_null(service.ptr, "row %zu: the output was touched", i);
        } else {
            cr_assert(wr_str_equal(service, wr_str_of(rows[i].service)), "row %zu", i);
        }
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}

/* protobuf-c takes some 70 times the memory of unknown fields. */
Test(health, refuses_a_giant_before_it_takes_memory)
{
    const size_t size = 4 << 20;
    char *const giant = malloc(size);
    struct wr_arena arena;
    struct wr_str service = {NULL, 0};

    cr_assert_not_null(giant);
    memset(giant, 0x10, size);
    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_health_request_decode((struct wr_str){giant, size}, &arena, &service),
                 WR_ERR_TOO_LARGE);
    cr_assert_eq(arena.total_size, 0);
    wr_arena_fini(&arena);
    free(giant);
}

Test(health, numbers_the_states_as_the_protocol_does)
{
    static const struct {
        enum wr_serving serving;
        const char *hex;
    } rows[] = {
        {WR_SERVING_UNKNOWN, ""},
        {WR_SERVING_YES, "0801"},
        {WR_SERVING_NO, "0802"},
        {WR_SERVING_SERVICE_UNKNOWN, "0803"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr_arena arena;
        struct wr_str message = {NULL, 0};

        wr_arena_init(&arena, 64);
        cr_assert(wr_health_response_encode(rows[i].serving, &arena, &message));
        bytes_expect(message, rows[i].hex);
        wr_arena_fini(&arena);
    }
}

static const struct wr_health_row two[] = {{WR_STR(""), WR_SERVING_YES},
                                           {WR_STR("ab"), WR_SERVING_NO}};

Test(health, lists_services_in_the_order_given)
{
    struct wr_arena arena;
    struct wr_str message = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert(wr_health_list_encode(two, COUNT(two), &arena, &message));
    bytes_expect(message, "0a04 1202 0801 0a08 0a026162 1202 0802");
    cr_assert(wr_health_list_encode(NULL, 0, &arena, &message));
    cr_assert_eq(message.len, 0);
    wr_arena_fini(&arena);
}

static bool encode_list(struct wr_arena *arena, const void *rows)
{
    struct wr_str message = {NULL, 0};

    return wr_health_list_encode(rows, COUNT(two), arena, &message);
}

static bool encode_state(struct wr_arena *arena, const void *serving)
{
    struct wr_str message = {NULL, 0};

    return wr_arena_alloc(arena, 1) != NULL &&
           wr_health_response_encode(*(const enum wr_serving *) serving, arena, &message);
}

static bool decode(struct wr_arena *arena, const void *message)
{
    struct wr_str service = {NULL, 0};
    const enum wr_err err =
        wr_health_request_decode(*(const struct wr_str *) message, arena, &service);

    cr_assert(err == WR_OK || err == WR_ERR_NO_MEMORY);
    return err == WR_OK;
}

Test(health, says_so_when_memory_is_out_at_any_allocation)
{
    const enum wr_serving serving = WR_SERVING_YES;
    const struct wr_str request = WR_STR("\x0a\x02\x61\x62");

    cr_assert_gt(failing_sweep(encode_list, two), 3);
    cr_assert_gt(failing_sweep(encode_state, &serving), 0);
    cr_assert_gt(failing_sweep(decode, &request), 1);
}
