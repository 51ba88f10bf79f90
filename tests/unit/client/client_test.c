/* SPDX-License-Identifier: Apache-2.0 */
/* What a client does without a server; the rest is in tests/e2e/test_client.py. */
#include "weir/client.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static struct weir_client *client_of(enum weir_policy policy)
{
    /* Nobody listens in a folder that is not there. */
    const struct weir_options options = {
        .target = "unix:/nonexistent/weir.sock", .deadline_ms = 5000, .policy = policy};
    struct weir_client *client = NULL;

    cr_assert_eq(weir_client_new(&options, &client, NULL), WEIR_OK);
    return client;
}

static void good_request(struct weir_request *request)
{
    weir_request_init(request, weir_str("edge"));
    weir_request_descriptor(request);
    weir_request_entry(request, weir_str("k"), weir_str("v"));
}

Test(client, refuses_options_that_cannot_be)
{
    const struct weir_options bad_target = {.target = "weir"};
    const struct weir_options bad_policy = {.policy = (enum weir_policy) 7};
    struct weir_client *client = NULL;
    struct weir_error error;

    cr_assert_eq(weir_client_new(&bad_target, &client, &error), WEIR_ERR_INVALID);
    cr_assert_neq(strstr(error.text, "'weir'"), NULL, "%s", error.text);
    cr_assert_eq(weir_client_new(&bad_policy, &client, &error), WEIR_ERR_INVALID);
    cr_assert_neq(strstr(error.text, "WEIR_FAIL_OPEN"), NULL, "%s", error.text);
    cr_assert_eq(client, NULL, "an output that must stay untouched");
}

Test(client, needs_no_options_and_no_server_to_be_made)
{
    struct weir_client *client = NULL;

    cr_assert_eq(weir_client_new(NULL, &client, NULL), WEIR_OK);
    weir_client_destroy(client);
    weir_client_destroy(NULL);
}

Test(client, leaves_the_choice_to_the_policy_when_nobody_is_there)
{
    for (int policy = WEIR_FAIL_OPEN; policy <= WEIR_FAIL_CLOSED; policy++) {
        struct weir_client *client = client_of((enum weir_policy) policy);
        struct weir_request request;
        struct weir_result result;

        good_request(&request);
        cr_assert_eq(weir_check(client, &request, &result), WEIR_ERR_UNAVAILABLE, "%s",
                     result.error.text);
        cr_assert_eq(result.outcome, WEIR_NO_ANSWER);
        cr_assert_eq(result.policy_admits, policy == WEIR_FAIL_OPEN);
        cr_assert_eq(weir_admits(&result), policy == WEIR_FAIL_OPEN);
        cr_assert_eq(result.error.code, WEIR_ERR_UNAVAILABLE);
        cr_assert_eq(result.status_count, 0);
        weir_client_destroy(client);
    }
}

static void nothing(struct weir_request *request)
{
    weir_request_init(request, weir_str("edge"));
}

static void no_domain(struct weir_request *request)
{
    weir_request_init(request, weir_str(""));
    weir_request_descriptor(request);
}

static void no_key(struct weir_request *request)
{
    good_request(request);
    weir_request_entry(request, weir_str(""), weir_str("v"));
}

static void too_many(struct weir_request *request)
{
    weir_request_init(request, weir_str("edge"));
    for (size_t i = 0; i <= WEIR_DESCRIPTORS_MAX; i++) {
        weir_request_descriptor(request);
    }
}

static const struct {
    void (*build)(struct weir_request *request);
    enum weir_err want;
    const char *part;
} mistakes[] = {
    {nothing, WEIR_ERR_INVALID, "no descriptor"},
    {no_domain, WEIR_ERR_INVALID, "domain is empty"},
    {no_key, WEIR_ERR_INVALID, "a key"},
    {too_many, WEIR_ERR_FULL, "more than 8"},
};

Test(client, names_a_callers_mistake_and_sends_nothing)
{
    struct weir_client *client = client_of(WEIR_FAIL_CLOSED);

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct weir_request request;
        struct weir_result result;

        mistakes[i].build(&request);
        cr_assert_eq(weir_check(client, &request, &result), mistakes[i].want, "row %zu", i);
        cr_assert_eq(result.outcome, WEIR_NO_ANSWER);
        cr_assert_not(weir_admits(&result));
        cr_assert_neq(strstr(result.error.text, mistakes[i].part), NULL, "row %zu: %s", i,
                      result.error.text);
    }
    weir_client_destroy(client);
}

Test(client, is_not_made_without_memory)
{
    for (size_t n = 0; n < 2; n++) {
        struct weir_client *client = NULL;
        struct weir_error error;

        failing_malloc_start(n);

        const enum weir_err err = weir_client_new(NULL, &client, &error);

        failing_malloc_stop();
        cr_assert_eq(err, WEIR_ERR_MEMORY, "allocation %zu", n);
        cr_assert_eq(error.code, WEIR_ERR_MEMORY);
        cr_assert_eq(client, NULL);
    }
}

Test(client, has_no_answer_without_memory_and_lives_on)
{
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    static char large[1U << 16U];
    struct weir_request request;
    struct weir_result result;

    weir_request_init(&request, weir_str("edge"));
    weir_request_descriptor(&request);
    weir_request_entry(&request, weir_str("k"), (struct weir_str){large, sizeof large});
    failing_malloc_start(0);

    const enum weir_err err = weir_check(client, &request, &result);

    failing_malloc_stop();
    cr_assert_eq(err, WEIR_ERR_MEMORY);
    cr_assert(result.outcome == WEIR_NO_ANSWER && weir_admits(&result));
    cr_assert_eq(weir_check(client, &request, &result), WEIR_ERR_UNAVAILABLE);
    weir_client_destroy(client);
}

Test(client, needs_no_memory_of_its_own_for_a_small_request)
{
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    struct weir_request request;
    struct weir_result result;

    good_request(&request);
    failing_malloc_start(0);

    const enum weir_err err = weir_check(client, &request, &result);

    failing_malloc_stop();
    cr_assert_eq(err, WEIR_ERR_UNAVAILABLE, "%s", result.error.text);
    weir_client_destroy(client);
}
