/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_scalar.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define CORE "tag:yaml.org,2002:"

struct row {
    const char *text, *tag;
    enum wr_scalar_kind kind;
    uint64_t magnitude;
    bool is_plain_digits;
};

static const struct row rows[] = {
    {"", "", WR_SCALAR_NULL, 0, false},
    {"~", "", WR_SCALAR_NULL, 0, false},
    {"null", "", WR_SCALAR_NULL, 0, false},
    {"nULL", "", WR_SCALAR_TEXT, 0, false},
    {"yes", "", WR_SCALAR_BOOL, 0, false},
    {"Off", "", WR_SCALAR_BOOL, 0, false},
    {"y", "", WR_SCALAR_BOOL, 0, false},
    {"yEs", "", WR_SCALAR_TEXT, 0, false},
    {"0", "", WR_SCALAR_INT, 0, true},
    {"404", "", WR_SCALAR_INT, 404, true},
    {"-5", "", WR_SCALAR_INT, 5, true},
    {"-0", "", WR_SCALAR_INT, 0, false},
    {"-05", "", WR_SCALAR_INT, 5, false},
    {"+7", "", WR_SCALAR_INT, 7, false},
    {"007", "", WR_SCALAR_INT, 7, false},
    {"010", "", WR_SCALAR_INT, 8, false},
    {"0o17", "", WR_SCALAR_INT, 15, false},
    {"0x1F", "", WR_SCALAR_INT, 31, false},
    {"0b101", "", WR_SCALAR_INT, 5, false},
    {"-0x10", "", WR_SCALAR_INT, 16, false},
    {"1_000", "", WR_SCALAR_INT, 1000, false},
    {"0_", "", WR_SCALAR_INT, 0, false},
    {"9223372036854775807", "", WR_SCALAR_INT, INT64_MAX, true},
    {"-9223372036854775808", "", WR_SCALAR_INT, UINT64_C(1) << 63, true},
    {"9223372036854775808", "", WR_SCALAR_BIG, UINT64_C(1) << 63, true},
    {"18446744073709551615", "", WR_SCALAR_BIG, UINT64_MAX, true},
    {"18446744073709551616", "", WR_SCALAR_FLOAT, 0, false},
    {"-9223372036854775809", "", WR_SCALAR_FLOAT, 0, false},
    {"08", "", WR_SCALAR_FLOAT, 0, false},
    {"1.5", "", WR_SCALAR_FLOAT, 0, false},
    {"1.", "", WR_SCALAR_FLOAT, 0, false},
    {".5", "", WR_SCALAR_FLOAT, 0, false},
    {"1e3", "", WR_SCALAR_FLOAT, 0, false},
    {"-1.5E-3", "", WR_SCALAR_FLOAT, 0, false},
    {".inf", "", WR_SCALAR_FLOAT, 0, false},
    {"-.INF", "", WR_SCALAR_FLOAT, 0, false},
    {".nan", "", WR_SCALAR_FLOAT, 0, false},
    {".", "", WR_SCALAR_TEXT, 0, false},
    {"-", "", WR_SCALAR_TEXT, 0, false},
    {"0x", "", WR_SCALAR_TEXT, 0, false},
    {"1e", "", WR_SCALAR_TEXT, 0, false},
    {"1.2.3", "", WR_SCALAR_TEXT, 0, false},
    {"1:30", "", WR_SCALAR_TEXT, 0, false},
    {"12:30:45", "", WR_SCALAR_TEXT, 0, false},
    {"2024-05-06", "", WR_SCALAR_TEXT, 0, false},
    {"10.0.0.1", "", WR_SCALAR_TEXT, 0, false},
    {"word", "", WR_SCALAR_TEXT, 0, false},
    {"1.50", CORE "str", WR_SCALAR_TEXT, 0, false},
    {"5", CORE "int", WR_SCALAR_INT, 5, true},
    {"5", CORE "float", WR_SCALAR_FLOAT, 5, true},
    {"1.5", CORE "int", WR_SCALAR_BAD, 0, false},
    {"word", CORE "bool", WR_SCALAR_BAD, 0, false},
    {"", CORE "null", WR_SCALAR_NULL, 0, false},
    {"2024-05-06", CORE "timestamp", WR_SCALAR_BAD, 0, false},
    {"aGk=", CORE "binary", WR_SCALAR_BAD, 0, false},
    {"1.5", "!own", WR_SCALAR_TEXT, 0, false},
};

Test(config_scalar, reads_what_the_incumbent_reads)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *const row = &rows[i];
        const struct wr_config_node node = {
            .text = wr_str_of(row->text), .tag = wr_str_of(row->tag), .is_plain = true};
        const struct wr_scalar got = wr_scalar_of(&node);

        cr_assert_eq(got.kind, row->kind, "row %zu, %s: kind %d", i, row->text, (int) got.kind);
        if (got.kind == WR_SCALAR_INT || got.kind == WR_SCALAR_BIG) {
            cr_assert_eq(got.magnitude, row->magnitude, "row %zu, %s: %" PRIu64, i, row->text,
                         got.magnitude);
            cr_assert_eq(got.is_plain_digits, row->is_plain_digits, "row %zu, %s", i, row->text);
            cr_assert_eq(got.is_negative, row->text[0] == '-', "row %zu, %s", i, row->text);
        }
    }
}

Test(config_scalar, switches_have_their_value)
{
    struct wr_config_node node = {.is_plain = true};

    node.text = wr_str_of("On");
    cr_assert(wr_scalar_of(&node).boolean);
    node.text = wr_str_of("n");
    cr_assert_not(wr_scalar_of(&node).boolean);
}

Test(config_scalar, quotes_make_a_text)
{
    const char *const texts[] = {"", "5", "true", "1.5", "~"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct wr_config_node node = {.text = wr_str_of(texts[i]), .is_plain = false};

        cr_assert_eq(wr_scalar_of(&node).kind, WR_SCALAR_TEXT, "%s", texts[i]);
    }
}

Test(config_scalar, a_nul_is_part_of_no_number)
{
    const struct wr_config_node node = {.text = {.ptr = "5\0", .len = 2}, .is_plain = true};

    cr_assert_eq(wr_scalar_of(&node).kind, WR_SCALAR_TEXT);
}
