/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/struct_value.h"

#include <criterion/criterion.h>

#include "google/protobuf/struct.pb-c.h"
#include "tests/unit/wire/bytes.h"
#include "wire/message.h"
#include "wire/metadata.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The bytes stay in `arena`, as the texts of the map borrow from them. */
static enum wr_err read_hex(const char *hex, struct wr_struct_bounds bounds, struct wr_arena *arena,
                            struct wr_value *out_map)
{
    const struct wr_str bytes = bytes_of_hex(hex);
    struct wr_str message;
    struct wr_scan scan = {0};

    cr_assert(wr_arena_copy(arena, bytes, &message));
    bytes_free(bytes);

    const enum wr_err err = wr_struct_value_read(message, &bounds, arena, &scan, out_map);

    cr_assert_eq(err == WR_ERR_MALFORMED, scan.fault != WR_FAULT_NONE, "%s", hex);
    return err;
}

/* What metadata.c writes, by protobuf-c, is what is read, and so is written again alike. */
Test(struct_value, reads_what_the_encoder_writes)
{
    const struct wr_value items[] = {{.kind = WR_VALUE_NULL},
                                     {.kind = WR_VALUE_BOOL, .as.boolean = true},
                                     {.kind = WR_VALUE_NUMBER, .as.number = -1.5}};
    const struct wr_value_member inner = {
        .key = WR_STR("i"), .value = {.kind = WR_VALUE_LIST, .as.list = {items, COUNT(items)}}};
    const struct wr_value_member outer[] = {
        {.key = WR_STR("b"), .value = {.kind = WR_VALUE_MAP, .as.map = {&inner, 1}}},
        {.key = WR_STR("a"), .value = {.kind = WR_VALUE_STRING, .as.string = WR_STR("text")}}};
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {outer, COUNT(outer)}};
    struct wr_struct_bounds bounds = {.max_depth = 3, .max_nodes = 7};
    struct wr_scan scan = {0};
    struct wr_arena arena;
    struct wr_str bytes, again;
    struct wr_value read;

    wr_arena_init(&arena, 64);
    cr_assert(wr_message_pack(&wr_metadata_message(&map, &arena)->base, &arena, &bytes));
    cr_assert_eq(wr_struct_value_read(bytes, &bounds, &arena, &scan, &read), WR_OK);
    cr_assert_eq(bounds.n_nodes, 7u);
    cr_assert(wr_message_pack(&wr_metadata_message(&read, &arena)->base, &arena, &again));
    cr_assert(wr_str_equal(bytes, again));
    wr_arena_fini(&arena);
}

/* Keys a and b; the first a is another value. */
Test(struct_value, takes_the_last_of_a_key_and_of_kinds)
{
    struct wr_arena arena;
    struct wr_value map;

    wr_arena_init(&arena, 64);
    cr_assert_eq(read_hex("0a07 0a0161 12022001 0a03 0a0162 0a0b 0a0161 1206 2001 1a02 6869",
                          (struct wr_struct_bounds){.max_depth = 9, .max_nodes = 9}, &arena, &map),
                 WR_OK);
    cr_assert_eq(map.as.map.n, 2u);
    cr_assert_eq(*map.as.map.members[0].key.ptr, 'b');
    cr_assert_eq(map.as.map.members[0].value.kind, WR_VALUE_NULL);
    cr_assert_eq(map.as.map.members[1].value.kind, WR_VALUE_STRING);
    cr_assert_eq(map.as.map.members[1].value.as.string.len, 2u);
    wr_arena_fini(&arena);
}

Test(struct_value, has_bounds)
{
    static const struct {
        const char *hex;
        size_t max_depth, max_nodes;
        enum wr_err want;
    } rows[] = {
        {"", 1, 1, WR_OK},
        {"", 1, 0, WR_ERR_TOO_LARGE},
        {"0a07 0a016b 1202 3200", 2, 9, WR_OK},
        {"0a07 0a016b 1202 3200", 1, 9, WR_ERR_TOO_LARGE},
        {"0a07 0a016b 1202 2a00", 1, 9, WR_ERR_TOO_LARGE},
        {"0a07 0a016b 1202 0800", 1, 2, WR_OK},
        {"0a07 0a016b 1202 0800", 1, 1, WR_ERR_TOO_LARGE},
        {"0a07 0a016b 1202 08", 9, 9, WR_ERR_MALFORMED},
        {"0a03 0a01ff", 9, 9, WR_ERR_MALFORMED},
        {"0a08 0a016b 1203 1a01ff", 9, 9, WR_ERR_MALFORMED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_struct_bounds bounds = {.max_depth = rows[i].max_depth,
                                                .max_nodes = rows[i].max_nodes};
        struct wr_arena arena;
        struct wr_value map;

        wr_arena_init(&arena, 64);
        cr_assert_eq(read_hex(rows[i].hex, bounds, &arena, &map), rows[i].want, "%s, depth %zu",
                     rows[i].hex, rows[i].max_depth);
        wr_arena_fini(&arena);
    }
}
