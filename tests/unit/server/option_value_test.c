/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "option_row.h"

static const struct wr_option_choice levels[] = {
    {"error", WR_LOG_ERROR}, {"warn", WR_LOG_WARN}, {NULL, 0}};

/* Rows of each kind, for fields that hold it. */
static const struct wr_option_row
    text_row = {.kind = WR_OPTION_TEXT, .offset = offsetof(struct wr_options, grpc_host)},
    header_row = {.kind = WR_OPTION_HEADER, .offset = offsetof(struct wr_options, limit_header)},
    list_row = {.kind = WR_OPTION_LIST, .offset = offsetof(struct wr_options, rules)},
    bool_row = {.kind = WR_OPTION_BOOL, .offset = offsetof(struct wr_options, is_strict)},
    number_row = {.kind = WR_OPTION_NUMBER,
                  .offset = offsetof(struct wr_options, slots),
                  .min = 1,
                  .max = 100},
    any_number_row = {.kind = WR_OPTION_NUMBER,
                      .offset = offsetof(struct wr_options, slots),
                      .max = UINT64_MAX},
    octal_row = {.kind = WR_OPTION_OCTAL,
                 .offset = offsetof(struct wr_options, unix_socket_mode),
                 .max = 0777},
    duration_row = {.kind = WR_OPTION_DURATION,
                    .offset = offsetof(struct wr_options, drain_timeout_us),
                    .max = 3600000000},
    choice_row = {.kind = WR_OPTION_CHOICE,
                  .offset = offsetof(struct wr_options, log_level),
                  .choices = levels},
    ignored_row = {.kind = WR_OPTION_IGNORED}, tls_row = {.kind = WR_OPTION_SERVER_TLS};

/* What a row takes, and how the value is printed then; NULL: it is not allowed. */
static const struct {
    const struct wr_option_row *row;
    const char *text, *printed;
} rows[] = {
    {&text_row, "any thing", "any thing"},
    {&text_row, "", ""},
    {&header_row, "x-limit_1!~", "x-limit_1!~"},
    {&header_row, "Content-Type", NULL},
    {&header_row, "", NULL},
    {&bool_row, "1", "true"},
    {&bool_row, "t", "true"},
    {&bool_row, "TRUE", "true"},
    {&bool_row, "False", "false"},
    {&bool_row, "0", "false"},
    {&bool_row, "yes", NULL},
    {&bool_row, "", NULL},
    {&bool_row, "true ", NULL},
    {&number_row, "1", "1"},
    {&number_row, "100", "100"},
    {&number_row, "007", "7"},
    {&number_row, "0", NULL},
    {&number_row, "101", NULL},
    {&number_row, "-1", NULL},
    {&number_row, "+1", NULL},
    {&number_row, " 1", NULL},
    {&number_row, "1 ", NULL},
    {&number_row, "0x10", NULL},
    {&number_row, "", NULL},
    {&any_number_row, "18446744073709551615", "18446744073709551615"},
    {&any_number_row, "18446744073709551616", NULL},
    {&octal_row, "660", "0660"},
    {&octal_row, "0777", "0777"},
    {&octal_row, "1000", NULL},
    {&octal_row, "8", NULL},
    {&duration_row, "0", "0s"},
    {&duration_row, "7us", "7us"},
    {&duration_row, "500ms", "500ms"},
    {&duration_row, "90s", "1m30s"},
    {&duration_row, "60m", "1h"},
    {&duration_row, "1500ms", "1s500ms"},
    {&duration_row, "1h1us", NULL},
    {&duration_row, "59m61s", NULL},
    {&duration_row, "5", NULL},
    {&duration_row, "s", NULL},
    {&duration_row, "1.5s", NULL},
    {&duration_row, "-1s", NULL},
    {&duration_row, "1s ", NULL},
    {&duration_row, "", NULL},
    {&duration_row, "18446744073709551616us", NULL},
    {&duration_row, "18446744073709551615h", NULL},
    {&choice_row, "warn", "warn"},
    {&choice_row, "ERROR", "error"},
    {&choice_row, "shout", NULL},
    {&choice_row, "", NULL},
    {&ignored_row, "what\never", ""},
    {&tls_row, "yes", ""},
};

static const char *printed_value(const struct wr_options *options, const struct wr_option_row *row)
{
    static char text[256];
    FILE *const out = fmemopen(text, sizeof text, "w");

    cr_assert_not_null(out);
    text[0] = '\0';
    wr_option_print_value(options, row, out);
    fclose(out);
    return text;
}

Test(option_value, is_taken_and_printed_or_refused)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_options options = {0};
        const bool is_allowed = wr_option_set(&options, rows[i].row, rows[i].text);

        cr_assert_eq(is_allowed, rows[i].printed != NULL, "row %zu: '%s'", i, rows[i].text);
        if (is_allowed) {
            cr_assert_str_eq(printed_value(&options, rows[i].row), rows[i].printed, "row %zu", i);
        }
    }
}

Test(option_value, of_a_list_is_added_to)
{
    struct wr_options options = {0};

    cr_assert(wr_option_set(&options, &list_row, "a"));
    cr_assert(wr_option_set(&options, &list_row, "b,c"), "a flag's comma parts nothing");
    cr_assert_eq(options.rules.n, 2);
    cr_assert_str_eq(printed_value(&options, &list_row), "a,b,c");
    cr_assert_not(wr_option_set(&options, &list_row, ""));
    wr_option_clear_list(&options, &list_row);
    cr_assert_eq(options.rules.n, 0);
    for (size_t i = 0; i < WR_OPTION_LIST_MAX; i++) {
        cr_assert(wr_option_set(&options, &list_row, "x"));
    }
    cr_assert_not(wr_option_set(&options, &list_row, "x"));
}

Test(option_value, of_a_variable_is_parted_at_commas)
{
    static const struct {
        const char *text;
        size_t n; /* 0: not allowed */
    } lists[] = {{"a", 1}, {"a,b,c", 3}, {"", 0}, {"a,,b", 0}, {"a,", 0}, {",a", 0}};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct wr_options options = {0};
        const bool is_allowed = wr_option_set_list(&options, &list_row, lists[i].text);

        cr_assert_eq(is_allowed, lists[i].n > 0, "row %zu", i);
        if (is_allowed) {
            cr_assert_eq(options.rules.n, lists[i].n, "row %zu", i);
            cr_assert_str_eq(printed_value(&options, &list_row), lists[i].text);
        }
        free(options.rules.copy);
    }
}

Test(option_value, that_is_allowed_can_be_told)
{
    static const struct wr_option_row special = {.kind = WR_OPTION_TEXT, .allowed = "HOST"};
    static const struct {
        const struct wr_option_row *row;
        const char *text;
    } told[] = {
        {&bool_row, "true or false"},
        {&number_row, "a whole number from 1 to 100"},
        {&octal_row, "an octal number from 0 to 777"},
        {&duration_row, "a duration as 500ms, 10s or 1m30s, at most 3600s"},
        {&choice_row, "error, warn"},
        {&list_row, "a text that is not empty, at most 64 times"},
        {&header_row, "a header name: letters, digits and !#$%&'*+-.^_`|~, at most 256; "
                      "none that HTTP or gRPC sets itself, as content-type, te or grpc-status"},
        {&text_row, "any text"},
        {&ignored_row, "any text"},
        {&special, "HOST"},
    };

    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        char text[256] = "";
        FILE *const out = fmemopen(text, sizeof text, "w");

        cr_assert_not_null(out);
        wr_option_print_allowed(told[i].row, out);
        fclose(out);
        cr_assert_str_eq(text, told[i].text, "row %zu", i);
    }
}

Test(option_value, of_the_incumbent_alone_is_idle)
{
    cr_assert(wr_option_is_idle(&ignored_row));
    cr_assert(wr_option_is_idle(&tls_row));
    cr_assert_not(wr_option_is_idle(&text_row));
}

Test(option_value, means_another_when_both_are_the_same_truth)
{
    static const struct {
        const char *text, *other;
        bool is_same;
    } pairs[] = {
        {"text", "text", true},  {"text", "json", false}, {"T", "true", true},
        {"false", "0", true},    {"1", "false", false},   {"yes", "true", false},
        {"true", "text", false},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cr_assert_eq(wr_option_means(pairs[i].text, pairs[i].other), pairs[i].is_same, "%s %s",
                     pairs[i].text, pairs[i].other);
    }
}
