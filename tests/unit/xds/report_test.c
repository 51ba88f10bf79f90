/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/report.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/capture.h"
#include "tests/support/rules_text.h"

static struct capture capture;

/* One line was captured, and it is `line` but for the time that it begins with. */
static void expect_line(const char *line)
{
    const char *const text = strchr(capture.text, ' ');

    cr_assert_not_null(text);
    cr_assert_eq(strlen(text), strlen(line) + 2, "%s", text);
    cr_assert_eq(memcmp(text + 1, line, strlen(line)), 0, "%s", text);
}

static const struct {
    struct wr_xds_answer answer;
    bool has_rules;
    const char *line;
} changes[] = {
    {{.version = WR_STR("7"), .change = {.n_resources = 1}},
     true,
     "info: rules in force: domains: 1, limits: 1, from 1 resources of version `7`"},
    {{.version = WR_STR("7"), .is_refused = true, .change = {.n_resources = 3, .n_refused = 2}},
     true,
     "warning: rules in force: domains: 1, limits: 1, from 3 resources of version `7`; "
     "refused ones stay at their last good version, if any"},
    {{.version = WR_STR("7"), .is_refused = true, .change = {.n_resources = 3, .n_refused = 2}},
     false,
     "warning: rules stay as they are: 2 of 3 resources of version `7` are refused"},
    {{.is_refused = true, .is_strange = true, .type_url = WR_STR("other")},
     false,
     "warning: rules stay as they are: an answer is refused which is of type `other`, and "
     "`type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig` was asked for"},
    {{.version = WR_STR("7")}, false, "info: rules stay as they are: version `7` changes nothing"},
};

Test(report, of_a_change_tells_what_is_in_force)
{
    struct wr_rules *const rules = wr_rules_of_text(
        "domain: d\ndescriptors:\n- key: k\n  rate_limit: {unit: second, requests_per_unit: 1}\n");

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        capture_start(&capture);
        wr_xds_report_change(&changes[i].answer, changes[i].has_rules ? rules : NULL);
        capture_stop(&capture);
        expect_line(changes[i].line);
    }
    wr_rules_release(rules);
}

Test(report, of_a_version_is_its_beginning)
{
    char version[1000], line[1000];
    const struct wr_xds_answer answer = {.version = {.ptr = version, .len = sizeof version}};

    memset(version, 'v', sizeof version);
    capture_start(&capture);
    wr_xds_report_change(&answer, NULL);
    capture_stop(&capture);
    cr_assert_gt(snprintf(line, sizeof line,
                          "info: rules stay as they are: version `%.300s` changes nothing",
                          version),
                 0);
    expect_line(line);
}

static const struct {
    bool has_tls, has_rules;
    struct wr_xds_end end;
    const char *line;
} ends[] = {
    {false,
     true,
     {14, WR_STR("Socket closed")},
     "warning: control plane h:1: the stream has ended with status 14: Socket closed; "
     "the rules in force stay"},
    {false,
     false,
     {8, WR_STR("Received message larger than max (9 vs. 8)")},
     "warning: control plane h:1: the stream has ended with status 8: Received message larger "
     "than max (9 vs. 8); raise --xds-max-message-bytes (XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES); "
     "there are no rules"},
    {true,
     false,
     {14, WR_STR("empty address list: ")},
     "warning: control plane h:1: the stream has ended with status 14: empty address list: ; TLS "
     "cannot begin with the files of --xds-tls-ca, --xds-tls-cert and --xds-tls-key: each must "
     "hold PEM, and the key must be of the certificate; there are no rules"},
    {false,
     false,
     {14, WR_STR("empty address list: ")},
     "warning: control plane h:1: the stream has ended with status 14: empty address list: ; "
     "there are no rules"},
};

Test(report, of_an_end_tells_what_to_do)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const struct wr_xds_report report = {.target = "h:1", .has_tls = ends[i].has_tls};

        capture_start(&capture);
        wr_xds_report_end(&report, &ends[i].end, ends[i].has_rules);
        capture_stop(&capture);
        expect_line(ends[i].line);
    }
}

Test(report, has_the_notes_of_one_response_a_second)
{
    struct wr_xds_report report = {.target = "h:1"};
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, (struct wr_place){.file = WR_STR("resource a")},
                (struct wr_str){0}, NULL, "is odd");
    capture_start(&capture);
    wr_xds_report_notes(&report, &diag, 1000000);
    capture_stop(&capture);
    expect_line("error: resource a: is odd");
    capture_start(&capture);
    wr_xds_report_notes(&report, &diag, 1999999);
    capture_stop(&capture);
    cr_assert_str_empty(capture.text);
    capture_start(&capture);
    wr_xds_report_notes(&report, &diag, 2000000);
    capture_stop(&capture);
    cr_assert_not_null(
        strstr(capture.text, "warning: the notes of 1 answers of the control plane were left out"));
    wr_diag_fini(&diag);
}

Test(report, of_too_many_resources_says_which_bound_it_is)
{
    const struct wr_xds_report report = {.target = "h:1"};

    capture_start(&capture);
    wr_xds_report_bad_response(&report, WR_ERR_TOO_LARGE);
    capture_stop(&capture);
    expect_line("error: control plane h:1: its answer could not be taken: more than 1048576 "
                "resources, a bound that no option raises; serve fewer, with more rules each");
}
