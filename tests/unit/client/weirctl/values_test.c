/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/values.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

Test(values, reads_numbers_of_digits_alone)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1x",
                                      "0x1",
                                      "1.0",
                                      "4294967296",
                                      "99999999999999999999999"};
    uint64_t number = 7;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_not(weirctl_parse_number(bad[i], UINT32_MAX, &number), "'%s'", bad[i]);
    }
    cr_assert_eq(number, 7, "an output that must stay untouched");
    cr_assert(weirctl_parse_number("4294967295", UINT32_MAX, &number) && number == UINT32_MAX);
    cr_assert(weirctl_parse_number("007", UINT32_MAX, &number) && number == 7);
    cr_assert(weirctl_parse_number("18446744073709551615", UINT64_MAX, &number));
    cr_assert_eq(number, UINT64_MAX);
    cr_assert_not(weirctl_parse_number("18446744073709551616", UINT64_MAX, &number));
}

Test(values, reads_durations)
{
    static const struct {
        const char *text;
        uint32_t ms; /* 0: refused */
    } rows[] = {
        {"20ms", 20},
        {"1s", 1000},
        {"2m", 120000},
        {"1440m", 86400000},
        {"86400s", 86400000},
        {"1441m", 0},
        {"86400001ms", 0},
        {"0ms", 0},
        {"0s", 0},
        {"20", 0},
        {"ms", 0},
        {"1.5s", 0},
        {"-1s", 0},
        {"1 s", 0},
        {"1h", 0},
        {"1sec", 0},
        {"", 0},
        {"18446744073709551616ms", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t ms = 0;

        cr_assert_eq(weirctl_parse_duration(rows[i].text, &ms), rows[i].ms != 0, "'%s'",
                     rows[i].text);
        cr_assert_eq(ms, rows[i].ms, "'%s': %" PRIu32, rows[i].text, ms);
    }
}

Test(values, reads_limits)
{
    struct weirctl_limit limit;

    cr_assert(weirctl_parse_limit("10/minute", &limit));
    cr_assert(limit.requests == 10 && limit.unit == WEIR_UNIT_MINUTE);
    cr_assert(weirctl_parse_limit("0/YEAR", &limit));
    cr_assert(limit.requests == 0 && limit.unit == WEIR_UNIT_YEAR);
    cr_assert(weirctl_parse_limit("4294967295/second", &limit));
    cr_assert_eq(limit.requests, UINT32_MAX);
}

Test(values, reads_limits_of_every_unit_that_is_shown)
{
    for (enum weir_unit unit = WEIR_UNIT_SECOND; unit <= WEIR_UNIT_WEEK; unit++) {
        struct weirctl_limit limit;
        char text[32];

        (void) snprintf(text, sizeof text, "5/%s", weir_unit_name(unit));
        cr_assert(weirctl_parse_limit(text, &limit), "%s", text);
        cr_assert(limit.requests == 5 && limit.unit == unit, "%s", text);
    }
}

Test(values, refuses_limits_that_a_request_cannot_carry)
{
    static const char *const bad[] = {
        "",       "10",     "10/", "/minute", "10/unknown", "10/minutes", "4294967296/day",
        "-1/day", "10 /day"};
    struct weirctl_limit limit;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_not(weirctl_parse_limit(bad[i], &limit), "'%s'", bad[i]);
    }
}

/* The entries as key|value; separated by a blank line's place. */
static const struct {
    const char *text;
    size_t count;
    const char *keys[3];
    const char *values[3];
} descriptors[] = {
    {"k=v", 1, {"k"}, {"v"}},
    {"a=1,b=2,c=3", 3, {"a", "b", "c"}, {"1", "2", "3"}},
    {"q=a=b=c", 1, {"q"}, {"a=b=c"}},
    {"k=", 1, {"k"}, {""}},
    {"k=,l=", 2, {"k", "l"}, {"", ""}},
    {"k=a\\,b,l=c", 2, {"k", "l"}, {"a,b", "c"}},
    {"a\\=b=c", 1, {"a=b"}, {"c"}},
    {"a\\,b=c", 1, {"a,b"}, {"c"}},
    {"k=a\\\\,l=b", 2, {"k", "l"}, {"a\\", "b"}},
    {"k=\\d+\\n", 1, {"k"}, {"\\d+\\n"}},
    {"k=end\\", 1, {"k"}, {"end\\"}},
    {"k= v ", 1, {"k"}, {" v "}},
};

static void assert_str(struct weir_str got, const char *want, size_t row)
{
    cr_assert(got.len == strlen(want) && memcmp(got.ptr, want, got.len) == 0,
              "row %zu: '%.*s', not '%s'", row, (int) got.len, got.ptr, want);
}

Test(values, splits_descriptors_and_takes_escapes_out)
{
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
        struct weirctl_descriptor descriptor;
        struct weir_error error;
        char text[64];

        memcpy(text, descriptors[i].text, strlen(descriptors[i].text) + 1);
        cr_assert_eq(weirctl_parse_descriptor(text, &descriptor, &error), WEIR_OK, "row %zu: %s", i,
                     error.text);
        cr_assert_eq(descriptor.entry_count, descriptors[i].count, "row %zu", i);
        for (size_t j = 0; j < descriptors[i].count; j++) {
            assert_str(descriptor.entries[j].key, descriptors[i].keys[j], i);
            assert_str(descriptor.entries[j].value, descriptors[i].values[j], i);
        }
    }
}

Test(values, refuses_descriptors_with_a_hole)
{
    static const char *const bad[] = {"", "k", "=v", "k=v,", ",k=v", "k=v,,l=w", "k=v,l", "k\\=v"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct weirctl_descriptor descriptor;
        struct weir_error error;
        char text[64];

        memcpy(text, bad[i], strlen(bad[i]) + 1);
        cr_assert_eq(weirctl_parse_descriptor(text, &descriptor, &error), WEIR_ERR_INVALID, "'%s'",
                     bad[i]);
        cr_assert_neq(strstr(error.text, "is not key=value"), NULL, "%s", error.text);
    }
}

Test(values, counts_entries_to_eight)
{
    char eight[] = "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8";
    char nine[] = "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9";
    struct weirctl_descriptor descriptor;
    struct weir_error error;

    cr_assert_eq(weirctl_parse_descriptor(eight, &descriptor, &error), WEIR_OK);
    cr_assert_eq(descriptor.entry_count, 8);
    cr_assert_eq(weirctl_parse_descriptor(nine, &descriptor, &error), WEIR_ERR_FULL);
}
