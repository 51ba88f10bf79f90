/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes as rows of a table, each with what it comes to. For tables of calls that any store, or the
 * script of one, has to answer alike.
 *
 * Threads: plain values.
 */
#ifndef WR_TESTS_UNIT_STORE_TAKE_ROWS_H
#define WR_TESTS_UNIT_STORE_TAKE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/backend.h"

#define TAKE_ROWS_MAX 4 /* of a call */

struct take_row {
    const char *key; /* NULL: none, and none behind it */
    int64_t hits;    /* below 0: a refund */
    uint64_t requests;
    int64_t left; /* OVER, or what remains */
    enum wr_count count;
    uint32_t group;
    bool is_shadow;
};

#define ALL WR_COUNT_ALL
#define ADMITTED WR_COUNT_ADMITTED
#define OR_NOTHING WR_COUNT_ALL_OR_NOTHING
#define OVER (-1)

#define ROW(key_, hits_, requests_, left_)                                                         \
    .key = (key_), .hits = (hits_), .requests = (requests_), .left = (left_)
#define TAKE(...)                                                                                  \
    {                                                                                              \
        ROW(__VA_ARGS__)                                                                           \
    }
#define COUNT(count_, ...)                                                                         \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_)                                                        \
    }
#define GROUP(group_, count_, ...)                                                                 \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_), .group = (group_)                                     \
    }
#define SHADOW(count_, ...)                                                                        \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_), .is_shadow = true                                     \
    }

/* The takes of a call's rows, and how many they are. Each has the row's key, and a limit of windows
 * of `length_us`. */
size_t take_rows_make(const struct take_row *rows, int64_t length_us, struct wr_take *takes);

/* The takes came to what the rows say; else the call `number` of `story` is named. */
void take_rows_check(const struct take_row *rows, const struct wr_take *takes, size_t n,
                     const char *story, size_t number);

#endif
