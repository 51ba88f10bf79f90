/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "../error.h"

#include <strings.h>

/* Reads digits from `*text` on, and moves it past them; false without any or above `max`. */
static bool take_digits(const char **text, uint64_t max, uint64_t *out_number)
{
    const char *p = *text;
    uint64_t number = 0;

    if (*p < '0' || *p > '9') {
        return false;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t) (*p - '0');

        if (digit > max || number > (max - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *text = p;
    *out_number = number;
    return true;
}

bool weirctl_parse_number(const char *text, uint64_t max, uint64_t *out_number)
{
    uint64_t number;

    if (!take_digits(&text, max, &number) || *text != '\0' || number == 0) {
        return false;
    }
    *out_number = number;
    return true;
}

bool weirctl_parse_duration(const char *text, uint32_t *out_ms)
{
    static const struct {
        const char *suffix;
        uint32_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
    const uint64_t day_ms = 86400000;
    uint64_t number;

    if (!take_digits(&text, day_ms, &number)) {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].suffix) == 0) {
            const uint64_t ms = number * units[i].ms;

            if (ms == 0 || ms > day_ms) {
                return false;
            }
            *out_ms = (uint32_t) ms;
            return true;
        }
    }
    return false;
}

bool weirctl_parse_limit(const char *text, struct weirctl_limit *out_limit)
{
    uint64_t requests;

    if (!take_digits(&text, UINT32_MAX, &requests) || *text != '/') {
        return false;
    }
    for (enum weir_unit unit = WEIR_UNIT_SECOND; unit <= WEIR_UNIT_WEEK; unit++) {
        if (strcasecmp(text + 1, weir_unit_name(unit)) == 0) {
            out_limit->requests = (uint32_t) requests;
            out_limit->unit = unit;
            return true;
        }
    }
    return false;
}

/* ---- Descriptors ---- */

/* Where a text is read and where its unescaped form is written, which never overtakes. */
struct cursor {
    const char *in;
    char *out;
};

/* Copies up to a stop character that is not escaped, or the end. Returns what it stopped at. */
static char copy_until(struct cursor *cursor, const char *stops, struct weir_str *out_text)
{
    const char *begin = cursor->out;

    while (*cursor->in != '\0' && strchr(stops, *cursor->in) == NULL) {
        if (cursor->in[0] == '\\' && cursor->in[1] != '\0' &&
            strchr(",=\\", cursor->in[1]) != NULL) {
            cursor->in++;
        }
        *cursor->out++ = *cursor->in++;
    }
    *out_text = (struct weir_str){begin, (size_t) (cursor->out - begin)};

    const char stop = *cursor->in;

    if (stop != '\0') {
        cursor->in++;
    }
    return stop;
}

enum weir_err weirctl_parse_descriptor(char *text, struct weirctl_descriptor *out,
                                       struct weir_error *error)
{
    struct cursor cursor = {text, text};
    char stop;

    out->entry_count = 0;
    do {
        struct weir_entry entry;

        if (out->entry_count == WEIR_ENTRIES_MAX) {
            return weir_error_set(error, WEIR_ERR_FULL, "a descriptor has at most %d entries",
                                  WEIR_ENTRIES_MAX);
        }
        stop = copy_until(&cursor, "=,", &entry.key);
        if (stop != '=' || entry.key.len == 0) {
            return weir_error_set(
                error, WEIR_ERR_INVALID,
                "entry %zu of a descriptor is not key=value; write a comma inside "
                "a value as \\,",
                out->entry_count + 1);
        }
        stop = copy_until(&cursor, ",", &entry.value);
        out->entries[out->entry_count++] = entry;
    } while (stop != '\0');
    return WEIR_OK;
}
