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

static void assert_bench(const struct weirctl_load_plan *plan,
                         const struct weirctl_load_report *report, const char *want)
{
    char *got;
    size_t len;
    FILE *stream = open_memstream(&got, &len);

    cr_assert(weirctl_json_bench(stream, plan, report));
    fclose(stream);
    cr_assert_str_eq(got, want, "got: %s", got);
    free(got);
}

Test(json, of_a_bench)
{
    struct weirctl_load_plan plan = {.keys = 7, .connections = 4, .in_flight = 50};
    static struct weirctl_load_report report = {
        .sent = 3, .admitted = 2, .refused = 1, .elapsed_ns = 1500000};

    for (uint64_t us = 1; us <= 3; us++) {
        weirctl_histogram_add(&report.latency_ns, us * 1000 - 999);
    }
    assert_bench(&plan, &report,
                 "{\"loop\":\"closed\",\"rate\":null,\"connections\":4,\"in_flight\":50,"
                 "\"keys\":7,\"sent\":3,\"unsent\":0,\"admitted\":2,\"refused\":1,\"failed\":0,"
                 "\"elapsed_us\":1500,\"per_second\":2000,\"latency_us\":{\"min\":1,\"mean\":2,"
                 "\"p50\":2,\"p90\":3,\"p99\":3,\"p99.9\":3,\"max\":3},\"at_least\":[],"
                 "\"error\":null}\n");
    weirctl_histogram_add_at_least(&report.latency_ns, 4000);
    assert_bench(&plan, &report,
                 "{\"loop\":\"closed\",\"rate\":null,\"connections\":4,\"in_flight\":50,"
                 "\"keys\":7,\"sent\":3,\"unsent\":0,\"admitted\":2,\"refused\":1,\"failed\":0,"
                 "\"elapsed_us\":1500,\"per_second\":2000,\"latency_us\":{\"min\":1,\"mean\":2,"
                 "\"p50\":2,\"p90\":4,\"p99\":4,\"p99.9\":4,\"max\":4},\"at_least\":[\"mean\","
                 "\"p90\",\"p99\",\"p99.9\",\"max\"],\"error\":null}\n");
    plan.rate = 9;
    report = (struct weirctl_load_report){
        .sent = 1, .unsent = 8, .failed = 1, .complaint = {WEIR_ERR_SERVER, "oops"}};
    assert_bench(&plan, &report,
                 "{\"loop\":\"open\",\"rate\":9,\"connections\":4,\"in_flight\":50,\"keys\":7,"
                 "\"sent\":1,\"unsent\":8,\"admitted\":0,\"refused\":0,\"failed\":1,"
                 "\"elapsed_us\":0,\"per_second\":0,\"latency_us\":null,\"at_least\":[],"
                 "\"error\":{\"code\":\"server\",\"text\":\"oops\"}}\n");
}
