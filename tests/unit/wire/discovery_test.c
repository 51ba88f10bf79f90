/* SPDX-License-Identifier: Apache-2.0 */
/* The official messages, in Python, read what is written here and write what is read:
 * tests/e2e/test_xds.py. */
#include "wire/discovery.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"

#define S(text) ((struct wr_str) WR_STR(text))

static const struct wr_discovery_label labels[] = {{WR_STR("k"), WR_STR("v")},
                                                   {WR_STR("e"), WR_STR("")}};
static const struct wr_discovery_node node = {.id = WR_STR("n"), .labels = labels, .n_labels = 2};
static const struct wr_discovery_node plain = {.id = WR_STR("n")};

static bool encodes(struct wr_arena *arena, const void *context)
{
    struct wr_str message;

    return wr_discovery_request_encode(context, arena, &message);
}

Test(discovery, a_request_has_what_it_needs)
{
    const struct {
        struct wr_discovery_request request;
        const char *hex;
    } rows[] = {
        {{.node = &plain, .type_url = S("t")}, "1209 0a016e 320477656972 220174"},
        {{.node = &plain, .type_url = S("t"), .version = S("1"), .nonce = S("a")},
         "0a0131 1209 0a016e 320477656972 220174 2a0161"},
        {{.node = &plain, .type_url = S("t"), .nonce = S("a"), .error = S("e")},
         "1209 0a016e 320477656972 220174 2a0161 3205 0803 120165"},
        {{.node = &node, .type_url = S("t")},
         "121e 0a016e 1a13 0a08 0a016b 1203 1a0176 0a07 0a0165 1202 1a00 320477656972 220174"},
        {{.node = &plain, .type_url = S("t"), .nonce = S("a"), .error = S("\xff")},
         "1209 0a016e 320477656972 220174 2a0161 3205 0803 12013f"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_arena arena;
        struct wr_str message = {0};

        wr_arena_init(&arena, 64);
        cr_assert(wr_discovery_request_encode(&rows[i].request, &arena, &message));
        bytes_expect(message, rows[i].hex);
        cr_assert_gt(failing_sweep(encodes, &rows[i].request), 1u);
        wr_arena_fini(&arena);
    }
}

Test(discovery, a_response_is_read)
{
    const struct wr_str message =
        bytes_of_hex("0a0131 1206 0a0174 120162 1801 1203 0a0175 220174 2a0161 32020a00");
    struct wr_discovery_response response;
    struct wr_scan scan = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_discovery_response_decode(message, &arena, &scan, &response), WR_OK);
    cr_assert(wr_str_equal(response.version, S("1")));
    cr_assert(wr_str_equal(response.nonce, S("a")));
    cr_assert(wr_str_equal(response.type_url, S("t")));
    cr_assert_eq(response.n_resources, 2u);
    cr_assert(wr_str_equal(response.resources[0].type_url, S("t")));
    cr_assert(wr_str_equal(response.resources[0].message, S("b")));
    cr_assert(wr_str_equal(response.resources[1].type_url, S("u")));
    cr_assert_eq(response.resources[1].message.len, 0u);
    wr_arena_fini(&arena);
    bytes_free(message);
}

Test(discovery, a_malformed_response_is_refused)
{
    static const char *const rows[] = {"0a", "1203 0a05 74", "0a01ff", "2a01ff", "1203 0a01ff"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_str message = bytes_of_hex(rows[i]);
        struct wr_discovery_response response;
        struct wr_scan scan = {0};
        struct wr_arena arena;

        wr_arena_init(&arena, 64);
        cr_assert_eq(wr_discovery_response_decode(message, &arena, &scan, &response),
                     WR_ERR_MALFORMED, "%s", rows[i]);
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}

Test(discovery, resources_are_bounded)
{
    const size_t len = 2 * ((size_t) WR_DISCOVERY_RESOURCES_MAX + 1);
    char *const bytes = malloc(len);
    struct wr_discovery_response response;
    struct wr_arena arena;

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < len; i += 2) {
        memcpy(bytes + i, "\x12\x00", 2);
    }
    wr_arena_init(&arena, 64);
    for (size_t more = 0; more < 2; more++) {
        const struct wr_str message = {.ptr = bytes, .len = len - 2 + 2 * more};
        struct wr_scan scan = {0};

        cr_assert_eq(wr_discovery_response_decode(message, &arena, &scan, &response),
                     more == 0 ? WR_OK : WR_ERR_TOO_LARGE);
    }
    wr_arena_fini(&arena);
    free(bytes);
}
