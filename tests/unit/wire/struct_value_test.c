/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/struct_value.h"

#include <criterion/criterion.h>
#include <string.h>

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
        {"0a00 0a00", 1, 3, WR_OK},
        {"0a00 0a00", 1, 2, WR_ERR_TOO_LARGE},
        {"0a0b 0a016b 1206 3204 0a00 0a00", 2, 4, WR_OK},
        {"0a0b 0a016b 1206 3204 0a00 0a00", 2, 3, WR_ERR_TOO_LARGE},
        {"0a0b 0a016b 1206 2a04 0a00 0a00", 2, 4, WR_OK},
        {"0a0b 0a016b 1206 2a04 0a00 0a00", 2, 3, WR_ERR_TOO_LARGE},
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

/* `hex` and behind it a thousand empty fields of number 1, all of them within its last messages. */
static struct wr_str with_a_thousand_fields(const char *hex)
{
    const struct wr_str head = bytes_of_hex(hex);
    char bytes[2064];
    size_t len = head.len;

    memcpy(bytes, head.ptr, head.len);
    for (size_t i = 0; i < 1000; i++) {
        memcpy(bytes + len, "\x0a\x00", 2);
        len += 2;
    }
    bytes_free(head);
    return bytes_copy((struct wr_str){.ptr = bytes, .len = len});
}

/* A map; a list and a map in a map, whose lengths are 2000, 2003 and 2006. */
Test(struct_value, makes_no_room_for_more_than_may_be)
{
    static const char *const rows[] = {"", "0ad60f 12d30f 32d00f", "0ad60f 12d30f 2ad00f"};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_str message = with_a_thousand_fields(rows[i]);
        struct wr_struct_bounds bounds = {.max_depth = 9, .max_nodes = 900};
        struct wr_scan scan = {0};
        struct wr_value map;
        struct wr_arena arena;

        wr_arena_init(&arena, 512);
        cr_assert_eq(wr_struct_value_read(message, &bounds, &arena, &scan, &map), WR_ERR_TOO_LARGE,
                     "%s", rows[i]);
        cr_assert_leq(arena.total_size, 512u, "%s: %zu", rows[i], arena.total_size);
        bounds.max_nodes = 1002;
        bounds.n_nodes = 0;
        cr_assert_eq(wr_struct_value_read(message, &bounds, &arena, &scan, &map), WR_OK, "%s",
                     rows[i]);
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}
