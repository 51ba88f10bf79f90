/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out anywhere between a request's bytes and its answer's: the call fails, nothing
 * else does, and what was counted before stays. */
#include "rpc/decide.h"

#include <criterion/criterion.h>

#include "rules/current.h"
#include "store/local_store.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_backend.h"
#include "tests/support/rules_text.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

/* All that a decision can have to do. */
static const char *const yaml =
    "domain: d\n"
    "descriptors:\n"
    "  - {key: k, rate_limit: {name: k, unit: minute, requests_per_unit: 1000},\n"
    "     metadata: {a: {b: [1, two]}, c: {d: e}}}\n"
    "  - {key: l, value: 'x*', share_threshold: true, metadata: {a: {f: true}, c: g},\n"
    "     rate_limit: {name: l, unit: hour, requests_per_unit: 7, replaces: [{name: m}]}}\n"
    "  - {key: m, descriptors: [{key: n, rate_limit: {name: m, unit: day,\n"
    "     requests_per_unit: 1}}]}\n";

/* Domain d; (k=v), (l=xy), (m=1)(n=2). */
static const struct wr_str request =
    WR_STR("\x0a\x01"
           "d\x12\x08\x0a\x06\x0a\x01k\x12\x01v\x12\x09\x0a\x07\x0a\x01l\x12\x02xy"
           "\x12\x10\x0a\x06\x0a\x01m\x12\x01\x31\x0a\x06\x0a\x01n\x12\x01\x32");

/* A limit with a unit that there is not, which is refused with details. */
static const struct wr_str bad_request = WR_STR("\x0a\x01"
                                                "d\x12\x0e\x0a\x06\x0a\x01k\x12\x01v\x12\x04\x08"
                                                "\x0a\x10\x09");

/* A call that allocates nothing itself. */
struct bare_call {
    struct wr_call base; /* first */
    struct wr_arena arena;
    int n_replies, n_finishes, n_awaits, n_wakes;
    enum wr_status status;
};

static void reply(struct wr_call *call, struct wr_str message)
{
    cr_assert_gt(message.len, 0u);
    ((struct bare_call *) call)->n_replies++;
}

static void finish(struct wr_call *call, enum wr_status status, struct wr_str message,
                   struct wr_str details)
{
    (void) details;
    cr_assert_gt(message.len, 0u);
    ((struct bare_call *) call)->n_finishes++;
    ((struct bare_call *) call)->status = status;
}

static void await(struct wr_call *call)
{
    ((struct bare_call *) call)->n_awaits++;
}

static void wake(struct wr_call *call)
{
    ((struct bare_call *) call)->n_wakes++;
}

static const struct wr_call_ops bare_ops = {
    .reply = reply, .finish = finish, .await = await, .wake = wake};

static struct wr_now fixed_time(void *context)
{
    (void) context;
    return (struct wr_now){.wall_us = S(1700000000), .mono_us = S(1)};
}

struct desk {
    struct wr_settings settings;
    struct wr_clock clock;
    struct wr_current_rules current;
    struct wr_backend *store;
    struct wr_fake_backend fake;
    struct wr_metrics *metrics;
    struct wr_metrics_block *block;
    struct wr_service service;
    struct wr_decide row;
    struct wr_method method;
};

static void desk_init(struct desk *desk, bool is_fake)
{
    const struct wr_local_store_options options = {.max_counters = 1000, .n_stripes = 1};
    struct wr_rules *rules = wr_rules_of_text(yaml);

    *desk = (struct desk){.settings = {.has_response_headers = true,
                                       .has_dynamic_metadata = true,
                                       .limit_header = WR_STR("l"),
                                       .remaining_header = WR_STR("r"),
                                       .reset_header = WR_STR("s")},
                          .metrics = wr_metrics_new()};
    desk->block = wr_metrics_block_new(desk->metrics);
    wr_clock_init(&desk->clock, fixed_time, NULL);
    wr_current_rules_init(&desk->current);
    wr_current_rules_publish(&desk->current, &rules);
    wr_fake_backend_init(&desk->fake);
    desk->fake.holds = true;
    cr_assert_eq(wr_local_store_new(&options, &desk->store), WR_OK);
    cr_assert_eq(wr_service_init(&desk->service,
                                 &(struct wr_service_options){
                                     .settings = &desk->settings,
                                     .rules = &desk->current,
                                     .backend = is_fake ? &desk->fake.backend : desk->store,
                                     .n_workers = 1,
                                 }),
                 WR_OK);
    desk->row = (struct wr_decide){.service = &desk->service,
                                   .clock = &desk->clock,
                                   .caps = {.max_descriptors = 8, .max_entries = 8}};
    desk->method = wr_decide_method(&desk->row);
}

static void desk_fini(struct desk *desk)
{
    wr_service_fini(&desk->service);
    wr_backend_destroy(desk->store);
    wr_current_rules_fini(&desk->current);
    wr_metrics_destroy(desk->metrics);
}

static void call_init(struct bare_call *call, struct desk *desk, size_t arena_size)
{
    *call = (struct bare_call){
        .base = {.ops = &bare_ops, .metrics = desk->block, .deadline_mono_us = INT64_MAX}};
    wr_arena_init(&call->arena, arena_size);
    call->base.arena = &call->arena;
}

/* The call is over: it came to one thing, of which true is a reply. */
static bool call_fini(struct bare_call *call, struct desk *desk)
{
    cr_assert_eq(call->n_replies + call->n_finishes, 1);
    cr_assert_eq(call->n_awaits, call->n_wakes);
    desk->method.on_close(desk->method.context, &call->base, false);
    wr_arena_fini(&call->arena);
    return call->n_replies == 1;
}

/* Puts `message` in an arena that begins with `arena_size` bytes while `n` allocations succeed. */
static bool attempt(struct desk *desk, struct wr_str message, size_t arena_size, size_t n,
                    enum wr_status *out_status)
{
    struct bare_call call;

    call_init(&call, desk, arena_size);
    failing_malloc_start(n);
    desk->method.on_message(desk->method.context, &call.base, message);
    failing_malloc_stop();
    *out_status = call.status;
    return call_fini(&call, desk);
}

static uint64_t n_without_memory(const struct desk *desk)
{
    return wr_metrics_sum(desk->metrics, WR_METRIC_CALLS_NO_MEMORY);
}

/* The arena cannot grow, and each size lets one allocation more or so succeed. */
Test(decide_memory, each_allocation_of_a_call_may_fail)
{
    struct desk desk;
    enum wr_status status = WR_STATUS_OK;
    uint64_t n_failed = 0;

    desk_init(&desk, false);
    cr_assert(attempt(&desk, request, 4096, SIZE_MAX - 1, &status), "the counters are known now");
    for (size_t size = 16; !attempt(&desk, request, size, 1, &status); size += 16) {
        cr_assert_eq(status, WR_STATUS_RESOURCE_EXHAUSTED, "%zu bytes: %d", size, (int) status);
        n_failed++;
        cr_assert_lt(size, 1u << 20);
    }
    cr_assert_gt(n_failed, 100u);
    cr_assert_eq(n_without_memory(&desk), n_failed);
    desk_fini(&desk);
}

/* Attempts with ever more allocations that succeed, until the call is answered. */
static void attempt_all(size_t arena_size, uint64_t *n_exhausted, uint64_t *n_unanswered)
{
    bool is_done = false;

    for (size_t n = 0; !is_done; n++) {
        struct desk desk;
        enum wr_status status = WR_STATUS_OK;

        desk_init(&desk, false);
        is_done = attempt(&desk, request, arena_size, n, &status);
        cr_assert(is_done || status == WR_STATUS_RESOURCE_EXHAUSTED ||
                      status == WR_STATUS_UNAVAILABLE,
                  "%zu allocations: %d", n, (int) status);
        *n_exhausted += !is_done && status == WR_STATUS_RESOURCE_EXHAUSTED;
        *n_unanswered += !is_done && status == WR_STATUS_UNAVAILABLE;
        cr_assert(attempt(&desk, request, arena_size, SIZE_MAX - 1, &status),
                  "%zu allocations: the next call is served", n);
        desk_fini(&desk);
    }
}

/* New counters find no memory either, which the failure mode decides on, if there is room to say
 * so: always in an arena that need not grow. */
Test(decide_memory, each_allocation_of_a_process_may_fail)
{
    uint64_t n_exhausted = 0, n_unanswered = 0;

    wr_log_set_level(WR_LOG_ERROR);
    for (size_t arena_size = 16; arena_size <= 8192; arena_size *= 2) {
        attempt_all(arena_size, &n_exhausted, &n_unanswered);
    }
    cr_assert_gt(n_exhausted, 5u);
    cr_assert_gt(n_unanswered, 0u);
}

/* A refusal goes out with its code and sentence, whether or not there is room for details. */
Test(decide_memory, a_refusal_needs_little_memory)
{
    struct desk desk;
    enum wr_status status = WR_STATUS_OK;
    size_t n_refused = 0;

    desk_init(&desk, false);
    for (size_t size = 16; size < 4096; size += 16) {
        cr_assert_not(attempt(&desk, bad_request, size, 1, &status));
        cr_assert(status == WR_STATUS_INVALID_ARGUMENT || status == WR_STATUS_RESOURCE_EXHAUSTED);
        n_refused += status == WR_STATUS_INVALID_ARGUMENT;
    }
    cr_assert_gt(n_refused, 100u);
    cr_assert_lt(n_refused, 255u, "in the smallest there is no room at all");
    desk_fini(&desk);
}

/* From the store's late answer on. False when the call failed for want of memory. */
static bool attempt_late(struct desk *desk, size_t room)
{
    struct bare_call call;

    call_init(&call, desk, 16);
    desk->method.on_message(desk->method.context, &call.base, request);
    cr_assert_eq(call.n_awaits, 1);
    wr_fake_backend_release(&desk->fake);
    cr_assert_eq(call.n_wakes, 1);
    failing_malloc_start(room);
    desk->method.on_wake(desk->method.context, &call.base);
    failing_malloc_stop();
    cr_assert(call.n_replies == 1 || call.status == WR_STATUS_RESOURCE_EXHAUSTED);
    return call_fini(&call, desk);
}

Test(decide_memory, a_late_answer_may_find_none)
{
    struct desk desk;
    size_t n = 0;

    desk_init(&desk, true);
    while (!attempt_late(&desk, n)) {
        n++;
        cr_assert_lt(n, 1000u);
    }
    cr_assert_gt(n, 0u);
    cr_assert_eq(n_without_memory(&desk), n);
    desk_fini(&desk);
}
