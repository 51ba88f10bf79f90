/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/wire/bytes.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static unsigned digit(char c)
{
    const char *const digits = "0123456789abcdef";
    const char *const at = strchr(digits, c);

    cr_assert(c != '\0' && at != NULL, "'%c' is no hexadecimal digit", c);
    return (unsigned) (at - digits);
}

struct wr_str bytes_copy(struct wr_str bytes)
{
    char *const copy = malloc(bytes.len);

    cr_assert(copy != NULL || bytes.len == 0);
    if (bytes.len > 0) {
        memcpy(copy, bytes.ptr, bytes.len);
    }
    return (struct wr_str){.ptr = copy, .len = bytes.len};
}

struct wr_str bytes_of_hex(const char *hex)
{
    char *const bytes = malloc(strlen(hex));
    size_t n = 0;

    cr_assert(bytes != NULL || hex[0] == '\0');
    while (*hex != '\0') {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        bytes[n++] = (char) (unsigned char) (digit(hex[0]) << 4 | digit(hex[1]));
        hex += 2;
    }

    const struct wr_str copy = bytes_copy((struct wr_str){.ptr = bytes, .len = n});

    free(bytes);
    return copy;
}

void bytes_free(struct wr_str bytes)
{
    free((void *) (uintptr_t) bytes.ptr);
}

void bytes_expect(struct wr_str bytes, const char *hex)
{
    const struct wr_str want = bytes_of_hex(hex);
    const size_t common = bytes.len < want.len ? bytes.len : want.len;

    for (size_t i = 0; i < common; i++) {
        cr_assert_eq(bytes.ptr[i], want.ptr[i], "byte %zu is %02x, not %02x as in %s", i,
                     (unsigned) (unsigned char) bytes.ptr[i],
                     (unsigned) (unsigned char) want.ptr[i], hex);
    }
    cr_assert_eq(bytes.len, want.len, "%zu bytes, not %zu as in %s", bytes.len, want.len, hex);
    bytes_free(want);
}
