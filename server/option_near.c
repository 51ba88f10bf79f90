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

struct guess {
    struct wr_str name;
    const char *nearest; /* NULL: none */
    size_t fewest;       /* slips; at first one more than still let the name be known */
};

static struct guess guess_of(struct wr_str name)
{
    return (struct guess){
        .name = name,
        .fewest = (name.len < SHORT_LEN ? SHORT_SLIPS : LONG_SLIPS) + 1,
    };
}

static void compare(struct guess *guess, const char *text)
{
    const struct wr_str known = wr_str_of(text);

    if (guess->name.len > MAX_LEN || known.len > MAX_LEN) {
        return;
    }

    const size_t slips = distance(guess->name, known);

    if (slips < guess->fewest) {
        guess->nearest = text;
        guess->fewest = slips;
    }
}

const char *wr_option_near(struct wr_str name)
{
    struct guess guess = guess_of(name);

    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        compare(&guess, wr_option_rows[i].variable);
    }
    return guess.fewest == 0 ? NULL : guess.nearest;
}

static bool is_last_word_of(struct wr_str name, struct wr_str flag)
{
    return flag.len > name.len && flag.ptr[flag.len - name.len - 1] == '-' &&
           memcmp(flag.ptr + flag.len - name.len, name.ptr, name.len) == 0;
}

const char *wr_option_near_flag(struct wr_str name)
{
    struct guess guess = guess_of(name);

    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        const char *const flag = wr_option_rows[i].flag;

        if (flag == NULL) {
            continue;
        }
        compare(&guess, flag);
        if (guess.nearest == NULL && is_last_word_of(name, wr_str_of(flag))) {
            guess.nearest = flag;
        }
    }
    return guess.nearest;
}
