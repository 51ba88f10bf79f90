/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A free value as JSON knows them: what a rule's metadata holds and what dynamic metadata is made
 * of. Built in an arena, then only read.
 *
 * Threads: immutable once built.
 */
#ifndef WR_BASE_VALUE_H
#define WR_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

enum wr_value_kind {
    WR_VALUE_NULL,
    WR_VALUE_BOOL,
    WR_VALUE_NUMBER,
    WR_VALUE_STRING,
    WR_VALUE_LIST,
    WR_VALUE_MAP,
};

struct wr_value_member;

struct wr_value {
    enum wr_value_kind kind;
    union {
        bool boolean;
        double number;
        struct wr_str string;
        struct {
            const struct wr_value *items; /* borrowed from the arena */
            size_t n;
        } list;
        struct {
            const struct wr_value_member *members; /* borrowed from the arena; keys differ */
            size_t n;
        } map;
    } as;
};

struct wr_value_member {
    struct wr_str key;
    struct wr_value value;
};

/* The value of `key` in `map`; NULL when there is none or `map` is no map. */
const struct wr_value *wr_value_get(const struct wr_value *map, struct wr_str key);

/*
 * The union of the `n` maps in `arena`, its keys in order: of values of one key the first wins,
 * except that where it is a map, later maps of that key are merged into it in their turn. The maps
 * are not changed; what is not merged is borrowed from them. The cost grows with the number of all
 * members, and no faster but for a logarithm. False when memory is out.
 */
bool wr_value_merge(struct wr_arena *arena, const struct wr_value *const *maps, size_t n,
                    struct wr_value *out_merged);

/* Copies a value with all its texts into `arena`; recursion is as deep as the value is nested.
 * False when memory is out. */
bool wr_value_copy(struct wr_arena *arena, const struct wr_value *value, struct wr_value *out_copy);

#endif
