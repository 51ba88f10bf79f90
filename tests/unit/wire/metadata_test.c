/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/metadata.h"

#include <criterion/criterion.h>
#include <stdbool.h>

#include "google/protobuf/struct.pb-c.h"
#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"
#include "wire/message.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The bytes of a map of one member `k`. */
static void expect_member_bytes(const struct wr_value *value, const char *hex)
{
    const struct wr_value_member member = {.key = WR_STR("k"), .value = *value};
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {&member, 1}};
    struct wr_arena arena;
    struct wr_str bytes = {NULL, 0};

    wr_arena_init(&arena, 64);

    const Google__Protobuf__Struct *const message = wr_metadata_message(&map, &arena);

    cr_assert_not_null(message);
    cr_assert(wr_message_pack(&message->base, &arena, &bytes));
    bytes_expect(bytes, hex);
    wr_arena_fini(&arena);
}

Test(metadata, has_a_form_for_every_kind_of_value)
{
    const struct wr_value items[] = {{.kind = WR_VALUE_NULL},
                                     {.kind = WR_VALUE_BOOL, .as.boolean = false}};
    const struct wr_value_member inner = {
        .key = WR_STR("i"), .value = {.kind = WR_VALUE_STRING, .as.string = WR_STR("")}};
    const struct {
        struct wr_value value;
        const char *hex;
    } rows[] = {
        {{.kind = WR_VALUE_NULL}, "0a07 0a016b 1202 0800"},
        {{.kind = WR_VALUE_BOOL, .as.boolean = false}, "0a07 0a016b 1202 2000"},
        {{.kind = WR_VALUE_NUMBER, .as.number = 1.5}, "0a0e 0a016b 1209 11000000000000f83f"},
        {{.kind = WR_VALUE_NUMBER, .as.number = 0}, "0a0e 0a016b 1209 110000000000000000"},
        {{.kind = WR_VALUE_STRING, .as.string = WR_STR("v")}, "0a08 0a016b 1203 1a0176"},
        {{.kind = WR_VALUE_STRING, .as.string = WR_STR("a\0b")}, "0a0a 0a016b 1205 1a03613f62"},
        {{.kind = WR_VALUE_LIST, .as.list = {items, COUNT(items)}},
         "0a0f 0a016b 120a 3208 0a020800 0a022000"},
        {{.kind = WR_VALUE_LIST}, "0a07 0a016b 1202 3200"},
        {{.kind = WR_VALUE_MAP, .as.map = {&inner, 1}},
         "0a10 0a016b 120b 2a09 0a07 0a0169 1202 1a00"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_member_bytes(&rows[i].value, rows[i].hex);
    }
}

/* How many lists are in one another before the null. */
static size_t depth_of(const Google__Protobuf__Value *value)
{
    size_t depth = 0;

    while (value->kind_case == GOOGLE__PROTOBUF__VALUE__KIND_LIST_VALUE) {
        cr_assert_eq(value->list_value->n_values, 1);
        value = value->list_value->values[0];
        depth++;
    }
    cr_assert_eq(value->kind_case, GOOGLE__PROTOBUF__VALUE__KIND_NULL_VALUE);
    return depth;
}

Test(metadata, ends_in_null_where_a_parser_would_refuse_to_go_on)
{
    struct wr_value lists[2 * WR_METADATA_DEPTH_MAX] = {{.kind = WR_VALUE_LIST}};
    struct wr_arena arena;

    for (size_t i = 1; i < COUNT(lists); i++) {
        lists[i] = (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {&lists[i - 1], 1}};
    }

    const struct wr_value_member member = {.key = WR_STR("k"), .value = lists[COUNT(lists) - 1]};
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {&member, 1}};

    wr_arena_init(&arena, 64);

    const Google__Protobuf__Struct *const message = wr_metadata_message(&map, &arena);

    cr_assert_not_null(message);
    cr_assert_eq(depth_of(message->fields[0]->value), WR_METADATA_DEPTH_MAX - 1);
    wr_arena_fini(&arena);
}

static bool make(struct wr_arena *arena, const void *map)
{
    return wr_metadata_message(map, arena) != NULL;
}

Test(metadata, says_so_when_memory_is_out_at_any_allocation)
{
    const struct wr_value text = {.kind = WR_VALUE_STRING, .as.string = WR_STR("text")};
    const struct wr_value_member inner = {.key = WR_STR("inner"), .value = text};
    const struct wr_value_member members[] = {
        {WR_STR("list"), {.kind = WR_VALUE_LIST, .as.list = {&text, 1}}},
        {WR_STR("map"), {.kind = WR_VALUE_MAP, .as.map = {&inner, 1}}},
    };
    const struct wr_value map = {.kind = WR_VALUE_MAP, .as.map = {members, COUNT(members)}};

    cr_assert_gt(failing_sweep(make, &map), 10);
}
