/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole service without a network: workers that each own calls, a store that answers late,
 * shuffled and now and then not at all, rules that are published meanwhile, and callers that leave
 * in every state of a call. Each call ends once, each await is woken, each charge is shown once.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "rpc/decide.h"
#include "rules/current.h"
#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/support/fake_transport.h"
#include "tests/support/rules_text.h"
#include "tests/support/slow_backend.h"

enum {
    WORKERS = 6,
    CALLS = 16000,  /* of a worker */
    IN_FLIGHT = 32, /* of a worker, at most */
    KEYS = 8,       /* '0' and so on */
    LIMIT = 6000,   /* of each; a share of the calls is over */
    NEVER_EVERY = 50,
    MONO_US = 1000000,
    WAIT_MS = 20000,
};

/* What becomes of a call. */
enum plan {
    PLAN_LEAVE_FIRST, /* the caller is gone before its message */
    PLAN_EMPTY,       /* half-closed without a message */
    PLAN_MALFORMED,
    PLAN_LATE,      /* its deadline has passed */
    PLAN_UNLIMITED, /* no rule matches: answered at once */
    PLAN_LIMITED,   /* the store is asked; this and all above */
    PLANS = 16,
};

struct shared {
    struct wr_current_rules current;
    struct wr_metrics *metrics;
    struct wr_method method;
    _Atomic int n_working;
    atomic_bool seen[KEYS][LIMIT]; /* what remained, as replies said */
    _Atomic uint64_t n_messages, n_awaited, n_left_waiting, n_left_woken, n_shown, n_over, n_failed;
};

struct worker {
    struct shared *shared;
    size_t number;
    struct wr_fake_transport *transport;
    struct wr_fake_call *calls[IN_FLIGHT]; /* NULL: free */
    int keys[IN_FLIGHT];
    uint64_t random;
};

static struct wr_now fixed_time(void *context)
{
    (void) context;
    return (struct wr_now){.wall_us = INT64_C(1700000000000000), .mono_us = MONO_US};
}

/* domain "d", one descriptor with the entry (k, key). Message bytes outlive the calls. */
static struct wr_str message_of(int key)
{
    static const char texts[KEYS + 1][14] = {
#define TEXT(key)                                                                                  \
    "\x0a\x01"                                                                                     \
    "d"                                                                                            \
    "\x12\x08\x0a\x06\x0a\x01"                                                                     \
    "k"                                                                                            \
    "\x12\x01" key
        TEXT("0"),
        TEXT("1"),
        TEXT("2"),
        TEXT("3"),
        TEXT("4"),
        TEXT("5"),
        TEXT("6"),
        TEXT("7"),
        "\x0a\x01"
        "d"
        "\x12\x08\x0a\x06\x0a\x01"
        "u"
        "\x12\x01"
        "x",
#undef TEXT
    };

    return (struct wr_str){texts[key], 13};
}

static struct wr_rules *make_rules(unsigned number)
{
    char yaml[256];

    (void) snprintf(yaml, sizeof yaml,
                    "domain: d\ndescriptors:\n"
                    "  - {key: k, rate_limit: {unit: hour, requests_per_unit: %d}}\n"
                    "  - {key: other%u, rate_limit: {unit: day, requests_per_unit: 1}}\n",
                    LIMIT, number);
    return wr_rules_of_text(yaml);
}

static void publish_while_called(struct shared *shared)
{
    for (unsigned number = 1; atomic_load(&shared->n_working) > 0; number++) {
        struct wr_rules *rules = make_rules(number);

        wr_current_rules_publish(&shared->current, &rules);
    }
}

/* What remains is told to one caller only, as long as something does. */
static void check_reply(struct shared *shared, struct wr_str reply, int key)
{
    Envoy__Service__Ratelimit__V3__RateLimitResponse *const response =
        envoy__service__ratelimit__v3__rate_limit_response__unpack(NULL, reply.len,
                                                                   (const uint8_t *) reply.ptr);

    wr_check(response != NULL && response->n_statuses == 1, "a reply without its status");
    if (key < KEYS && (int) response->overall_code == WR_CODE_OK) {
        const uint32_t left = response->statuses[0]->limit_remaining;

        wr_check(left < LIMIT && !atomic_exchange(&shared->seen[key][left], true),
                 "key %d: %" PRIu32 " left, twice", key, left);
        atomic_fetch_add(&shared->n_shown, 1);
    }
    atomic_fetch_add(&shared->n_over, (int) response->overall_code == WR_CODE_OVER_LIMIT);
    envoy__service__ratelimit__v3__rate_limit_response__free_unpacked(response, NULL);
}

static void check_call(struct shared *shared, const struct wr_fake_call *call, int key)
{
    wr_check(call->n_closes == 1 && call->n_awaits == call->n_wakes, "a call that did not end");
    wr_check(call->was_cancelled || call->is_finished, "a call that came to nothing");
    wr_check(!call->is_finished || call->n_replies == (call->status == WR_STATUS_OK), "no answer");
    if (call->n_replies > 0) {
        check_reply(shared, call->replies[0], key);
    }
    atomic_fetch_add(&shared->n_failed, call->status == WR_STATUS_UNAVAILABLE);
    atomic_fetch_add(&shared->n_awaited, call->n_awaits);
}

static void free_those_over(struct worker *worker)
{
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        struct wr_fake_call *const call = worker->calls[i];

        if (call != NULL && wr_fake_call_is_over(call)) {
            check_call(worker->shared, call, worker->keys[i]);
            wr_fake_call_free(call);
            worker->calls[i] = NULL;
        }
    }
}

static void begin(struct worker *worker, size_t at)
{
    static const char malformed[] = "\x0a\xff";
    const enum plan plan = (enum plan)(wr_crew_random(&worker->random) % PLANS);
    const int key = plan == PLAN_UNLIMITED ? KEYS : (int) (wr_crew_random(&worker->random) % KEYS);
    struct wr_fake_call *const call = wr_fake_call_new(worker->transport, &worker->shared->method,
                                                       plan == PLAN_LATE ? MONO_US : INT64_MAX);

    call->base.worker = worker->number;
    worker->calls[at] = call;
    worker->keys[at] = key;
    atomic_fetch_add(&worker->shared->n_messages, plan != PLAN_LEAVE_FIRST);
    switch ((int) plan) {
    case PLAN_LEAVE_FIRST:
        wr_fake_call_cancel(call);
        break;
    case PLAN_EMPTY:
        wr_fake_call_half_close(call);
        break;
    case PLAN_MALFORMED:
        wr_fake_call_message(call, (struct wr_str){malformed, 2});
        break;
    default:
        wr_fake_call_message(call, message_of(key));
        break;
    }
}

/* The caller of some call leaves, whatever state it is in. */
static void leave(struct worker *worker, bool is_woken)
{
    struct wr_fake_call *const call = worker->calls[wr_crew_random(&worker->random) % IN_FLIGHT];

    if (call != NULL) {
        atomic_fetch_add(is_woken ? &worker->shared->n_left_woken : &worker->shared->n_left_waiting,
                         call->n_awaits > call->n_wakes && call->n_closes == 0);
        wr_fake_call_cancel(call);
    }
}

static size_t find_free(const struct worker *worker)
{
    size_t at = 0;

    while (at < IN_FLIGHT && worker->calls[at] != NULL) {
        at++;
    }
    return at;
}

static void wait_for_wakes(struct worker *worker, bool with_leavers)
{
    wr_check(wr_fake_transport_wait(worker->transport, WAIT_MS), "an await was not woken");
    if (with_leavers && wr_crew_random(&worker->random) % 4 == 0) {
        leave(worker, true);
    }
    (void) wr_fake_transport_run(worker->transport);
    free_those_over(worker);
}

static bool has_calls(const struct worker *worker)
{
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        if (worker->calls[i] != NULL) {
            return true;
        }
    }
    return false;
}

static void call_all(struct worker *worker)
{
    for (size_t i = 0; i < CALLS; i++) {
        size_t at = find_free(worker);

        while (at == IN_FLIGHT) {
            wait_for_wakes(worker, true);
            at = find_free(worker);
        }
        begin(worker, at);
        if (wr_crew_random(&worker->random) % 8 == 0) {
            leave(worker, false);
        }
        free_those_over(worker);
    }
    while (has_calls(worker)) {
        wait_for_wakes(worker, false);
    }
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;

    if (number == WORKERS) {
        publish_while_called(shared);
        return;
    }

    struct worker worker = {
        .shared = shared,
        .number = number,
        .transport = wr_fake_transport_new(shared->metrics),
        .random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15),
    };

    call_all(&worker);
    wr_fake_transport_destroy(worker.transport);
    atomic_fetch_sub(&shared->n_working, 1);
}

/* Each message was counted once, and came to one thing. */
static void check_metrics(struct shared *shared)
{
    static const enum wr_metric outcomes[] = {WR_METRIC_CALLS_OK,       WR_METRIC_CALLS_OVER,
                                              WR_METRIC_CALLS_FAILED,   WR_METRIC_CALLS_INVALID,
                                              WR_METRIC_CALLS_LATE,     WR_METRIC_CALLS_CANCELLED,
                                              WR_METRIC_CALLS_NO_MEMORY};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        sum += wr_metrics_sum(shared->metrics, outcomes[i]);
    }
    wr_check(wr_metrics_sum(shared->metrics, WR_METRIC_CALLS) == atomic_load(&shared->n_messages),
             "%" PRIu64 " calls counted", wr_metrics_sum(shared->metrics, WR_METRIC_CALLS));
    wr_check(sum == atomic_load(&shared->n_messages), "%" PRIu64 " outcomes", sum);
}

static void check_shows_something(struct shared *shared)
{
    wr_check(atomic_load(&shared->n_left_waiting) > 100 && atomic_load(&shared->n_left_woken) > 100,
             "few callers left");
    wr_check(atomic_load(&shared->n_failed) > 10, "the store answered nearly always");
    wr_check(atomic_load(&shared->n_over) > 100, "few calls were over");
}

static struct wr_backend *make_backend(struct wr_metrics *metrics)
{
    const struct wr_local_store_options local = {.max_counters = 100};
    const struct wr_slow_options options = {
        .delay_us = 300,
        .timeout_us = 3000,
        .order = WR_SLOW_SHUFFLED,
        .never_every = NEVER_EVERY,
        .seed = 1,
    };
    struct wr_backend *inner = NULL, *slow = NULL;

    wr_check(wr_local_store_new(&local, &inner) == WR_OK, "no store");
    wr_check(wr_slow_backend_new(&options, &inner, metrics, &slow) == WR_OK, "no slow store");
    return slow;
}

int main(void)
{
    static struct shared shared;
    const struct wr_settings settings = {.failure_mode = WR_FAILURE_ERROR};
    struct wr_rules *first = make_rules(0);
    struct wr_clock clock;
    struct wr_service service;

    shared.metrics = wr_metrics_new();
    wr_check(shared.metrics != NULL, "no memory");
    wr_log_set_level(WR_LOG_ERROR);
    wr_clock_init(&clock, fixed_time, NULL);
    wr_current_rules_init(&shared.current);
    wr_current_rules_publish(&shared.current, &first);

    struct wr_backend *const backend = make_backend(shared.metrics);
    const struct wr_service_options options = {
        .settings = &settings, .rules = &shared.current, .backend = backend, .n_workers = WORKERS};
    struct wr_decide row = {
        .service = &service, .clock = &clock, .caps = {.max_descriptors = 4, .max_entries = 4}};

    wr_check(wr_service_init(&service, &options) == WR_OK, "no service");
    shared.method = wr_decide_method(&row);
    atomic_store(&shared.n_working, WORKERS);
    wr_crew_run(WORKERS + 1, run, &shared);
    wr_backend_destroy(backend);
    wr_service_fini(&service);
    wr_current_rules_fini(&shared.current);
    check_metrics(&shared);
    check_shows_something(&shared);
    printf("service_calls: %d workers, %d calls, %" PRIu64 " waited for the store and were woken, "
           "%" PRIu64 " callers left waiting and %" PRIu64 " when woken, %" PRIu64
           " admitted, %" PRIu64 " over, %" PRIu64 " without the store's answer\n",
           WORKERS, WORKERS * CALLS, atomic_load(&shared.n_awaited),
           atomic_load(&shared.n_left_waiting), atomic_load(&shared.n_left_woken),
           atomic_load(&shared.n_shown), atomic_load(&shared.n_over),
           atomic_load(&shared.n_failed));
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
