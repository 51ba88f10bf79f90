/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

#include "base/thread.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_transport.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
#define MAX_WATCHERS 3

/* HealthCheckRequest: service = 1. HealthCheckResponse: status = 1. */
#define ASK_ALL S("")
#define ASK_RATELIMIT S("\x0a\x09ratelimit")
#define ASK_FULL                                                                                   \
    S("\x0a\x2b"                                                                                   \
      "envoy.service.ratelimit.v3.RateLimitService")
#define ASK_LIVE S("\x0a\x04live")
#define ASK_OTHER S("\x0a\x05other")
#define SERVING S("\x08\x01")
#define NOT_SERVING S("\x08\x02")
#define SERVICE_UNKNOWN S("\x08\x03")

enum { CHECK, LIST, WATCH };

static struct wr_metrics *metrics;
static struct wr_fake_transport *transport;
static struct wr_health *health;
static struct wr_method methods[WR_HEALTH_METHODS];

static void set_up(void)
{
    metrics = wr_metrics_new();
    transport = wr_fake_transport_new(metrics);
    health = wr_health_new(MAX_WATCHERS);
    wr_health_methods(health, methods);
}

static void tear_down(void)
{
    wr_fake_transport_destroy(transport);
    wr_health_destroy(health);
    wr_metrics_destroy(metrics);
}

TestSuite(health, .init = set_up, .fini = tear_down);

static struct wr_fake_call *call(int method, struct wr_str message)
{
    struct wr_fake_call *const made = wr_fake_call_new(transport, &methods[method], INT64_MAX);

    wr_fake_call_message(made, message);
    return made;
}

static void expect_check(struct wr_str request, struct wr_str want)
{
    struct wr_fake_call *const made = call(CHECK, request);

    cr_assert_eq(made->n_replies, 1);
    cr_assert(wr_str_equal(made->replies[0], want));
    wr_fake_call_free(made);
}

/* All that a watcher has been told so far, one status a letter: y, n, u. */
static void expect_told(const struct wr_fake_call *watch, const char *want)
{
    static const char letters[] = {[1] = 'y', [2] = 'n', [3] = 'u'};
    char told[32] = "";

    for (size_t i = 0; i < watch->n_replies; i++) {
        cr_assert_eq(watch->replies[i].len, 2);
        told[i] = letters[(size_t) watch->replies[i].ptr[1]];
    }
    cr_assert_str_eq(told, want);
}

/* Ends a watch that is still open. */
static void leave(struct wr_fake_call *watch)
{
    wr_fake_call_cancel(watch);
    (void) wr_fake_transport_run(transport);
    wr_fake_call_free(watch);
}

Test(health, is_not_serving_at_first_and_then_what_it_was_set_to)
{
    expect_check(ASK_ALL, NOT_SERVING);
    wr_health_set(health, true);
    expect_check(ASK_ALL, SERVING);
    expect_check(ASK_RATELIMIT, SERVING);
    expect_check(ASK_FULL, SERVING);
    wr_health_set(health, false);
    expect_check(ASK_RATELIMIT, NOT_SERVING);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_HEALTH_CALLS), 5);
}

Test(health, knows_no_other_service)
{
    struct wr_fake_call *const made = call(CHECK, ASK_OTHER);

    cr_assert_eq(made->status, WR_STATUS_NOT_FOUND);
    wr_fake_call_free(made);
}

Test(health, refuses_what_is_no_request)
{
    static const int asked[] = {CHECK, WATCH};

    for (size_t i = 0; i < 2; i++) {
        struct wr_fake_call *const bad = call(asked[i], S("\x0a\x7f"));
        struct wr_fake_call *const none =
            wr_fake_call_new(transport, &methods[asked[i]], INT64_MAX);

        wr_fake_call_half_close(none);
        cr_assert_eq(bad->status, WR_STATUS_INVALID_ARGUMENT);
        cr_assert_eq(none->status, WR_STATUS_INVALID_ARGUMENT);
        wr_fake_call_free(bad);
        wr_fake_call_free(none);
    }
}

Test(health, lists_four_names)
{
    struct wr_fake_call *const made = call(LIST, S(""));

    cr_assert_eq(made->n_replies, 1);
    /* A row has 2 bytes before it, 2 before its name unless that is empty, 4 for the state. */
    cr_assert_eq(made->replies[0].len,
                 (2 + 4) + (2 + 2 + 9 + 4) + (2 + 2 + 43 + 4) + (2 + 2 + 4 + 4), "%zu bytes",
                 made->replies[0].len);
    wr_fake_call_free(made);
}

Test(health, tells_a_watcher_at_once_and_on_change)
{
    struct wr_fake_call *const watch = call(WATCH, ASK_RATELIMIT);

    wr_fake_call_half_close(watch); /* as callers of a server stream do */
    expect_told(watch, "n");
    wr_health_set(health, true);
    cr_assert_eq(wr_fake_transport_run(transport), 1);
    expect_told(watch, "ny");
    wr_health_set(health, true);
    cr_assert_eq(wr_fake_transport_run(transport), 0, "nothing changed");
    wr_health_set(health, false);
    cr_assert_eq(wr_fake_transport_run(transport), 1);
    expect_told(watch, "nyn");
    leave(watch);
}

Test(health, keeps_the_watch_of_an_unknown_service_open)
{
    struct wr_fake_call *const watch = call(WATCH, ASK_OTHER);

    expect_told(watch, "u");
    wr_health_set(health, true);
    (void) wr_fake_transport_run(transport);
    expect_told(watch, "u");
    cr_assert_not(watch->is_finished);
    wr_health_finish_watchers(health);
    (void) wr_fake_transport_run(transport);
    cr_assert(watch->is_finished);
    wr_fake_call_free(watch);
}

Test(health, drains_for_good_and_then_ends_its_watchers)
{
    wr_health_set(health, true);

    struct wr_fake_call *const watch = call(WATCH, ASK_ALL);

    wr_health_drain(health);
    (void) wr_fake_transport_run(transport);
    expect_told(watch, "yn");
    wr_health_set(health, true);
    expect_check(ASK_ALL, NOT_SERVING);
    cr_assert_not(wr_health_is_serving(health));
    cr_assert_not(watch->is_finished);
    wr_health_finish_watchers(health);
    (void) wr_fake_transport_run(transport);
    cr_assert_eq(watch->status, WR_STATUS_UNAVAILABLE);
    wr_fake_call_free(watch);

    struct wr_fake_call *const late = call(WATCH, ASK_ALL);

    expect_told(late, "n");
    cr_assert(late->is_finished);
    wr_fake_call_free(late);
}

Test(health, says_live_before_rules_and_in_a_drain)
{
    struct wr_fake_call *const watch = call(WATCH, ASK_LIVE);

    expect_check(ASK_LIVE, SERVING);
    wr_health_set(health, true);
    expect_check(ASK_LIVE, SERVING);
    wr_health_drain(health);
    (void) wr_fake_transport_run(transport);
    expect_check(ASK_ALL, NOT_SERVING);
    expect_check(ASK_LIVE, SERVING);
    wr_health_finish_watchers(health);
    (void) wr_fake_transport_run(transport);
    expect_check(ASK_LIVE, SERVING);
    expect_told(watch, "y");
    cr_assert_eq(watch->status, WR_STATUS_UNAVAILABLE, "so that its connection can close");
    wr_fake_call_free(watch);
}

Test(health, cannot_be_had_without_memory)
{
    for (size_t room = 0; room < 2; room++) {
        failing_malloc_start(room);

        struct wr_health *const none = wr_health_new(1);

        failing_malloc_stop();
        cr_assert_null(none, "with room for %zu", room);
    }
}

static void flip(void *context)
{
    atomic_bool *const is_over = context;

    for (int i = 0; i < 20000; i++) {
        wr_health_set(health, i % 2 == 0);
    }
    wr_health_set(health, true);
    atomic_store(is_over, true);
}

Test(health, loses_no_change_that_comes_from_another_thread)
{
    struct wr_fake_call *watches[MAX_WATCHERS];
    struct wr_thread flipper;
    atomic_bool is_over = false;

    for (size_t i = 0; i < MAX_WATCHERS; i++) {
        watches[i] = call(WATCH, ASK_ALL);
    }
    cr_assert_eq(wr_thread_start(&flipper, "flipper", flip, &is_over), WR_OK);
    while (!atomic_load(&is_over)) {
        (void) wr_fake_transport_run(transport);
    }
    wr_thread_join(&flipper);
    (void) wr_fake_transport_run(transport);
    for (size_t i = 0; i < MAX_WATCHERS; i++) {
        const struct wr_fake_call *const watch = watches[i];

        cr_assert(wr_str_equal(watch->replies[watch->n_replies - 1], SERVING));
        leave(watches[i]);
    }
}
