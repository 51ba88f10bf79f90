/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "shown.h"

static const char *const names[] = {
#define ERR_NAME(name, word) [name] = word,
    WEIR_ERR_TABLE(ERR_NAME)
#undef ERR_NAME
};

const char *weir_err_name(enum weir_err err)
{
    const size_t index = (size_t) err;

    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

static bool is_continuation(char byte)
{
    return ((unsigned char) byte & 0xC0U) == 0x80U;
}

/* Ends a text that did not fit in "...", between two characters. */
static void ellipsis(char text[WEIR_ERROR_MAX + 1])
{
    size_t end = WEIR_ERROR_MAX - 3;

    while (end > 0 && is_continuation(text[end])) {
        end--;
    }
    memcpy(&text[end], "...", sizeof "...");
}

/* One blank for each character that is not to be shown. */
static void make_shown(char *text)
{
    struct weir_str rest = weir_str(text);
    char *end = text;

    while (rest.len > 0) {
        bool is_shown;
        const size_t len = weir_shown_first(rest, &is_shown);

        if (is_shown) {
            memmove(end, rest.ptr, len);
            end += len;
        } else {
            *end++ = ' ';
        }
        rest.ptr += len;
        rest.len -= len;
    }
    *end = '\0';
}

enum weir_err weir_error_set(struct weir_error *error, enum weir_err code, const char *format, ...)
{
    if (error == NULL) {
        return code;
    }

    va_list args;

    va_start(args, format);
    const int len = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->code = code;
    if (len < 0) {
        error->text[0] = '\0';
    } else if ((size_t) len > WEIR_ERROR_MAX) {
        ellipsis(error->text);
    }
    make_shown(error->text);
    return code;
}

void weir_error_clear(struct weir_error *error)
{
    error->code = WEIR_OK;
    error->text[0] = '\0';
}
