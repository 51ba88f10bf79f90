/* SPDX-License-Identifier: Apache-2.0 */
#include "option_row.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/shown.h"
#include "header_name.h"

_Static_assert(sizeof(enum wr_failure_mode) == sizeof(unsigned), "choices are written as unsigned");
_Static_assert(sizeof(enum wr_log_level) == sizeof(unsigned), "choices are written as unsigned");
_Static_assert(sizeof(enum wr_redis_key_form) == sizeof(unsigned),
               "choices are written as unsigned");
_Static_assert(sizeof(enum wr_redis_topology) == sizeof(unsigned),
               "choices are written as unsigned");
_Static_assert(sizeof(enum wr_redis_socket_type) == sizeof(unsigned),
               "choices are written as unsigned");
_Static_assert(sizeof(enum wr_rules_kind) == sizeof(unsigned), "choices are written as unsigned");
_Static_assert(sizeof(enum wr_store_kind) == sizeof(unsigned), "choices are written as unsigned");

static void *field_of(struct wr_options *options, const struct wr_option_row *row)
{
    return (char *) options + row->offset;
}

static const void *value_of(const struct wr_options *options, const struct wr_option_row *row)
{
    return (const char *) options + row->offset;
}

static bool parse_bool(const char *text, bool *out_value)
{
    static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE"};
    static const char *const no[] = {"0", "f", "F", "false", "False", "FALSE"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out_value = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

bool wr_option_is_idle(const struct wr_option_row *row)
{
    return row->kind == WR_OPTION_IGNORED || row->kind == WR_OPTION_SERVER_TLS;
}

bool wr_option_means(const char *text, const char *other)
{
    bool one, another;

    return strcmp(text, other) == 0 ||
           (parse_bool(text, &one) && parse_bool(other, &another) && one == another);
}

static bool parse_number(const char *text, int base, uint64_t min, uint64_t max,
                         uint64_t *out_value)
{
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;

    const unsigned long long value = strtoull(text, &end, base);

    if (errno != 0 || *end != '\0' || value < min || value > max) {
        return false;
    }
    *out_value = value;
    return true;
}

/* The microseconds of the unit at `text`, and its length; 0 when there is none. */
static int64_t duration_unit(const char *text, size_t *out_len)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", 3600000000}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t len = strlen(units[i].name);

        if (strncmp(text, units[i].name, len) == 0) {
            *out_len = len;
            return units[i].us;
        }
    }
    return 0;
}

/* A sum of whole numbers with units, as 1m30s; 0 needs none. */
static bool parse_duration(const char *text, uint64_t min_us, uint64_t max_us, int64_t *out_us)
{
    uint64_t sum_us = 0;

    if (strcmp(text, "0") == 0) {
        *out_us = 0;
        return min_us == 0;
    }
    if (*text == '\0') {
        return false;
    }
    while (*text != '\0') {
        const struct wr_str digits = {.ptr = text, .len = wr_number_digits(wr_str_of(text))};
        size_t unit_len = 0;
        const int64_t unit_us = duration_unit(text + digits.len, &unit_len);
        uint64_t number = 0;

        if (unit_us == 0 || !wr_number_parse(digits, max_us / (uint64_t) unit_us, &number) ||
            sum_us + number * (uint64_t) unit_us > max_us) {
            return false;
        }
        sum_us += number * (uint64_t) unit_us;
        text += digits.len + unit_len;
    }
    *out_us = (int64_t) sum_us;
    return sum_us >= min_us;
}

static bool parse_choice(const char *text, const struct wr_option_choice *choices,
                         unsigned *out_value)
{
    for (const struct wr_option_choice *choice = choices; choice->name != NULL; choice++) {
        if (strcasecmp(text, choice->name) == 0) {
            *out_value = choice->value;
            return true;
        }
    }
    return false;
}

static bool add_item(struct wr_option_list *list, const char *text)
{
    if (list->n == WR_OPTION_LIST_MAX || *text == '\0') {
        return false;
    }
    list->items[list->n++] = text;
    return true;
}

bool wr_option_set(struct wr_options *options, const struct wr_option_row *row, const char *text)
{
    void *const field = field_of(options, row);

    switch (row->kind) {
    case WR_OPTION_TEXT:
    case WR_OPTION_SECRET:
        *(const char **) field = text;
        return true;
    case WR_OPTION_HEADER:
        *(const char **) field = text;
        return wr_header_name_is_free(wr_str_of(text)) ||
               (row->default_text != NULL && strcmp(text, row->default_text) == 0);
    case WR_OPTION_LIST:
        return add_item(field, text);
    case WR_OPTION_BOOL:
        return parse_bool(text, field);
    case WR_OPTION_NUMBER:
        return parse_number(text, 10, row->min, row->max, field);
    case WR_OPTION_OCTAL:
        return parse_number(text, 8, row->min, row->max, field);
    case WR_OPTION_DURATION:
        return parse_duration(text, row->min, row->max, field);
    case WR_OPTION_CHOICE:
        return parse_choice(text, row->choices, field);
    case WR_OPTION_IGNORED:
    case WR_OPTION_SERVER_TLS:
    default:
        return true;
    }
}

/* As a person writes it: 1m30s. */
static void print_duration(int64_t us, FILE *out)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"h", 3600000000}, {"m", 60000000}, {"s", 1000000}, {"ms", 1000}, {"us", 1}};

    if (us == 0) {
        fprintf(out, "0s");
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (us >= units[i].us) {
            fprintf(out, "%" PRId64 "%s", us / units[i].us, units[i].name);
            us %= units[i].us;
        }
    }
}

void wr_option_print_allowed(const struct wr_option_row *row, FILE *out)
{
    if (row->allowed != NULL) {
        fprintf(out, "%s", row->allowed);
        return;
    }
    switch (row->kind) {
    case WR_OPTION_BOOL:
        fprintf(out, "true or false");
        break;
    case WR_OPTION_NUMBER:
        fprintf(out, "a whole number from %" PRIu64 " to %" PRIu64, row->min, row->max);
        break;
    case WR_OPTION_OCTAL:
        fprintf(out, "an octal number from %" PRIo64 " to %" PRIo64, row->min, row->max);
        break;
    case WR_OPTION_DURATION:
        fprintf(out, "a duration as 500ms, 10s or 1m30s, ");
        if (row->min > 0) {
            fprintf(out, "at least %" PRIu64 "ms, ", row->min / 1000);
        }
        fprintf(out, "at most %" PRIu64 "s", row->max / 1000000);
        break;
    case WR_OPTION_CHOICE:
        for (const struct wr_option_choice *choice = row->choices; choice->name != NULL; choice++) {
            fprintf(out, "%s%s", choice == row->choices ? "" : ", ", choice->name);
        }
        break;
    case WR_OPTION_LIST:
        fprintf(out, "a text that is not empty, at most %d times", WR_OPTION_LIST_MAX);
        break;
    case WR_OPTION_HEADER:
        fprintf(out, "a header name: letters, digits and !#$%%&'*+-.^_`|~, at most 256; "
                     "none that HTTP or gRPC sets itself, as content-type, te or grpc-status");
        break;
    case WR_OPTION_TEXT:
    case WR_OPTION_SECRET:
    case WR_OPTION_IGNORED:
    case WR_OPTION_SERVER_TLS:
    default:
        fprintf(out, "any text");
        break;
    }
}

bool wr_option_is_same(const struct wr_options *a, const struct wr_options *b,
                       const struct wr_option_row *row)
{
    const void *const one = value_of(a, row);
    const void *const other = value_of(b, row);

    switch (row->kind) {
    case WR_OPTION_TEXT:
    case WR_OPTION_HEADER:
    case WR_OPTION_SECRET:
        return strcmp(*(const char *const *) one, *(const char *const *) other) == 0;
    case WR_OPTION_BOOL:
        return *(const bool *) one == *(const bool *) other;
    case WR_OPTION_NUMBER:
    case WR_OPTION_OCTAL:
        return *(const uint64_t *) one == *(const uint64_t *) other;
    case WR_OPTION_DURATION:
        return *(const int64_t *) one == *(const int64_t *) other;
    case WR_OPTION_CHOICE:
        return *(const unsigned *) one == *(const unsigned *) other;
    case WR_OPTION_LIST:
    case WR_OPTION_IGNORED:
    case WR_OPTION_SERVER_TLS:
    default:
        return true;
    }
}

void wr_option_clear_list(struct wr_options *options, const struct wr_option_row *row)
{
    ((struct wr_option_list *) field_of(options, row))->n = 0;
}

bool wr_option_set_list(struct wr_options *options, const struct wr_option_row *row,
                        const char *text)
{
    struct wr_option_list *const list = field_of(options, row);
    char *rest = strdup(text);

    if (rest == NULL) {
        return false;
    }
    list->copy = rest;
    while (rest != NULL) {
        char *const comma = strchr(rest, ',');

        if (comma != NULL) {
            *comma = '\0';
        }
        if (!add_item(list, rest)) {
            return false;
        }
        rest = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

void wr_option_print_value(const struct wr_options *options, const struct wr_option_row *row,
                           FILE *out)
{
    const void *const value = value_of(options, row);

    switch (row->kind) {
    case WR_OPTION_TEXT:
    case WR_OPTION_HEADER:
        wr_shown_print(wr_str_of(*(const char *const *) value), out);
        break;
    case WR_OPTION_SECRET:
        fprintf(out, "%s", **(const char *const *) value != '\0' ? "(given, not shown)" : "");
        break;
    case WR_OPTION_LIST:
        for (size_t i = 0; i < ((const struct wr_option_list *) value)->n; i++) {
            fputs(i > 0 ? "," : "", out);
            wr_shown_print(wr_str_of(((const struct wr_option_list *) value)->items[i]), out);
        }
        break;
    case WR_OPTION_BOOL:
        fprintf(out, "%s", *(const bool *) value ? "true" : "false");
        break;
    case WR_OPTION_NUMBER:
        fprintf(out, "%" PRIu64, *(const uint64_t *) value);
        break;
    case WR_OPTION_OCTAL:
        fprintf(out, "0%" PRIo64, *(const uint64_t *) value);
        break;
    case WR_OPTION_DURATION:
        print_duration(*(const int64_t *) value, out);
        break;
    case WR_OPTION_CHOICE:
        for (const struct wr_option_choice *choice = row->choices; choice->name != NULL; choice++) {
            if (choice->value == *(const unsigned *) value) {
                fprintf(out, "%s", choice->name);
                break;
            }
        }
        break;
    case WR_OPTION_IGNORED:
    case WR_OPTION_SERVER_TLS:
    default:
        break;
    }
}
