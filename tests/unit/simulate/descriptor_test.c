/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/descriptor.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MAX_ENTRIES 3

Test(descriptor, read_and_written)
{
    static const struct {
        const char *text, *written;
        size_t n;
    } rows[] = {
        {"user=ann", "user=ann", 1},
        {"user=", "user=", 1},
        {"a=b=c,d=e", "a=b=c,d=e", 2},
        {"a\\=b=c\\,d\\\\\\x", "a=b=c,d\\\\x", 1},
        {"a=1,b=2,c=3", "a=1,b=2,c=3", 3},
        {"a=\x1b", "a=?", 1},
        {"", NULL, 0},
        {"user", NULL, 0},
        {"=ann", NULL, 0},
        {"a=1,", NULL, 0},
        {"a=1,b", NULL, 0},
        {"a=1,b=2,c=3,d=4", NULL, 0},
    };

    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_entry entries[MAX_ENTRIES];
        const size_t n = wr_sim_descriptor_parse(rows[i].text, &arena, entries, MAX_ENTRIES);

        cr_assert_eq(n, rows[i].n, "%s: %zu", rows[i].text, n);
        if (n > 0) {
            char *text = NULL;
            size_t size = 0;
            FILE *const out = open_memstream(&text, &size);

            cr_assert_not_null(out);
            wr_sim_descriptor_write(entries, n, out);
            cr_assert_eq(fclose(out), 0);
            cr_assert_str_eq(text, rows[i].written);
            free(text);
        }
    }
    wr_arena_fini(&arena);
}
