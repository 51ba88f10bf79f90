/* SPDX-License-Identifier: Apache-2.0 */
/* What a client does without a server; the rest is in tests/e2e/test_client.py. */
#include "weir/client.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

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
        cr_assert_eq(weir_check(client, &request, &result), WEIR_ERR_CONNECT, "%s",
                     result.error.text);
        cr_assert_eq(result.outcome, WEIR_NO_ANSWER);
        cr_assert_eq(result.policy_admits, policy == WEIR_FAIL_OPEN);
        cr_assert_eq(weir_admits(&result), policy == WEIR_FAIL_OPEN);
        cr_assert_eq(result.error.code, WEIR_ERR_CONNECT);
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

/* ---- Not waiting ---- */

/* A callback's notes, read when the client is gone. */
struct notes {
    struct weir_client *client;
    int calls;
    struct weir_result last;
    enum weir_err next; /* what starting another check came to */
};

static void note(void *arg, const struct weir_result *result)
{
    struct notes *notes = arg;

    notes->calls++;
    notes->last = *result;
}

static void note_and_start(void *arg, const struct weir_result *result)
{
    struct notes *notes = arg;
    struct weir_request request;

    note(arg, result);
    good_request(&request);
    notes->next = weir_check_async(notes->client, &request, note, notes, NULL);
}

Test(client, calls_back_once_for_each_check_before_it_is_gone)
{
    for (int policy = WEIR_FAIL_OPEN; policy <= WEIR_FAIL_CLOSED; policy++) {
        struct weir_client *client = client_of((enum weir_policy) policy);
        struct notes notes = {.calls = 0};
        struct weir_request request;

        good_request(&request);
        for (int i = 0; i < 100; i++) {
            cr_assert_eq(weir_check_async(client, &request, note, &notes, NULL), WEIR_OK);
        }
        weir_client_destroy(client);
        cr_assert_eq(notes.calls, 100);
        cr_assert_eq(notes.last.outcome, WEIR_NO_ANSWER);
        cr_assert_eq(weir_admits(&notes.last), policy == WEIR_FAIL_OPEN);
        cr_assert(notes.last.error.code == WEIR_ERR_CONNECT ||
                      notes.last.error.code == WEIR_ERR_CANCELLED,
                  "%s", notes.last.error.text);
    }
}

Test(client, lets_a_callback_start_a_check_unless_it_is_being_destroyed)
{
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    struct notes notes = {.client = client};
    struct weir_request request;

    good_request(&request);
    cr_assert_eq(weir_check_async(client, &request, note_and_start, &notes, NULL), WEIR_OK);
    weir_client_destroy(client);
    cr_assert(notes.next == WEIR_OK || notes.next == WEIR_ERR_CANCELLED);
    cr_assert_eq(notes.calls, notes.next == WEIR_OK ? 2 : 1);
}

static int said[2]; /* what goes to stderr, as a pipe */

static void destroy_in_callback(void *arg, const struct weir_result *result)
{
    (void) result;
    weir_client_destroy(arg);
}

/* Ends with success, which is no abort, when something else was said. */
static void expect_words(int signal_number)
{
    static const char want[] =
        "libweir: weir_client_destroy was called by a callback of the same client\n";
    char got[sizeof want];

    (void) signal_number;
    if (read(said[0], got, sizeof got) != (ssize_t) sizeof want - 1 ||
        memcmp(got, want, sizeof want - 1) != 0) {
        _exit(0);
    }
}

Test(client, aborts_when_its_own_callback_destroys_it, .signal = SIGABRT, .timeout = 20)
{
    const struct sigaction action = {.sa_handler = expect_words};
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    struct weir_request request;

    cr_assert_eq(pipe(said), 0);
    cr_assert_eq(dup2(said[1], STDERR_FILENO), STDERR_FILENO);
    cr_assert_eq(sigaction(SIGABRT, &action, NULL), 0);
    good_request(&request);
    cr_assert_eq(weir_check_async(client, &request, destroy_in_callback, client, NULL), WEIR_OK);
    for (;;) {
        pause();
    }
}

Test(client, calls_nobody_back_for_a_check_it_did_not_take)
{
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    struct notes notes = {.calls = 0};

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct weir_request request;
        struct weir_error error;

        mistakes[i].build(&request);
        cr_assert_eq(weir_check_async(client, &request, note, &notes, &error), mistakes[i].want);
        cr_assert_neq(strstr(error.text, mistakes[i].part), NULL, "row %zu: %s", i, error.text);
        cr_assert_eq(weir_check_async(client, &request, note, &notes, NULL), mistakes[i].want);
    }
    weir_client_destroy(client);
    cr_assert_eq(notes.calls, 0);
}

Test(client, takes_no_check_without_memory_and_calls_nobody_back)
{
    struct weir_client *client = client_of(WEIR_FAIL_OPEN);
    struct notes notes = {.calls = 0};
    struct weir_request request;

    good_request(&request);
    for (size_t n = 0; n < 2; n++) {
        failing_malloc_start(n);

        const enum weir_err err = weir_check_async(client, &request, note, &notes, NULL);

        failing_malloc_stop();
        cr_assert_eq(err, WEIR_ERR_MEMORY, "allocation %zu", n);
    }
    weir_client_destroy(client);
    cr_assert_eq(notes.calls, 0);
}

/* ---- Retries ---- */

Test(client, that_may_retry_waits_for_a_connection_and_then_tells_why_there_was_none)
{
    const struct weir_options options = {
        .target = "unix:/nonexistent/weir.sock", .deadline_ms = 300, .attempts_max = 5};
    struct weir_client *client = NULL;
    struct weir_request request;
    struct weir_result result;
    struct timespec begin;
    struct timespec end;

    good_request(&request);
    cr_assert_eq(weir_client_new(&options, &client, NULL), WEIR_OK);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    cr_assert_eq(weir_check(client, &request, &result), WEIR_ERR_CONNECT, "%s", result.error.text);
    clock_gettime(CLOCK_MONOTONIC, &end);
    cr_assert_neq(strstr(result.error.text, "no socket at"), NULL, "%s", result.error.text);
    cr_assert_geq((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000, 299,
                  "gave up before its deadline");
    weir_client_destroy(client);
}

/* ---- Memory ---- */

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
    cr_assert_eq(weir_check(client, &request, &result), WEIR_ERR_CONNECT);
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
    cr_assert_eq(err, WEIR_ERR_CONNECT, "%s", result.error.text);
    weir_client_destroy(client);
}
