/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/command.h"

#include <string.h>

static size_t n_digits(size_t number)
{
    size_t n = 1;

    while (number >= 10) {
        number /= 10;
        n++;
    }
    return n;
}

/* A marker, a length and the end of a line. */
static char *write_head(char *out, char marker, size_t number)
{
    const size_t n = n_digits(number);

    *out++ = marker;
    for (size_t i = n; i > 0; i--) {
        out[i - 1] = (char) ('0' + number % 10);
        number /= 10;
    }
    out[n] = '\r';
    out[n + 1] = '\n';
    return out + n + 2;
}

size_t wr_redis_command_size(const struct wr_str *words, size_t n)
{
    size_t size = 3 + n_digits(n);

    for (size_t i = 0; i < n; i++) {
        size += 5 + n_digits(words[i].len) + words[i].len;
    }
    return size;
}

size_t wr_redis_command_write(const struct wr_str *words, size_t n, char *out, size_t *out_at)
{
    char *at = write_head(out, '*', n);

    for (size_t i = 0; i < n; i++) {
        at = write_head(at, '$', words[i].len);
        if (out_at != NULL) {
            out_at[i] = (size_t) (at - out);
        }
        if (words[i].len > 0) {
            memcpy(at, words[i].ptr, words[i].len);
        }
        at += words[i].len;
        *at++ = '\r';
        *at++ = '\n';
    }
    return (size_t) (at - out);
}
