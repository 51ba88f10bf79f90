/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/heartbeat.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "store/redis/command.h"
#include "store/redis/fault.h"
#include "store/redis/key.h"
#include "store/redis/link.h"
#include "store/redis/loop.h"
#include "store/redis/route.h"
#include "store/redis/script.h"

#define NAME "{replicas}"
#define OWN_PREFIX "weir:"

/* Names that no counter has: a path has a = in it. */
#define SHORT_NAME NAME "|probe|1s"
#define LONG_NAME NAME "|probe|60s"

/* Silence that is more than the pause between two beats. */
#define SILENCE_US (2 * WR_REDIS_HEARTBEAT_US)

/* Marks are times by the server's clock, in microseconds. */
static const struct wr_str script =
    WR_STR("local t = redis.call('TIME')\n"
           "local now = t[1] * 1000000 + t[2]\n"
           "redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])\n"
           "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', "
           "string.format('(%.0f', now - tonumber(ARGV[2])))\n"
           "redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[2] / 1000))\n"
           "return redis.call('ZCARD', KEYS[1])\n");

/* ---- commands ---- */

/* PREFIX and `name`, in `arena`. An empty text: no memory. */
static struct wr_str make_key(const struct wr_redis_key_style *style, struct wr_arena *arena,
                              const char *name)
{
    const size_t size = sizeof OWN_PREFIX + style->prefix.len + strlen(name) + 1;
    char *const key = wr_arena_alloc(arena, size);

    if (key == NULL) {
        return (struct wr_str){0};
    }
    (void) snprintf(key, size, "%s%.*s%s", style->form == WR_REDIS_KEY_REFERENCE ? OWN_PREFIX : "",
                    (int) style->prefix.len, style->prefix.ptr, name);
    return wr_str_of(key);
}

static bool make_mark(struct wr_arena *arena, struct wr_str key, uint64_t id,
                      struct wr_str *out_command)
{
    char mark[24], fresh[24];

    (void) snprintf(mark, sizeof mark, "%016" PRIx64, id);
    (void) snprintf(fresh, sizeof fresh, "%" PRId64, WR_REDIS_HEARTBEAT_FRESH_US);

    const struct wr_str words[] = {WR_STR("EVAL"),  script,          WR_STR("1"), key,
                                   wr_str_of(mark), wr_str_of(fresh)};
    const size_t n = sizeof words / sizeof words[0];
    const size_t size = wr_redis_command_size(words, n);
    char *const command = wr_arena_alloc(arena, size);

    if (command == NULL) {
        return false;
    }
    (void) wr_redis_command_write(words, n, command, NULL);
    *out_command = (struct wr_str){.ptr = command, .len = size};
    return true;
}

/* A new counter each time, one that goes on, and a look at it: all that plain takes do. */
static bool make_probe(struct wr_redis_heartbeat *heartbeat, struct wr_arena *arena,
                       struct wr_str short_key, struct wr_str long_key)
{
    const struct wr_limit second = {.requests = WR_COUNT_MAX, .length_us = INT64_C(1000000)};
    const struct wr_limit minute = {.requests = WR_COUNT_MAX, .length_us = INT64_C(60000000)};
    const struct wr_take takes[WR_REDIS_PROBE_TAKES] = {
        {.limit = second, .hits = 1}, {.limit = minute, .hits = 1}, {.limit = minute}};
    const struct wr_str keys[WR_REDIS_PROBE_TAKES] = {short_key, long_key, long_key};
    const struct wr_redis_script_call call = {
        .keys = keys,
        .takes = heartbeat->probed,
        .n_takes = WR_REDIS_PROBE_TAKES,
        .mode = WR_CHARGE_BY_COUNT,
    };

    for (size_t i = 0; i < WR_REDIS_PROBE_TAKES; i++) {
        heartbeat->takes[i] = takes[i];
        heartbeat->probed[i] = &heartbeat->takes[i];
    }
    return wr_redis_script_format(&call, arena, &heartbeat->probe.command);
}

/* ---- replies ---- */

void wr_redis_heartbeat_learn(struct wr_redis_heartbeat *heartbeat, uint32_t count, int64_t mono_us)
{
    if (heartbeat->replicas == NULL) {
        return;
    }

    const uint32_t before = atomic_load_explicit(heartbeat->replicas, memory_order_relaxed);
    const int64_t silence_us = mono_us - heartbeat->heard_mono_us;

    heartbeat->heard_mono_us = mono_us;
    if (silence_us > SILENCE_US) {
        heartbeat->last_high_mono_us += silence_us;
    }
    if (count < before && mono_us - heartbeat->last_high_mono_us < WR_REDIS_HEARTBEAT_FRESH_US) {
        return;
    }
    heartbeat->last_high_mono_us = mono_us;
    atomic_store_explicit(heartbeat->replicas, count, memory_order_relaxed);
}

/* A script that stays unknown cannot be loaded. */
static bool is_refusal(const struct wr_redis_fault *fault)
{
    return fault->reaction == WR_REDIS_REFUSED || fault->reaction == WR_REDIS_TEACH;
}

/* Told when it begins, and when another takes its place. Links tell the rest. */
static void tell_refusal(struct wr_redis_pulse *pulse, const struct wr_redis_fault *fault,
                         const char *what)
{
    if (!is_refusal(fault) && fault->reaction != WR_REDIS_FAIL) {
        return;
    }
    if (pulse->refusal == NULL || strcmp(pulse->refusal, fault->code) != 0) {
        wr_log(WR_LOG_WARN, "Redis answers %s: %s; meanwhile %s", fault->code, fault->advice, what);
    }
    pulse->refusal = fault->code;
}

static void mark_answered(struct wr_redis_pulse *pulse, const struct redisReply *reply)
{
    struct wr_redis_heartbeat *const heartbeat = pulse->heartbeat;
    struct wr_redis_fault fault;

    if (wr_redis_fault_in(reply, &fault)) {
        tell_refusal(pulse, &fault, "the number of replicas is not learnt");
        return;
    }
    pulse->refusal = NULL;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer > 0 && reply->integer <= UINT32_MAX) {
        wr_redis_heartbeat_learn(heartbeat, (uint32_t) reply->integer,
                                 wr_redis_loop_now(heartbeat->loop));
    }
}

/* A user who may write the keys of takes alone. */
static bool is_about_keys(const struct redisReply *reply, const struct wr_redis_fault *fault)
{
    return strcmp(fault->code, "NOPERM") == 0 && strstr(reply->str, " access ") != NULL;
}

static void probe_answered(struct wr_redis_pulse *pulse, const struct redisReply *reply)
{
    struct wr_redis_heartbeat *const heartbeat = pulse->heartbeat;
    struct wr_redis_script_notes notes;
    struct wr_redis_fault fault;

    if (wr_redis_script_read(reply, heartbeat->probed, WR_REDIS_PROBE_TAKES, &notes) ==
        WR_REDIS_SCRIPT_GARBAGE) {
        wr_redis_link_renew(pulse->request.from);
        return;
    }

    const bool is_refused = wr_redis_fault_in(reply, &fault) && is_refusal(&fault) &&
                            !(heartbeat->has_keys_of_its_own && is_about_keys(reply, &fault));

    if (is_refused) {
        tell_refusal(pulse, &fault, "calls get no answer from the store");
    } else if (reply->type == REDIS_REPLY_ERROR) {
        tell_refusal(pulse, &fault, "it is not known whether calls get an answer");
    } else {
        pulse->refusal = NULL;
    }
    heartbeat->on_probe(heartbeat->context, !is_refused);
}

/* ---- again and again ---- */

static void pulse_ended(struct wr_redis_request *request, enum wr_redis_end end,
                        const struct redisReply *reply)
{
    struct wr_redis_pulse *const pulse = request->context;
    struct wr_redis_loop *const loop = pulse->heartbeat->loop;

    if (end == WR_REDIS_REPLIED) {
        pulse->on_reply(pulse, reply);
    }
    wr_redis_timer_set(wr_redis_loop_timers(loop), &pulse->timer,
                       wr_redis_loop_now(loop) + WR_REDIS_HEARTBEAT_US);
}

static void beat(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_pulse *const pulse = timer->context;
    struct wr_redis_heartbeat *const heartbeat = pulse->heartbeat;

    pulse->request = (struct wr_redis_request){
        .bytes = pulse->command,
        .deadline_mono_us = mono_us + WR_REDIS_HEARTBEAT_US,
        .slot = heartbeat->slot,
        .is_quiet = true,
        .on_end = pulse_ended,
        .context = pulse,
    };
    wr_redis_request_start(&pulse->request, heartbeat->loop);
    wr_redis_route_send(heartbeat->route, &pulse->request);
}

static void open_pulse(struct wr_redis_pulse *pulse, struct wr_redis_heartbeat *heartbeat)
{
    pulse->heartbeat = heartbeat;
    pulse->timer = (struct wr_redis_timer){.on_due = beat, .context = pulse};
    wr_redis_timer_set(wr_redis_loop_timers(heartbeat->loop), &pulse->timer,
                       wr_redis_loop_now(heartbeat->loop));
}

static void close_pulse(struct wr_redis_pulse *pulse)
{
    if (wr_redis_timer_is_set(&pulse->timer)) {
        wr_redis_timer_clear(&pulse->timer);
    } else {
        wr_redis_request_drop(&pulse->request);
    }
}

enum wr_err wr_redis_heartbeat_init(struct wr_redis_heartbeat *heartbeat, struct wr_arena *arena,
                                    const struct wr_redis_key_style *style, uint64_t id,
                                    _Atomic uint32_t *replicas)
{
    const struct wr_str key = make_key(style, arena, NAME);
    const struct wr_str short_key = make_key(style, arena, SHORT_NAME);
    const struct wr_str long_key = make_key(style, arena, LONG_NAME);

    *heartbeat = (struct wr_redis_heartbeat){
        .replicas = replicas,
        .slot = wr_redis_key_slot(key),
        .has_keys_of_its_own = style->form == WR_REDIS_KEY_REFERENCE,
        .mark = {.on_reply = mark_answered},
        .probe = {.on_reply = probe_answered},
    };
    return key.len > 0 && short_key.len > 0 && long_key.len > 0 &&
                   make_mark(arena, key, id, &heartbeat->mark.command) &&
                   make_probe(heartbeat, arena, short_key, long_key)
               ? WR_OK
               : WR_ERR_NO_MEMORY;
}

void wr_redis_heartbeat_open(struct wr_redis_heartbeat *heartbeat, struct wr_redis_loop *loop,
                             struct wr_redis_route *route,
                             void (*on_probe)(void *context, bool is_usable), void *context)
{
    heartbeat->on_probe = on_probe;
    heartbeat->context = context;
    heartbeat->loop = loop;
    heartbeat->route = route;
    open_pulse(&heartbeat->probe, heartbeat);
    if (heartbeat->replicas != NULL) {
        open_pulse(&heartbeat->mark, heartbeat);
    }
}

void wr_redis_heartbeat_close(struct wr_redis_heartbeat *heartbeat)
{
    if (heartbeat->loop == NULL) {
        return;
    }
    close_pulse(&heartbeat->probe);
    if (heartbeat->replicas != NULL) {
        close_pulse(&heartbeat->mark);
    }
    heartbeat->loop = NULL;
}
