/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/command.h"

#include <criterion/criterion.h>
#include <string.h>

Test(redis_command, words_become_bulk_strings)
{
    static const struct {
        struct wr_str words[3];
        size_t n;
        struct wr_str bytes;
    } rows[] = {
        {{WR_STR("PING")}, 1, WR_STR("*1\r\n$4\r\nPING\r\n")},
        {{WR_STR("ECHO"), WR_STR("")}, 2, WR_STR("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n")},
        {{WR_STR("ECHO"), WR_STR("a\r\nb\0c")},
         2,
         WR_STR("*2\r\n$4\r\nECHO\r\n$6\r\na\r\nb\0c\r\n")},
        {{WR_STR("SET"), WR_STR("key"), WR_STR("0123456789")},
         3,
         WR_STR("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$10\r\n0123456789\r\n")},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[128];
        size_t at[3];
        const size_t size = wr_redis_command_size(rows[i].words, rows[i].n);
        const size_t n = wr_redis_command_write(rows[i].words, rows[i].n, out, at);

        cr_assert_eq(size, rows[i].bytes.len, "row %zu", i);
        cr_assert_eq(n, size, "row %zu", i);
        cr_assert_eq(memcmp(out, rows[i].bytes.ptr, n), 0, "row %zu: %.*s", i, (int) n, out);
        for (size_t word = 0; word < rows[i].n; word++) {
            cr_assert_eq(memcmp(out + at[word], rows[i].words[word].ptr, rows[i].words[word].len),
                         0);
        }
    }
}
