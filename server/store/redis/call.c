/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/call.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "metrics/metrics.h"
#include "store/fates.h"
#include "store/redis/fault.h"
#include "store/redis/key.h"
#include "store/redis/link.h"
#include "store/redis/loop.h"
#include "store/redis/request.h"
#include "store/redis/route.h"
#include "store/redis/script.h"

/* Of the caller's time, for the answer's way to him. */
#define ANSWER_US 1000

/* The takes of a batch that go in one command. */
struct part {
    struct wr_redis_request request;
    struct wr_redis_call *call;
    struct wr_take **takes;
    size_t n_takes;
};

/* A batch on its way, in the arena of its call. */
struct wr_redis_call {
    struct wr_redis_job job;
    struct wr_redis_courier *courier; /* borrowed */
    struct wr_batch *batch;
    struct part *parts;
    size_t n_parts, n_left; /* parts without an end; and one while they are sent */
};

/* ---- answers ---- */

static void answer_all(struct wr_take *const *takes, size_t n, enum wr_take_answer answer)
{
    for (size_t i = 0; i < n; i++) {
        takes[i]->answer = answer;
    }
}

static void part_done(struct wr_redis_call *call)
{
    if (--call->n_left == 0) {
        call->batch->done(call->batch, call->batch->context);
    }
}

static void fail(struct part *part, enum wr_take_answer answer)
{
    answer_all(part->takes, part->n_takes, answer);
    wr_metrics_add(part->call->courier->metrics,
                   answer == WR_TAKE_AWAY     ? WR_METRIC_STORE_AWAY
                   : answer == WR_TAKE_FAILED ? WR_METRIC_STORE_ERRORS
                                              : WR_METRIC_STORE_TIMEOUT,
                   part->n_takes);
}

/* Not which keys: they hold values of callers. */
static void log_foreign(struct wr_redis_courier *courier)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&courier->foreign_line, wr_redis_loop_now(courier->loop), &skipped)) {
        wr_log(WR_LOG_WARN,
               "Redis has something else than a counter under a key of this server, and so such "
               "calls get no answer from the store: does another program write there? Set another "
               "--redis-key-prefix (%" PRIu64 " lines before this were left out)",
               skipped);
    }
}

static void note(struct part *part, const struct wr_redis_script_notes *notes)
{
    struct wr_metrics_block *const metrics = part->call->courier->metrics;

    wr_metrics_add(metrics, WR_METRIC_STORE_FOREIGN, notes->n_foreign);
    wr_metrics_add(metrics, WR_METRIC_STORE_AWAY, notes->n_foreign);
    wr_metrics_add(metrics, WR_METRIC_STORE_REPAIRED, notes->n_repaired);
    wr_metrics_add(metrics, WR_METRIC_STORE_RESTARTS, notes->n_restarted);
    if (notes->n_foreign > 0) {
        log_foreign(part->call->courier);
    }
    if (notes->n_late > 0) {
        wr_metrics_add(metrics, WR_METRIC_STORE_LATE, notes->n_late);
        wr_redis_link_retime(part->request.from);
    }
}

static void read_reply(struct part *part, const struct redisReply *reply)
{
    struct wr_redis_script_notes notes = {0};
    struct wr_redis_fault fault = {0};

    switch (wr_redis_script_read(reply, part->takes, part->n_takes, &notes)) {
    case WR_REDIS_SCRIPT_ANSWERED:
        note(part, &notes);
        break;
    case WR_REDIS_SCRIPT_ERROR:
        (void) wr_redis_fault_in(reply, &fault);
        fail(part, fault.is_uncharged ? WR_TAKE_AWAY : WR_TAKE_FAILED);
        break;
    case WR_REDIS_SCRIPT_GARBAGE:
    default:
        fail(part, WR_TAKE_TIMEOUT);
        wr_redis_link_renew(part->request.from);
        break;
    }
}

static void part_ended(struct wr_redis_request *request, enum wr_redis_end end,
                       const struct redisReply *reply)
{
    struct part *const part = request->context;

    switch (end) {
    case WR_REDIS_REPLIED:
        read_reply(part, reply);
        break;
    case WR_REDIS_LOST:
        wr_metrics_add(part->call->courier->metrics, WR_METRIC_STORE_LOST, part->n_takes);
        fail(part, WR_TAKE_TIMEOUT);
        break;
    case WR_REDIS_TIMED_OUT:
        fail(part, request->was_sent ? WR_TAKE_TIMEOUT : WR_TAKE_AWAY);
        break;
    case WR_REDIS_AWAY:
    default:
        fail(part, WR_TAKE_AWAY);
        break;
    }
    part_done(part->call);
}

/* A cost that is spent is booked though nobody waits any more. */
static bool must_send(const struct part *part)
{
    for (size_t i = 0; i < part->n_takes; i++) {
        if (part->takes[i]->must_book) {
            return true;
        }
    }
    return part->request.deadline_mono_us > wr_redis_loop_now(part->call->courier->loop);
}

/* On the I/O thread. */
static void send_call(struct wr_redis_job *job)
{
    struct wr_redis_call *const call = job->context;

    for (size_t i = 0; i < call->n_parts; i++) {
        struct part *const part = &call->parts[i];

        if (must_send(part)) {
            wr_redis_request_start(&part->request, call->courier->loop);
            wr_redis_route_send(call->courier->route, &part->request);
        } else {
            fail(part, WR_TAKE_AWAY);
            part_done(call);
        }
    }
    part_done(call);
}

/* ---- from a batch to commands, on the thread that takes ---- */

static int64_t window_start_s(const struct wr_batch *batch, const struct wr_take *take)
{
    const int64_t length_s = take->limit.length_us / 1000000;
    const int64_t now_s = batch->now.wall_us / 1000000;

    return length_s > 0 ? now_s - now_s % length_s : now_s;
}

/* A take and where it goes. */
struct errand {
    struct wr_str key;
    size_t index; /* in the batch */
    uint16_t slot;
};

static int compare_errands(const void *a, const void *b)
{
    const struct errand *const left = a;
    const struct errand *const right = b;

    if (left->slot != right->slot) {
        return left->slot < right->slot ? -1 : 1;
    }
    return left->index < right->index ? -1 : 1;
}

/* Whether what is charged as one goes across the paths of a domain, and so must lie in one slot.
 * Where there are no slots the name of a counter does not depend on how it is charged: it outlives
 * a change of that. */
static bool is_domain_slot(const struct wr_redis_courier *courier, const struct wr_batch *batch,
                           const struct wr_take *take)
{
    return courier->has_slots && (take->is_domain_group || batch->mode == WR_CHARGE_STOP);
}

static bool is_bound(const struct wr_batch *batch, size_t i)
{
    return batch->mode == WR_CHARGE_STOP || batch->takes[i].limit.count == WR_COUNT_ALL_OR_NOTHING;
}

/* Counts the takes that lie apart from the first that they stand or fall with, as keys of the
 * reference's form do: they have no common slot that would outlast a window. `errands` are in the
 * order of the batch. False: no memory. */
static bool count_apart(const struct wr_batch *batch, const struct errand *errands)
{
    const size_t *const fates = wr_fates_of(batch);
    bool *const bound = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *bound);
    size_t n_apart = 0;

    if (fates == NULL || bound == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        bound[fates[i]] |= is_bound(batch, i);
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        n_apart += bound[fates[i]] && errands[i].slot != errands[fates[i]].slot;
    }
    if (n_apart > 0) {
        wr_metrics_add(batch->metrics, WR_METRIC_STORE_APART, n_apart);
    }
    return true;
}

/* In order of slots, and of the batch within a slot. NULL: no memory. */
static struct errand *make_errands(struct wr_redis_courier *courier, const struct wr_batch *batch)
{
    const bool has_slots = courier->has_slots;
    struct errand *const errands = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *errands);

    if (errands == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        const struct wr_take *const take = &batch->takes[i];

        const struct wr_redis_key_take name = {
            .identity = take->key,
            .is_domain_slot = is_domain_slot(courier, batch, take),
            .is_further = take->is_further,
            .window_start_s = window_start_s(batch, take),
        };

        errands[i].index = i;
        if (!wr_redis_key_write(courier->keys, batch->arena, &name, &errands[i].key)) {
            return NULL;
        }
        errands[i].slot = has_slots ? wr_redis_key_slot(errands[i].key) : 0;
    }
    if (has_slots && courier->keys->form == WR_REDIS_KEY_REFERENCE &&
        !count_apart(batch, errands)) {
        return NULL;
    }
    if (has_slots) {
        qsort(errands, batch->n_takes, sizeof *errands, compare_errands);
    }
    return errands;
}

static size_t count_slots(const struct errand *errands, size_t n)
{
    size_t n_slots = n > 0;

    for (size_t i = 1; i < n; i++) {
        n_slots += errands[i].slot != errands[i - 1].slot;
    }
    return n_slots;
}

int64_t wr_redis_call_deadline(int64_t now_us, int64_t callers_us, int64_t timeout_us)
{
    const int64_t own_us = now_us + timeout_us;
    const int64_t tenth_us = callers_us > now_us ? (callers_us - now_us) / 10 : 0;
    const int64_t before_us = callers_us - (tenth_us < ANSWER_US ? tenth_us : ANSWER_US);

    return before_us < own_us ? before_us : own_us;
}

static int64_t deadline_of(struct wr_redis_courier *courier, const struct wr_batch *batch)
{
    return wr_redis_call_deadline(batch->now.mono_us, batch->deadline_mono_us, courier->timeout_us);
}

/* `keys` are those of `takes`. */
static bool make_part(struct part *part, struct wr_redis_call *call, const struct wr_str *keys,
                      struct wr_take **takes, size_t n)
{
    const struct wr_redis_script_call script = {
        .keys = keys,
        .takes = takes,
        .n_takes = n,
        .mode = call->batch->mode,
        .has_dated_keys = call->courier->keys->form == WR_REDIS_KEY_REFERENCE,
        .wall_us = call->batch->now.wall_us,
    };

    *part = (struct part){
        .request = {.deadline_mono_us = deadline_of(call->courier, call->batch),
                    .on_end = part_ended,
                    .context = part},
        .call = call,
        .takes = takes,
        .n_takes = n,
    };
    if (!wr_redis_script_format(&script, call->batch->arena, &part->request.bytes)) {
        return false;
    }
    part->request.not_after_at = wr_redis_script_not_after_at(part->request.bytes, &script);
    return true;
}

static bool make_parts(struct wr_redis_call *call)
{
    struct wr_batch *const batch = call->batch;
    const size_t n = batch->n_takes;
    const struct errand *const errands = make_errands(call->courier, batch);
    struct wr_take **const takes = wr_arena_calloc(batch->arena, n, sizeof(struct wr_take *));
    struct wr_str *const keys = wr_arena_calloc(batch->arena, n, sizeof *keys);

    if (errands == NULL || takes == NULL || keys == NULL) {
        return false;
    }
    call->parts = wr_arena_calloc(batch->arena, count_slots(errands, n), sizeof *call->parts);
    if (call->parts == NULL) {
        return false;
    }
    for (size_t first = 0, end = 0; first < n; first = end) {
        for (; end < n && errands[end].slot == errands[first].slot; end++) {
            takes[end] = &batch->takes[errands[end].index];
            keys[end] = errands[end].key;
        }

        struct part *const part = &call->parts[call->n_parts++];

        if (!make_part(part, call, keys + first, takes + first, end - first)) {
            return false;
        }
        part->request.slot = errands[first].slot;
    }
    return true;
}

struct wr_redis_call *wr_redis_call_new(struct wr_redis_courier *courier, struct wr_batch *batch)
{
    struct wr_redis_call *const call = wr_arena_calloc(batch->arena, 1, sizeof *call);

    if (call == NULL) {
        return NULL;
    }
    call->courier = courier;
    call->batch = batch;
    call->job = (struct wr_redis_job){.run = send_call, .context = call};
    if (!make_parts(call)) {
        return NULL;
    }
    call->n_left = call->n_parts + 1;
    return call;
}

void wr_redis_call_post(struct wr_redis_call *call)
{
    wr_redis_loop_push(call->courier->loop, &call->job);
}
