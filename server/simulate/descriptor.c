/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/descriptor.h"

#include <string.h>

#include "base/shown.h"

/* Where a text is read, and where what it means is written, which never overtakes. */
struct cursor {
    const char *in;
    char *out;
};

/* Copies up to a sign of `stops` that is not escaped, or the end; returns what it stopped at. */
static char take_until(struct cursor *cursor, const char *stops, struct wr_str *out_text)
{
    char *const begin = cursor->out;

    while (*cursor->in != '\0' && strchr(stops, *cursor->in) == NULL) {
        if (cursor->in[0] == '\\' && cursor->in[1] != '\0' &&
            strchr(",=\\", cursor->in[1]) != NULL) {
            cursor->in++;
        }
        *cursor->out++ = *cursor->in++;
    }
    *out_text = (struct wr_str){.ptr = begin, .len = (size_t) (cursor->out - begin)};
    return *cursor->in == '\0' ? '\0' : *cursor->in++;
}

size_t wr_sim_descriptor_parse(const char *text, struct wr_arena *arena, struct wr_entry *entries,
                               size_t max)
{
    struct cursor cursor = {.in = text, .out = wr_arena_alloc(arena, strlen(text) + 1)};
    size_t n = 0;

    for (char stop = ','; stop != '\0' && cursor.out != NULL; n++) {
        if (n == max || take_until(&cursor, "=,", &entries[n].key) != '=' ||
            entries[n].key.len == 0) {
            return 0;
        }
        stop = take_until(&cursor, ",", &entries[n].value);
    }
    return n;
}

void wr_sim_descriptor_write(const struct wr_entry *entries, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        (void) fputs(i == 0 ? "" : ",", out);
        wr_shown_print(entries[i].key, out);
        (void) fputc('=', out);
        wr_shown_print(entries[i].value, out);
    }
}
