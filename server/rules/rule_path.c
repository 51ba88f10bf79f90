/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_path.h"

#include <stdio.h>
#include <string.h>

struct text {
    char *bytes; /* NULL while only the length is wanted */
    size_t len;  /* at most WR_RULE_PATH_MAX */
};

static void put(struct text *text, struct wr_str part)
{
    const size_t room = WR_RULE_PATH_MAX - text->len;
    const size_t len = part.len < room ? part.len : room;

    if (text->bytes != NULL && len > 0) {
        memcpy(text->bytes + text->len, part.ptr, len);
    }
    text->len += len;
}

/* Recursion is as deep as rules are nested, which whoever makes them bounds. */
static void put_path(struct text *text, const struct wr_rule_path *path)
{
    if (path->parent != NULL) {
        put_path(text, path->parent);
        put(text, (struct wr_str) WR_STR("."));
    }
    if (path->key.len == 0 && path->number > 0) {
        char number[48];

        (void) snprintf(number, sizeof number, "(descriptor %zu)", path->number);
        put(text, wr_str_of(number));
    }
    put(text, path->key);
    if (path->value.len > 0) {
        put(text, (struct wr_str) WR_STR("_"));
        put(text, path->value);
    }
}

bool wr_rule_path_write(const struct wr_rule_path *path, struct wr_arena *arena,
                        struct wr_str *out_text)
{
    struct text text = {0};

    put_path(&text, path);
    text.bytes = wr_arena_alloc(arena, text.len);
    if (text.bytes == NULL) {
        return false;
    }
    text.len = 0;
    put_path(&text, path);
    *out_text = (struct wr_str){.ptr = text.bytes, .len = text.len};
    return true;
}

struct wr_str wr_rule_path_note(const struct wr_rule_path *path, struct wr_diag *diag,
                                enum wr_severity severity)
{
    struct wr_str text = {0};

    if (path != NULL && wr_diag_has_room(diag, severity) &&
        !wr_rule_path_write(path, &diag->arena, &text)) {
        diag->is_incomplete = true;
    }
    return text;
}
