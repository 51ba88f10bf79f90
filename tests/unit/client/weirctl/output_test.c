/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/output.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(output, shows_durations_in_two_parts_rounded_up)
{
    static const struct {
        int64_t us;
        const char *want;
    } rows[] = {
        {0, "0ms"},
        {1, "1ms"},
        {999000, "999ms"},
        {999001, "1s"},
        {30000000, "30s"},
        {30000001, "31s"},
        {59000001, "1m00s"},
        {725000000, "12m05s"},
        {INT64_C(3600) * 1000000, "1h00m"},
        {INT64_C(86399) * 1000000, "23h59m"},
        {INT64_C(273600) * 1000000, "3d04h"},
        {INT64_C(315576000000000000), "3652500d00h"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char got[WEIRCTL_DURATION_MAX];

        weirctl_format_duration(rows[i].us, got);
        cr_assert_str_eq(got, rows[i].want, "row %zu: %s", i, got);
    }
}

static void print(const struct weirctl_args *args, const struct weir_result *result, char **out)
{
    size_t len;
    FILE *stream = open_memstream(out, &len);

    weirctl_print_result(stream, args, result);
    fclose(stream);
}

Test(output, lays_an_answer_out_in_columns)
{
    const struct weirctl_args args = {
        .descriptor_count = 4,
        .descriptors = {{1, {{weir_str("user"), weir_str("al\x1b[1mice")}}},
                        {2, {{weir_str("a"), weir_str("")}, {weir_str("b"), weir_str("\xc3\xa9")}}},
                        {1, {{weir_str("free"), weir_str("1")}}},
                        {1, {{weir_str("odd"), weir_str("1")}}}},
    };
    const struct weir_result result = {
        .outcome = WEIR_REFUSED,
        .overall_code = WEIR_CODE_OVER_LIMIT,
        .retry_after_ms = 725000,
        .status_count = 4,
        .statuses = {{.code = WEIR_CODE_OVER_LIMIT,
                      .has_limit = true,
                      .limit = {10, WEIR_UNIT_HOUR, 5, "per\x07u"},
                      .has_reset = true,
                      .reset_us = 725000000},
                     {.code = WEIR_CODE_OK,
                      .has_limit = true,
                      .limit = {UINT32_MAX, WEIR_UNIT_MINUTE, 0, ""},
                      .remaining = UINT32_MAX,
                      .has_reset = true,
                      .reset_us = 1000},
                     {.code = WEIR_CODE_OK, .remaining = UINT32_MAX},
                     {.code = WEIR_CODE_OK}},
    };
    const char *want =
        "OVER_LIMIT, retry in 12m05s\n"
        "\n"
        "#  CODE        LIMIT              REMAINING   RESET    DESCRIPTOR\n"
        "1  OVER_LIMIT  10/hour            0           12m05s   user=al?[1mice  (per?u)\n"
        "2  OK          4294967295/minute  4294967295  1ms      a=,b=\xc3\xa9\n"
        "3  OK          unlimited          -           -        free=1\n"
        "4  OK          -                  -           -        odd=1\n";
    char *got;

    print(&args, &result, &got);
    cr_assert_str_eq(got, want, "got:\n%s", got);
    free(got);
}

Test(output, prints_more_and_fewer_statuses_than_descriptors)
{
    const struct weirctl_args args = {.descriptor_count = 1,
                                      .descriptors = {{1, {{weir_str("k"), weir_str("v")}}}}};
    struct weir_result result = {
        .outcome = WEIR_ADMITTED, .overall_code = WEIR_CODE_OK, .status_count = 2};
    char *got;

    print(&args, &result, &got);
    cr_assert_neq(strstr(got, "\n2  UNKNOWN "), NULL, "%s", got);
    free(got);
    result.status_count = 0;
    print(&args, &result, &got);
    cr_assert_eq(strncmp(got, "OK\n\n#", 5), 0, "%s", got);
    free(got);
}

Test(output, of_no_answer_is_nothing)
{
    const struct weirctl_args args = {0};
    const struct weir_result result = {.outcome = WEIR_NO_ANSWER};
    char *got;

    print(&args, &result, &got);
    cr_assert_str_empty(got);
    free(got);
}

Test(output, of_health_names_the_service)
{
    char *got;
    size_t len;
    FILE *stream = open_memstream(&got, &len);

    weirctl_print_health(stream, "", WEIR_HEALTH_SERVING);
    weirctl_print_health(stream, "rate\nlimit", WEIR_HEALTH_SERVICE_UNKNOWN);
    fclose(stream);
    cr_assert_str_eq(got, "SERVING\nSERVICE_UNKNOWN  rate?limit\n");
    free(got);
}
