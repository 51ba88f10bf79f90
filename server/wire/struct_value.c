/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/struct_value.h"

#include <stdbool.h>
#include <stdlib.h>

#include "wire/fields.h"

/* The fields of google.protobuf.Struct, its entries, ListValue and Value. */
#define STRUCT_FIELDS WR_TAG(1, WR_WIRE_BYTES)
#define ENTRY_KEY WR_TAG(1, WR_WIRE_BYTES)
#define ENTRY_VALUE WR_TAG(2, WR_WIRE_BYTES)
#define LIST_VALUES WR_TAG(1, WR_WIRE_BYTES)
#define VALUE_NULL WR_TAG(1, WR_WIRE_VARINT)
#define VALUE_NUMBER WR_TAG(2, WR_WIRE_FIXED64)
#define VALUE_STRING WR_TAG(3, WR_WIRE_BYTES)
#define VALUE_BOOL WR_TAG(4, WR_WIRE_VARINT)
#define VALUE_STRUCT WR_TAG(5, WR_WIRE_BYTES)
#define VALUE_LIST WR_TAG(6, WR_WIRE_BYTES)

struct walk {
    struct wr_struct_bounds *bounds;
    struct wr_arena *arena;
    struct wr_scan *scan;
    enum wr_err err; /* of what is no fault of the bytes */
};

/* A member and its place, while repeated keys are sought. */
struct ranked {
    struct wr_value_member member;
    size_t index;
};

static bool is_well(const struct walk *walk)
{
    return walk->err == WR_OK && walk->scan->fault == WR_FAULT_NONE;
}

static void *allocate(struct walk *walk, size_t n, size_t size)
{
    void *const memory = wr_arena_calloc(walk->arena, n, size);

    if (memory == NULL) {
        walk->err = WR_ERR_NO_MEMORY;
    }
    return memory;
}

/* Counts `n` values, before there is room made for them; false when they are too many. */
static bool count(struct walk *walk, size_t n)
{
    if (n > walk->bounds->max_nodes - walk->bounds->n_nodes) {
        walk->err = WR_ERR_TOO_LARGE;
        return false;
    }
    walk->bounds->n_nodes += n;
    return true;
}

/* Counts what a map or list at `depth` holds; false when it is too deep, or that is too much. */
static bool enter(struct walk *walk, size_t depth, size_t n)
{
    if (depth > walk->bounds->max_depth) {
        walk->bounds->is_too_deep = true;
        walk->err = WR_ERR_TOO_LARGE;
        return false;
    }
    return count(walk, n);
}

static struct wr_str read_text(struct walk *walk, struct wr_fields *fields)
{
    const struct wr_str text = wr_fields_bytes(fields);

    if (!wr_str_is_utf8(text)) {
        (void) wr_scan_fail(walk->scan, WR_FAULT_UTF8, (const unsigned char *) text.ptr);
    }
    return text;
}

static void read_map(struct walk *walk, struct wr_str message, size_t depth, struct wr_value *out);

static void read_value(struct walk *walk, struct wr_str message, size_t depth,
                       struct wr_value *out);

static void read_list(struct walk *walk, struct wr_str message, size_t depth, struct wr_value *out)
{
    struct wr_fields fields = wr_fields_of(walk->scan, message);
    const size_t n_all = wr_fields_count(fields, LIST_VALUES);

    if (!enter(walk, depth, n_all)) {
        return;
    }

    struct wr_value *const items = allocate(walk, n_all, sizeof *items);
    size_t n = 0;

    while (is_well(walk) && wr_fields_next(&fields)) {
        if (fields.tag == LIST_VALUES) {
            read_value(walk, wr_fields_bytes(&fields), depth, &items[n++]);
        } else {
            wr_fields_skip(&fields);
        }
    }
    *out = (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {items, n}};
}

/* Recursion is bounded by max_depth. The last of several kinds counts. The value itself has been
 * counted with what holds it. */
static void read_value(struct walk *walk, struct wr_str message, size_t depth, struct wr_value *out)
{
    struct wr_fields fields = wr_fields_of(walk->scan, message);

    *out = (struct wr_value){.kind = WR_VALUE_NULL};
    while (is_well(walk) && wr_fields_next(&fields)) {
        switch (fields.tag) {
        case VALUE_NULL:
            (void) wr_fields_varint(&fields);
            *out = (struct wr_value){.kind = WR_VALUE_NULL};
            break;
        case VALUE_NUMBER:
            *out =
                (struct wr_value){.kind = WR_VALUE_NUMBER, .as.number = wr_fields_double(&fields)};
            break;
        case VALUE_STRING:
            *out =
                (struct wr_value){.kind = WR_VALUE_STRING, .as.string = read_text(walk, &fields)};
            break;
        case VALUE_BOOL:
            *out = (struct wr_value){.kind = WR_VALUE_BOOL,
                                     .as.boolean = wr_fields_varint(&fields) != 0};
            break;
        case VALUE_STRUCT:
            read_map(walk, wr_fields_bytes(&fields), depth + 1, out);
            break;
        case VALUE_LIST:
            read_list(walk, wr_fields_bytes(&fields), depth + 1, out);
            break;
        default:
            wr_fields_skip(&fields);
            break;
        }
    }
}

static void read_entry(struct walk *walk, struct wr_str message, size_t depth,
                       struct wr_value_member *out)
{
    struct wr_fields fields = wr_fields_of(walk->scan, message);

    *out = (struct wr_value_member){.key = {.ptr = ""}, .value = {.kind = WR_VALUE_NULL}};
    while (is_well(walk) && wr_fields_next(&fields)) {
        if (fields.tag == ENTRY_KEY) {
            out->key = read_text(walk, &fields);
        } else if (fields.tag == ENTRY_VALUE) {
            read_value(walk, wr_fields_bytes(&fields), depth, &out->value);
        } else {
            wr_fields_skip(&fields);
        }
    }
}

static int compare_keys(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    const int keys = wr_str_compare(x->member.key, y->member.key);

    return keys != 0 ? keys : (x->index > y->index) - (x->index < y->index);
}

static int compare_indexes(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* Leaves the last of each key, in order; how many there are then. */
static size_t drop_repeated(struct ranked *all, size_t n)
{
    size_t n_kept = 0;

    qsort(all, n, sizeof *all, compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || !wr_str_equal(all[i].member.key, all[i + 1].member.key)) {
            all[n_kept++] = all[i];
        }
    }
    qsort(all, n_kept, sizeof *all, compare_indexes);
    return n_kept;
}

static void read_map(struct walk *walk, struct wr_str message, size_t depth, struct wr_value *out)
{
    struct wr_fields fields = wr_fields_of(walk->scan, message);
    const size_t n_all = wr_fields_count(fields, STRUCT_FIELDS);

    if (!enter(walk, depth, n_all)) {
        return;
    }

    struct ranked *const all = allocate(walk, n_all, sizeof *all);
    struct wr_value_member *const members = allocate(walk, n_all, sizeof *members);
    size_t n = 0;

    while (is_well(walk) && wr_fields_next(&fields)) {
        if (fields.tag == STRUCT_FIELDS) {
            all[n].index = n;
            read_entry(walk, wr_fields_bytes(&fields), depth, &all[n].member);
            n++;
        } else {
            wr_fields_skip(&fields);
        }
    }
    if (!is_well(walk)) {
        return;
    }
    n = drop_repeated(all, n);
    for (size_t i = 0; i < n; i++) {
        members[i] = all[i].member;
    }
    *out = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, n}};
}

enum wr_err wr_struct_value_read(struct wr_str message, struct wr_struct_bounds *bounds,
                                 struct wr_arena *arena, struct wr_scan *scan,
                                 struct wr_value *out_map)
{
    struct walk walk = {.bounds = bounds, .arena = arena, .scan = scan, .err = WR_OK};
    struct wr_value map;

    bounds->is_too_deep = false;
    if (count(&walk, 1)) {
        read_map(&walk, message, 1, &map);
    }
    if (scan->fault != WR_FAULT_NONE) {
        return WR_ERR_MALFORMED;
    }
    if (walk.err == WR_OK) {
        *out_map = map;
    }
    return walk.err;
}
