/* SPDX-License-Identifier: Apache-2.0 */
#include "option_near.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "option_row.h"

#define MAX_LEN 64
/* Slips that still let a short name be known, and a long one. */
#define SHORT_LEN 13
#define SHORT_SLIPS 2
#define LONG_SLIPS 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, row by row. */
static size_t distance(struct wr_str a, struct wr_str b)
{
    size_t row[MAX_LEN + 1];

    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; i < a.len; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b.len; j++) {
            const size_t above = row[j + 1];
            const size_t replaced = diagonal + (a.ptr[i] == b.ptr[j] ? 0 : 1);

            row[j + 1] = least(replaced, least(above, row[j]) + 1);
            diagonal = above;
        }
    }
    return row[b.len];
}

/* One more than the slips that still let `name` be known. */
static size_t too_many_slips(struct wr_str name)
{
    return (name.len < SHORT_LEN ? SHORT_SLIPS : LONG_SLIPS) + 1;
}

const char *wr_option_near(struct wr_str name)
{
    const char *nearest = NULL;
    size_t fewest = too_many_slips(name);

    for (size_t i = 0; i < WR_OPTION_ROWS && name.len <= MAX_LEN; i++) {
        const struct wr_str variable = wr_str_of(wr_option_rows[i].variable);
        const size_t slips = variable.len <= MAX_LEN ? distance(name, variable) : fewest;

        if (slips == 0) {
            return NULL;
        }
        if (slips < fewest) {
            nearest = variable.ptr;
            fewest = slips;
        }
    }
    return nearest;
}

static bool is_last_word_of(struct wr_str name, struct wr_str flag)
{
    return flag.len > name.len && flag.ptr[flag.len - name.len - 1] == '-' &&
           memcmp(flag.ptr + flag.len - name.len, name.ptr, name.len) == 0;
}

const char *wr_option_near_flag(struct wr_str name)
{
    const char *nearest = NULL;
    size_t fewest = too_many_slips(name);

    for (size_t i = 0; i < WR_OPTION_ROWS && name.len > 0 && name.len <= MAX_LEN; i++) {
        if (wr_option_rows[i].flag == NULL) {
            continue;
        }

        const struct wr_str flag = wr_str_of(wr_option_rows[i].flag);
        const size_t slips = flag.len <= MAX_LEN ? distance(name, flag) : fewest;

        if (slips < fewest || (nearest == NULL && is_last_word_of(name, flag))) {
            nearest = flag.ptr;
            fewest = least(slips, fewest);
        }
    }
    return nearest;
}
