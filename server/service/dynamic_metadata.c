/* SPDX-License-Identifier: Apache-2.0 */
#include "service/dynamic_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "limit/unit.h"

/* Holds the name of a unit, and any number. */
#define UNIT_SIZE 16

/* A map under construction, with room for all the members it may get. */
struct map {
    struct wr_value_member *members;
    size_t n;
};

static void put(struct map *map, struct wr_str key, struct wr_value value)
{
    map->members[map->n++] = (struct wr_value_member){.key = key, .value = value};
}

static struct wr_value text_value(struct wr_str text)
{
    return (struct wr_value){.kind = WR_VALUE_STRING, .as.string = text};
}

static struct wr_value number_value(double number)
{
    return (struct wr_value){.kind = WR_VALUE_NUMBER, .as.number = number};
}

static struct wr_value map_value(const struct map *map)
{
    return (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {map->members, map->n}};
}

static bool write_entry(struct wr_arena *arena, const struct wr_entry *entry,
                        struct wr_value *out_value)
{
    const size_t len = entry->key.len + 1 + entry->value.len;
    char *const text = wr_arena_alloc(arena, len);

    if (text == NULL) {
        return false;
    }
    memcpy(text, entry->key.ptr, entry->key.len);
    text[entry->key.len] = '=';
    memcpy(text + entry->key.len + 1, entry->value.ptr, entry->value.len);
    *out_value = text_value((struct wr_str){.ptr = text, .len = len});
    return true;
}

static bool write_entries(struct wr_arena *arena, const struct wr_descriptor *descriptor,
                          struct wr_value *out_list)
{
    struct wr_value *const items = wr_arena_calloc(arena, descriptor->n_entries, sizeof *items);

    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < descriptor->n_entries; i++) {
        if (!write_entry(arena, &descriptor->entries[i], &items[i])) {
            return false;
        }
    }
    *out_list = (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {items, descriptor->n_entries}};
    return true;
}

/* The unit's name on the wire; the number of what has none, which an unknown domain lets through.
 */
static void write_unit(int32_t number, char text[UNIT_SIZE])
{
    const char *const name = wr_unit_name((enum wr_unit) number);

    if (number != WR_UNIT_UNKNOWN && wr_unit_length_us((enum wr_unit) number) == 0) {
        (void) snprintf(text, UNIT_SIZE, "%" PRId32, number);
        return;
    }

    size_t len = 0;

    for (; name[len] != '\0' && len < UNIT_SIZE - 1; len++) {
        text[len] = (char) (name[len] - 'a' + 'A');
    }
    text[len] = '\0';
}

/* As the protobuf text format has it. */
static bool write_override(struct wr_arena *arena, const struct wr_override *override,
                           struct wr_value *out_value)
{
    char unit[UNIT_SIZE], text[64];

    write_unit(override->unit, unit);

    const int len = snprintf(text, sizeof text, "requests_per_unit:%" PRIu32 " unit:%s",
                             override->requests_per_unit, unit);
    struct wr_str copy;

    if (!wr_arena_copy(arena, (struct wr_str){.ptr = text, .len = (size_t) len}, &copy)) {
        return false;
    }
    *out_value = text_value(copy);
    return true;
}

static bool write_descriptor(struct wr_arena *arena, const struct wr_descriptor *descriptor,
                             struct wr_str window, struct wr_value *out_value)
{
    struct map map = {.members = wr_arena_calloc(arena, 4, sizeof *map.members)};
    struct wr_value value;

    if (map.members == NULL || !write_entries(arena, descriptor, &value)) {
        return false;
    }
    put(&map, (struct wr_str) WR_STR("entries"), value);
    if (descriptor->has_override) {
        if (!write_override(arena, &descriptor->override, &value)) {
            return false;
        }
        put(&map, (struct wr_str) WR_STR("limit"), value);
    }
    if (descriptor->has_hits_addend) {
        put(&map, (struct wr_str) WR_STR("hitsAddend"),
            number_value((double) descriptor->hits_addend));
    }
    if (window.len > 0) {
        put(&map, (struct wr_str) WR_STR("window"), text_value(window));
    }
    *out_value = map_value(&map);
    return true;
}

static bool write_descriptors(struct wr_arena *arena, const struct wr_dynamic_metadata *parts,
                              struct wr_value *out_list)
{
    const struct wr_request *const request = parts->request;
    struct wr_value *const items = wr_arena_calloc(arena, request->n_descriptors, sizeof *items);

    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < request->n_descriptors; i++) {
        const struct wr_str window =
            parts->statuses == NULL ? (struct wr_str){0} : parts->statuses[i].window;

        if (!write_descriptor(arena, &request->descriptors[i], window, &items[i])) {
            return false;
        }
    }
    *out_list =
        (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {items, request->n_descriptors}};
    return true;
}

bool wr_dynamic_metadata_build(struct wr_arena *arena, const struct wr_dynamic_metadata *parts,
                               const struct wr_value **out_metadata)
{
    const struct wr_request *const request = parts->request;
    struct map map = {.members = wr_arena_calloc(arena, 5, sizeof *map.members)};
    struct wr_value *const root = wr_arena_calloc(arena, 1, sizeof *root);
    struct wr_value value;

    if (map.members == NULL || root == NULL || !write_descriptors(arena, parts, &value)) {
        return false;
    }
    put(&map, (struct wr_str) WR_STR("domain"), text_value(request->domain));
    put(&map, (struct wr_str) WR_STR("descriptors"), value);
    if (request->hits_addend != 0) {
        put(&map, (struct wr_str) WR_STR("hitsAddend"), number_value(request->hits_addend));
    }
    if (parts->decider.len > 0) {
        put(&map, (struct wr_str) WR_STR("degraded"), text_value(parts->decider));
    }
    if (!wr_value_merge(arena, parts->passed, parts->n_passed, &value)) {
        return false;
    }
    if (value.as.map.n > 0) {
        put(&map, (struct wr_str) WR_STR("metadata"), value);
    }
    *root = map_value(&map);
    *out_metadata = root;
    return true;
}
