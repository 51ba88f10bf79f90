/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health_watchers.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"
#include "tests/support/fake_transport.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
#define MAX_WATCHERS 3

static struct wr_metrics *metrics;
static struct wr_fake_transport *transport;
static struct wr_health_watchers *watchers;

/* What each service but `fixed` says now; and, once, what it says right after it was asked. */
static enum wr_serving now, next;

static enum wr_serving serving(void *context, struct wr_str service)
{
    const enum wr_serving said = now;

    cr_assert_eq(context, &now);
    if (wr_str_equal(service, S("fixed"))) {
        return WR_SERVING_YES;
    }
    if (next != said) {
        now = next;
        wr_health_watchers_changed(watchers);
    }
    return said;
}

/* A message is the name of the service. */
static void watch(void *context, struct wr_call *call, struct wr_str message)
{
    wr_health_watchers_add(context, call, message);
}

static void woken(void *context, struct wr_call *call)
{
    wr_health_watchers_turn(context, call);
}

static void closed(void *context, struct wr_call *call, bool is_cancelled)
{
    (void) is_cancelled;
    wr_health_watchers_leave(context, call);
}

static struct wr_method method = {
    .path = "/w/Watch",
    .kind = WR_METHOD_STREAM,
    .on_message = watch,
    .on_wake = woken,
    .on_close = closed,
};

static void set_up(void)
{
    metrics = wr_metrics_new();
    transport = wr_fake_transport_new(metrics);
    now = next = WR_SERVING_NO;
    watchers = wr_health_watchers_new(MAX_WATCHERS, serving, &now);
    method.context = watchers;
}

static void tear_down(void)
{
    wr_fake_transport_destroy(transport);
    wr_health_watchers_destroy(watchers);
    wr_metrics_destroy(metrics);
}

TestSuite(health_watchers, .init = set_up, .fini = tear_down);

static struct wr_fake_call *call(struct wr_str service)
{
    struct wr_fake_call *const made = wr_fake_call_new(transport, &method, INT64_MAX);

    wr_fake_call_message(made, service);
    return made;
}

static void change_to(enum wr_serving state)
{
    now = next = state;
    wr_health_watchers_changed(watchers);
}

/* All that a watcher has been told so far, one status a letter: y, n. */
static void expect_told(const struct wr_fake_call *watcher, const char *want)
{
    static const char letters[] = {[WR_SERVING_YES] = 'y', [WR_SERVING_NO] = 'n'};
    char told[32] = "";

    for (size_t i = 0; i < watcher->n_replies; i++) {
        cr_assert_eq(watcher->replies[i].len, 2);
        told[i] = letters[(size_t) watcher->replies[i].ptr[1]];
    }
    cr_assert_str_eq(told, want);
}

/* Ends a watch that is still open. */
static void leave(struct wr_fake_call *watcher)
{
    wr_fake_call_cancel(watcher);
    (void) wr_fake_transport_run(transport);
    wr_fake_call_free(watcher);
}

Test(health_watchers, are_told_what_their_own_service_says_and_only_what_is_new)
{
    struct wr_fake_call *const moved = call(S("moved"));
    struct wr_fake_call *const fixed = call(S("fixed"));

    change_to(WR_SERVING_YES);
    cr_assert_eq(wr_fake_transport_run(transport), 2);
    change_to(WR_SERVING_YES);
    cr_assert_eq(wr_fake_transport_run(transport), 2);
    expect_told(moved, "ny");
    expect_told(fixed, "y");
    leave(moved);
    leave(fixed);
}

Test(health_watchers, are_woken_once_for_changes_before_their_turn)
{
    struct wr_fake_call *const watcher = call(S("s"));

    change_to(WR_SERVING_YES);
    change_to(WR_SERVING_NO);
    change_to(WR_SERVING_YES);
    cr_assert_eq(wr_fake_transport_run(transport), 1);
    expect_told(watcher, "ny");
    change_to(WR_SERVING_NO);
    change_to(WR_SERVING_YES);
    cr_assert_eq(wr_fake_transport_run(transport), 1);
    expect_told(watcher, "ny");
    leave(watcher);
}

Test(health_watchers, take_another_turn_for_a_change_within_one)
{
    next = WR_SERVING_YES;

    struct wr_fake_call *const watcher = call(S("s"));

    expect_told(watcher, "n");
    cr_assert_eq(wr_fake_transport_run(transport), 1);
    expect_told(watcher, "ny");
    leave(watcher);
}

Test(health_watchers, leave_parked_or_woken)
{
    struct wr_fake_call *const parked = call(S("s"));
    struct wr_fake_call *const awake = call(S("s"));

    wr_fake_call_cancel(parked);
    change_to(WR_SERVING_YES);
    wr_fake_call_cancel(awake);
    cr_assert_eq(wr_fake_transport_run(transport), 2, "each await is woken, once");
    cr_assert_eq(parked->n_replies + awake->n_replies, 2, "nothing is told to who has left");
    wr_fake_call_free(parked);
    wr_fake_call_free(awake);
    change_to(WR_SERVING_NO);
    cr_assert_eq(wr_fake_transport_run(transport), 0);
}

Test(health_watchers, are_no_more_than_their_bound)
{
    struct wr_fake_call *watching[MAX_WATCHERS];

    for (size_t i = 0; i < MAX_WATCHERS; i++) {
        watching[i] = call(S("s"));
    }

    struct wr_fake_call *const extra = call(S("s"));

    cr_assert_eq(extra->status, WR_STATUS_RESOURCE_EXHAUSTED);
    wr_fake_call_free(extra);
    leave(watching[1]);
    watching[1] = call(S("s"));
    expect_told(watching[1], "n");
    for (size_t i = 0; i < MAX_WATCHERS; i++) {
        leave(watching[i]);
    }
}

Test(health_watchers, are_told_the_last_state_before_they_are_ended)
{
    struct wr_fake_call *const watcher = call(S("s"));

    now = next = WR_SERVING_YES;
    wr_health_watchers_finish(watchers);
    (void) wr_fake_transport_run(transport);
    expect_told(watcher, "ny");
    cr_assert_eq(watcher->status, WR_STATUS_UNAVAILABLE);
    wr_fake_call_free(watcher);

    struct wr_fake_call *const late = call(S("s"));

    expect_told(late, "y");
    cr_assert(late->is_finished);
    wr_fake_call_free(late);
}

Test(health_watchers, cannot_be_had_without_memory)
{
    failing_malloc_start(0);

    struct wr_health_watchers *const none = wr_health_watchers_new(1, serving, &now);

    failing_malloc_stop();
    cr_assert_null(none);
    wr_health_watchers_destroy(none);
}
