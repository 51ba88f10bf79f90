/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/near.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LETTERS_MAX 32 /* of a name that is looked at for what it was meant to be */
#define WORDS_MAX 16   /* of a list */

/* A name in lower case without '_' and '-'. */
struct letters {
    char text[LETTERS_MAX];
    size_t len;
};

static bool letters_of(struct wr_str name, struct letters *out)
{
    out->len = 0;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];

        if (c == '_' || c == '-') {
            continue;
        }
        if (out->len == LETTERS_MAX) {
            return false;
        }
        out->text[out->len++] = c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
    }
    return out->len > 0;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance: letters put in, left out or replaced. */
static size_t distance(const struct letters *a, const struct letters *b)
{
    size_t row[LETTERS_MAX + 1];

    for (size_t k = 0; k <= b->len; k++) {
        row[k] = k;
    }
    for (size_t i = 1; i <= a->len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t k = 1; k <= b->len; k++) {
            const size_t replaced = diagonal + (a->text[i - 1] != b->text[k - 1]);

            diagonal = row[k];
            row[k] = smallest(replaced, row[k] + 1, row[k - 1] + 1);
        }
    }
    return row[b->len];
}

size_t wr_near_place(const struct wr_str *names, size_t n, struct wr_str name)
{
    size_t nearest = n;
    struct letters meant, known;

    if (!letters_of(name, &meant)) {
        return n;
    }

    size_t least = meant.len / 3 + 1;

    for (size_t i = 0; i < n; i++) {
        if (!letters_of(names[i], &known)) {
            continue;
        }

        const size_t d = distance(&meant, &known);

        if (d < least) {
            least = d;
            nearest = i;
        }
    }
    return nearest;
}

/* The names of a list. */
static size_t words_of(const char *list, struct wr_str words[WORDS_MAX])
{
    static const char begin[] = "one of ", between[] = ", ";
    size_t n = 0;

    if (strncmp(list, begin, sizeof begin - 1) != 0) {
        return 0;
    }
    for (const char *at = list + sizeof begin - 1; n < WORDS_MAX; at += sizeof between - 1) {
        words[n] = (struct wr_str){.ptr = at, .len = strcspn(at, ",;")};
        at += words[n++].len;
        if (strncmp(at, between, sizeof between - 1) != 0) {
            break;
        }
    }
    return n;
}

const char *wr_near_hint(struct wr_str name, const char *list, char hint[WR_NEAR_HINT_SIZE])
{
    struct wr_str words[WORDS_MAX];
    const size_t n = words_of(list, words);
    const size_t place = wr_near_place(words, n, name);

    if (place == n) {
        return list;
    }
    (void) snprintf(hint, WR_NEAR_HINT_SIZE, "did you mean `%.*s`?", (int) words[place].len,
                    words[place].ptr);
    return hint;
}
