/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_colon.h"

#include <stdio.h>

#define MISSING "a blank is missing behind the colon of `%s:`"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without the blanks at its beginning, and the dashes of lists. */
static struct wr_str trimmed(struct wr_str text)
{
    size_t i = 0;

    while (i < text.len && (is_blank(text.ptr[i]) || (text.ptr[i] == '-' && i + 1 < text.len &&
                                                      is_blank(text.ptr[i + 1])))) {
        i++;
    }
    return (struct wr_str){.ptr = text.len == 0 ? "" : text.ptr + i, .len = text.len - i};
}

enum wr_config_key wr_config_colon_key(struct wr_str text)
{
    const struct wr_str word = trimmed(text);
    const size_t colon = wr_str_find(word, ':');

    if (word.len - colon < 2 || is_blank(word.ptr[colon + 1])) {
        return WR_KEY_COUNT;
    }
    return wr_config_key_of(wr_str_part(word, 0, colon));
}

const char *wr_config_colon_hint(const struct wr_config_node *node, const char *otherwise,
                                 char hint[WR_CONFIG_COLON_HINT_SIZE])
{
    const enum wr_config_key key = node->kind == WR_CONFIG_SCALAR && node->is_plain
                                       ? wr_config_colon_key(node->text)
                                       : WR_KEY_COUNT;

    if (key == WR_KEY_COUNT) {
        return otherwise;
    }
    (void) snprintf(hint, WR_CONFIG_COLON_HINT_SIZE, MISSING, wr_config_key_name(key));
    return hint;
}

/* Where the line that `at` is in begins. */
static size_t begin_of_line(struct wr_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n') {
        at--;
    }
    return at;
}

static struct wr_str line_from(struct wr_str text, size_t begin)
{
    const struct wr_str rest = wr_str_skip(text, begin);

    return wr_str_part(rest, 0, wr_str_find(rest, '\n'));
}

/* Nothing but blanks, or a comment. */
static bool says_nothing(struct wr_str line)
{
    const struct wr_str rest = trimmed(line);

    return rest.len == 0 || rest.ptr[0] == '#';
}

/* Where the `line`th line begins, at most the last one, which is then put into `*line`. */
static size_t find_line(struct wr_str text, size_t *line)
{
    size_t begin = 0, n = 0;

    for (size_t i = 0; i < text.len && n < *line; i++) {
        if (text.ptr[i] == '\n') {
            begin = i + 1;
            n++;
        }
    }
    *line = n;
    return begin;
}

const char *wr_config_colon_hint_at(struct wr_str text, size_t line,
                                    char hint[WR_CONFIG_COLON_HINT_SIZE])
{
    size_t begin = find_line(text, &line);
    enum wr_config_key key =
        text.len == 0 ? WR_KEY_COUNT : wr_config_colon_key(line_from(text, begin));

    while (key == WR_KEY_COUNT && begin > 0) {
        begin = begin_of_line(text, begin - 1);
        line--;
        key = wr_config_colon_key(line_from(text, begin));
        if (!says_nothing(line_from(text, begin))) {
            break;
        }
    }
    if (key == WR_KEY_COUNT) {
        return NULL;
    }
    (void) snprintf(hint, WR_CONFIG_COLON_HINT_SIZE, MISSING " in line %zu",
                    wr_config_key_name(key), line + 1);
    return hint;
}
