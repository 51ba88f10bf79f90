/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/output.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void assert_result(const struct weir_result *result, const char *want)
{
    char *got;
    size_t len;
    FILE *stream = open_memstream(&got, &len);

    cr_assert(weirctl_json_result(stream, result));
    fclose(stream);
    cr_assert_str_eq(got, want, "got: %s", got);
    free(got);
}

Test(json, of_a_refusal)
{
    const struct weir_result result = {
        .outcome = WEIR_REFUSED,
        .overall_code = WEIR_CODE_OVER_LIMIT,
        .retry_after_ms = 7001,
        .status_count = 2,
        .statuses = {{.code = WEIR_CODE_OVER_LIMIT,
                      .has_limit = true,
                      .limit = {UINT32_MAX, WEIR_UNIT_WEEK, 4, "a\"\x1b\\"},
                      .has_reset = true,
                      .reset_us = 7000001},
                     {.code = WEIR_CODE_OK, .remaining = UINT32_MAX}},
    };

    assert_result(
        &result,
        "{\"outcome\":\"refused\",\"code\":\"OVER_LIMIT\",\"retry_after_ms\":7001,\"statuses\":["
        "{\"code\":\"OVER_LIMIT\",\"limit\":{\"requests\":4294967295,\"unit\":\"week\","
        "\"name\":\"a\\\"\\u001B\\\\\"},\"remaining\":0,\"reset_ms\":7001},"
        "{\"code\":\"OK\",\"limit\":null,\"remaining\":4294967295,\"reset_ms\":null}],"
        "\"error\":null}\n");
}

Test(json, of_no_answer)
{
    const struct weir_result result = {
        .outcome = WEIR_NO_ANSWER, .policy_admits = true, .error = {WEIR_ERR_TIMEOUT, "too slow"}};

    assert_result(&result, "{\"outcome\":\"no_answer\",\"code\":\"UNKNOWN\",\"retry_after_ms\":0,"
                           "\"statuses\":[],\"error\":{\"code\":\"timeout\",\"text\":\"too "
                           "slow\"}}\n");
}

Test(json, leaves_out_a_name_that_json_cannot_hold_or_was_not_kept)
{
    struct weir_result result = {
        .outcome = WEIR_ADMITTED,
        .overall_code = WEIR_CODE_OK,
        .status_count = 1,
        .statuses = {{.code = WEIR_CODE_OK,
                      .has_limit = true,
                      .limit = {1, WEIR_UNIT_DAY, 2, "\xff\xfe"}}},
    };
    const char *want =
        "{\"outcome\":\"admitted\",\"code\":\"OK\",\"retry_after_ms\":0,\"statuses\":"
        "[{\"code\":\"OK\",\"limit\":{\"requests\":1,\"unit\":\"day\",\"name\":null},"
        "\"remaining\":0,\"reset_ms\":null}],\"error\":null}\n";

    assert_result(&result, want);
    result.statuses[0].limit.name_len = WEIR_NAME_MAX + 1;
    result.statuses[0].limit.name[0] = '\0';
    assert_result(&result, want);
}

Test(json, of_health)
{
    const struct weir_error error = {WEIR_ERR_UNAVAILABLE, "nobody"};
    char *got;
    size_t len;
    FILE *stream = open_memstream(&got, &len);

    cr_assert(weirctl_json_health(stream, "ratelimit", WEIR_HEALTH_SERVING));
    cr_assert(weirctl_json_health_error(stream, "", &error));
    fclose(stream);
    cr_assert_str_eq(got,
                     "{\"service\":\"ratelimit\",\"status\":\"SERVING\",\"error\":null}\n"
                     "{\"service\":\"\",\"status\":null,\"error\":{\"code\":\"unavailable\","
                     "\"text\":\"nobody\"}}\n",
                     "got: %s", got);
    free(got);
}
