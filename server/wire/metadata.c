/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/metadata.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"
#include "google/protobuf/struct.pb-c.h"
#include "wire/message.h"

/* A field of a map: the message of each part in one piece. */
struct field {
    Google__Protobuf__Struct__FieldsEntry entry;
    Google__Protobuf__Value value;
};

static bool fill_value(Google__Protobuf__Value *message, const struct wr_value *value,
                       size_t depth_left, struct wr_arena *arena);

static Google__Protobuf__Struct *map_message(const struct wr_value *map, size_t depth_left,
                                             struct wr_arena *arena)
{
    const size_t n = map->as.map.n;
    Google__Protobuf__Struct *const message = wr_arena_alloc(arena, sizeof *message);
    struct field *const fields = wr_arena_calloc(arena, n, sizeof *fields);
    Google__Protobuf__Struct__FieldsEntry **const entries =
        wr_arena_calloc(arena, n, sizeof *entries);

    if (message == NULL || fields == NULL || entries == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        google__protobuf__struct__fields_entry__init(&fields[i].entry);
        fields[i].entry.key = wr_message_text(arena, map->as.map.members[i].key);
        fields[i].entry.value = &fields[i].value;
        entries[i] = &fields[i].entry;
        if (fields[i].entry.key == NULL ||
            !fill_value(&fields[i].value, &map->as.map.members[i].value, depth_left, arena)) {
            return NULL;
        }
    }
    google__protobuf__struct__init(message);
    message->n_fields = n;
    message->fields = entries;
    return message;
}

static Google__Protobuf__ListValue *list_message(const struct wr_value *list, size_t depth_left,
                                                 struct wr_arena *arena)
{
    const size_t n = list->as.list.n;
    Google__Protobuf__ListValue *const message = wr_arena_alloc(arena, sizeof *message);
    Google__Protobuf__Value *const values = wr_arena_calloc(arena, n, sizeof *values);
    Google__Protobuf__Value **const pointers = wr_arena_calloc(arena, n, sizeof *pointers);

    if (message == NULL || values == NULL || pointers == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &values[i];
        if (!fill_value(&values[i], &list->as.list.items[i], depth_left, arena)) {
            return NULL;
        }
    }
    google__protobuf__list_value__init(message);
    message->n_values = n;
    message->values = pointers;
    return message;
}

/* `depth_left` is how many maps and lists may still be opened. */
static bool fill_value(Google__Protobuf__Value *message, const struct wr_value *value,
                       size_t depth_left, struct wr_arena *arena)
{
    const bool nests = value->kind == WR_VALUE_LIST || value->kind == WR_VALUE_MAP;
    const enum wr_value_kind kind = nests && depth_left == 0 ? WR_VALUE_NULL : value->kind;

    google__protobuf__value__init(message);
    switch (kind) {
    case WR_VALUE_BOOL:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_BOOL_VALUE;
        message->bool_value = value->as.boolean;
        return true;
    case WR_VALUE_NUMBER:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_NUMBER_VALUE;
        message->number_value = value->as.number;
        return true;
    case WR_VALUE_STRING:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRING_VALUE;
        message->string_value = wr_message_text(arena, value->as.string);
        return message->string_value != NULL;
    case WR_VALUE_LIST:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_LIST_VALUE;
        message->list_value = list_message(value, depth_left - 1, arena);
        return message->list_value != NULL;
    case WR_VALUE_MAP:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRUCT_VALUE;
        message->struct_value = map_message(value, depth_left - 1, arena);
        return message->struct_value != NULL;
    case WR_VALUE_NULL:
        message->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_NULL_VALUE;
        message->null_value = GOOGLE__PROTOBUF__NULL_VALUE__NULL_VALUE;
        return true;
    }
    return true;
}

struct Google__Protobuf__Struct *wr_metadata_message(const struct wr_value *map,
                                                     struct wr_arena *arena)
{
    WR_ASSERT(map->kind == WR_VALUE_MAP);
    return map_message(map, WR_METADATA_DEPTH_MAX - 1, arena);
}
