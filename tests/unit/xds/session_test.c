/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/session.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/xds/responses.h"
#include "wire/fields.h"

static const struct wr_discovery_node node = {.id = WR_STR("me")};
static const struct wr_pauses pauses = {.min_us = 1000, .max_us = 4000};
static const struct resource_row good[] = {{"a", "A", 1, 5}, {"b", "B", 1, 6}};
static const struct resource_row turned[] = {{"b", "B", 1, 6}, {"a", "A", 1, 5}};
static const struct resource_row bad[] = {{"a", "A", 0, 5}, {"b", "B", 1, 7}};

/* Of each test. */
static struct wr_xds_session session;
static struct wr_arena arena;
static struct wr_xds_answer answer; /* to the last response */
static size_t n_notes;              /* on it */

/* The text of a field of a request, empty when it is not there. */
static struct wr_str field_of(struct wr_str request, uint32_t number)
{
    struct wr_scan scan = {0};
    struct wr_fields fields = wr_fields_of(&scan, request);
    struct wr_str found = {.ptr = ""};

    while (wr_fields_next(&fields)) {
        if (fields.tag == WR_TAG(number, WR_WIRE_BYTES)) {
            found = wr_fields_bytes(&fields);
        } else {
            wr_fields_skip(&fields);
        }
    }
    cr_assert_eq(scan.fault, WR_FAULT_NONE);
    return found;
}

static void expect_request(struct wr_str request, const char *version, const char *nonce,
                           bool has_error)
{
    cr_assert(wr_str_equal(field_of(request, 1), wr_str_of(version)));
    cr_assert(wr_str_equal(field_of(field_of(request, 2), 1), wr_str_of("me")));
    cr_assert(wr_str_equal(field_of(request, 4), wr_str_of(WR_RULES_TYPE_URL)));
    cr_assert(wr_str_equal(field_of(request, 5), wr_str_of(nonce)));
    cr_assert_eq(field_of(request, 6).len > 0, has_error);
}

static void begin(void)
{
    struct wr_str request;

    cr_assert(wr_xds_session_begin(&session, &arena, &request));
    expect_request(request, "", "", false);
}

static void init(void)
{
    wr_arena_init(&arena, 4096);
    cr_assert_eq(wr_xds_session_init(&session, &node, &responses_load, &pauses), WR_OK);
    begin();
}

static void fini(void)
{
    wr_xds_session_fini(&session);
    wr_arena_fini(&arena);
}

TestSuite(session, .init = init, .fini = fini);

static enum wr_err take_bytes(struct wr_str bytes)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 100);
    answer = (struct wr_xds_answer){0};

    const enum wr_err err = wr_xds_session_take(&session, bytes, 0, &arena, &diag, &answer);

    n_notes = diag.n_errors + diag.n_warnings;
    wr_diag_fini(&diag);
    return err;
}

/* Takes two rows; whether a snapshot came of it. */
static bool take(const char *version, const char *nonce, const struct resource_row *rows)
{
    cr_assert_eq(take_bytes(responses_bytes(&arena, version, nonce, WR_RULES_TYPE_URL, rows, 2)),
                 WR_OK);

    const bool has_rules = answer.change.rules != NULL;

    wr_rules_release(answer.change.rules);
    return has_rules;
}

Test(session, accepts_with_version_and_nonce)
{
    cr_assert(take("v1", "n1", good));
    expect_request(answer.request, "v1", "n1", false);
    cr_assert_eq(answer.delay_us, 0);
    cr_assert_not(answer.is_refused || answer.is_repeat);
}

Test(session, refuses_with_the_old_version_and_the_reason)
{
    cr_assert(take("v0", "n0", bad));
    expect_request(answer.request, "", "n0", true);
    cr_assert(take("v1", "n1", good));
    cr_assert(take("v2", "n2", bad));
    expect_request(answer.request, "v1", "n2", true);
    cr_assert(answer.is_refused);
    cr_assert_eq(answer.change.n_refused, 1u);

    const struct wr_str status = field_of(answer.request, 6);
    const struct wr_str message = field_of(status, 2);

    cr_assert(wr_str_equal(message, wr_str_of(session.error)));
    cr_assert_not_null(
        strstr(session.error, "resource a: descriptors[0].rate_limit.unit: error: "));
}

Test(session, a_version_is_a_label)
{
    cr_assert(take("1", "n1", good));
    begin();
    cr_assert_not(take("1", "n1", turned));
    expect_request(answer.request, "1", "n1", false);
    begin();
    cr_assert(take("1", "n1", bad));
    expect_request(answer.request, "1", "n1", true);
    cr_assert(take("1", "n1", good));
    expect_request(answer.request, "1", "n1", false);
}

Test(session, the_same_content_under_another_version_makes_no_rules)
{
    cr_assert(take("1", "n1", good));
    cr_assert_not(take("2", "n2", good));
    expect_request(answer.request, "2", "n2", false);
}

Test(session, what_is_repeated_is_answered_ever_later)
{
    static const int64_t delays_us[] = {0, 500, 1000, 2000, 2000};

    (void) take("1", "n0", bad);
    cr_assert_eq(n_notes, 1u);
    for (size_t i = 0; i < sizeof delays_us / sizeof delays_us[0]; i++) {
        cr_assert_not(take("1", "n1", bad));
        expect_request(answer.request, "", "n1", true);
        cr_assert(answer.is_repeat);
        cr_assert_eq(n_notes, 0u);
        cr_assert_eq(answer.delay_us, delays_us[i], "%zu: %d", i, (int) answer.delay_us);
    }
    wr_xds_session_calm(&session);
    cr_assert_not(take("1", "n1", bad));
    cr_assert_eq(answer.delay_us, 0);
    cr_assert(take("2", "n2", good));
    cr_assert_eq(answer.delay_us, 0);
    begin();
    cr_assert_not(take("2", "n2", good));
    cr_assert_eq(answer.delay_us, 0);
}

Test(session, what_is_refused_again_and_again_is_answered_ever_later)
{
    static const struct resource_row others[] = {{"a", "A", 0, 6}, {"b", "B", 1, 7}};
    static const int64_t delays_us[] = {0, 0, 500, 1000, 2000, 2000};

    for (size_t i = 0; i < sizeof delays_us / sizeof delays_us[0]; i++) {
        (void) take("1", "n", i % 2 == 0 ? bad : others);
        cr_assert(answer.is_refused);
        cr_assert_not(answer.is_repeat);
        cr_assert_eq(n_notes, 1u);
        cr_assert_eq(answer.delay_us, delays_us[i], "%zu: %d", i, (int) answer.delay_us);
    }
    cr_assert(take("2", "n", good));
    cr_assert_eq(answer.delay_us, 0);
    (void) take("3", "n", bad);
    cr_assert_eq(answer.delay_us, 0);
}

/* Two messages in one, as protobuf merges them. */
static struct wr_str joined(struct wr_str first, struct wr_str second)
{
    char *const bytes = wr_arena_alloc(&arena, first.len + second.len);

    cr_assert_not_null(bytes);
    memcpy(bytes, first.ptr, first.len);
    memcpy(bytes + first.len, second.ptr, second.len);
    return (struct wr_str){.ptr = bytes, .len = first.len + second.len};
}

Test(session, one_of_another_type_takes_nothing_away)
{
    static const struct resource_row both[] = {{"a", "A", 1, 7}, {"b", "B", 1, 6}};

    cr_assert(take("1", "n1", good));

    const struct wr_str of_other = responses_bytes(&arena, "2", "n2", "other", &both[1], 1);
    const struct wr_str of_rules =
        responses_bytes(&arena, "2", "n2", WR_RULES_TYPE_URL, &both[0], 1);

    cr_assert_eq(take_bytes(joined(of_other, of_rules)), WR_OK);
    cr_assert_null(answer.change.rules);
    cr_assert_eq(answer.change.n_resources, 2u);
    cr_assert_eq(answer.change.n_refused, 1u);
    expect_request(answer.request, "1", "n2", true);
}

Test(session, what_was_not_asked_for_is_refused)
{
    cr_assert(take("1", "n1", good));
    cr_assert_eq(take_bytes(responses_bytes(&arena, "2", "n2", "other", good, 2)), WR_OK);
    cr_assert_null(answer.change.rules);
    expect_request(answer.request, "1", "n2", true);
    cr_assert(answer.is_strange);
    cr_assert(wr_str_equal(answer.type_url, (struct wr_str) WR_STR("other")));
    cr_assert_not_null(strstr(session.error, "resources[1] is of type `other`"));
    cr_assert_not_null(strstr(session.error, "the response is of type `other`"));
    cr_assert_eq(take_bytes(joined(responses_bytes(&arena, "2", "n2", WR_RULES_TYPE_URL, good, 2),
                                   (struct wr_str) WR_STR("\x22\x01x"))),
                 WR_OK);
    cr_assert_null(answer.change.rules);
    cr_assert_eq(answer.change.n_refused, 2u);
    cr_assert_not(take("3", "n3", good));
    cr_assert_not(answer.is_strange);
    expect_request(answer.request, "3", "n3", false);
}

Test(session, what_is_no_response_is_not_answered)
{
    cr_assert_eq(take_bytes((struct wr_str) WR_STR("\x0a\x7f")), WR_ERR_MALFORMED);
}

Test(session, a_reason_is_bounded)
{
    char domain[1000];
    struct resource_row rows[8];

    memset(domain, 'x', sizeof domain - 1);
    domain[sizeof domain - 1] = '\0';
    for (size_t i = 0; i < 8; i++) {
        rows[i] = (struct resource_row){"", i == 0 ? domain : "D", 0, 1};
    }
    cr_assert_eq(take_bytes(responses_bytes(&arena, "1", "n", WR_RULES_TYPE_URL, rows, 8)), WR_OK);
    cr_assert_lt(strlen(session.error), sizeof session.error);
    cr_assert_eq(n_notes, 8u);

    size_t n_lines = 1;

    for (const char *c = session.error; *c != '\0'; c++) {
        n_lines += *c == '\n';
    }
    cr_assert_eq(n_lines, 8u, "%s", session.error);
}
