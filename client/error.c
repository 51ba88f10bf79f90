/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

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

static void replace_controls(char *text)
{
    for (char *p = text; *p != '\0'; p++) {
        const unsigned char byte = (unsigned char) *p;

        if (byte < 0x20U || byte == 0x7FU) {
            *p = ' ';
        }
    }
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
    replace_controls(error->text);
    return code;
}

void weir_error_clear(struct weir_error *error)
{
    error->code = WEIR_OK;
    error->text[0] = '\0';
}
