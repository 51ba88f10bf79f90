/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/heartbeat.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/redis/command.h"
#include "store/redis/fault.h"
#include "store/redis/key.h"
#include "store/redis/loop.h"
#include "store/redis/route.h"

#define NAME "{replicas}"

/* Marks are times by the server's clock, in microseconds. */
static const struct wr_str script =
    WR_STR("local t = redis.call('TIME')\n"
           "local now = t[1] * 1000000 + t[2]\n"
           "redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])\n"
           "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', "
           "string.format('(%.0f', now - tonumber(ARGV[2])))\n"
           "redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[2] / 1000))\n"
           "return redis.call('ZCARD', KEYS[1])\n");

enum wr_err wr_redis_heartbeat_init(struct wr_redis_heartbeat *heartbeat, struct wr_arena *arena,
                                    struct wr_str prefix, uint64_t id, _Atomic uint32_t *replicas)
{
    const size_t key_size = prefix.len + sizeof NAME;
    char *const key = wr_arena_alloc(arena, key_size);
    char mark[24], fresh[24];

    if (key == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    (void) snprintf(key, key_size, "%.*s" NAME, (int) prefix.len, prefix.ptr);
    (void) snprintf(mark, sizeof mark, "%016" PRIx64, id);
    (void) snprintf(fresh, sizeof fresh, "%" PRId64, WR_REDIS_HEARTBEAT_FRESH_US);

    const struct wr_str words[] = {WR_STR("EVAL"), script,          WR_STR("1"),
                                   wr_str_of(key), wr_str_of(mark), wr_str_of(fresh)};
    const size_t n = sizeof words / sizeof words[0];
    const size_t size = wr_redis_command_size(words, n);
    char *const command = wr_arena_alloc(arena, size);

    if (command == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    (void) wr_redis_command_write(words, n, command, NULL);
    *heartbeat = (struct wr_redis_heartbeat){
        .replicas = replicas,
        .command = {.ptr = command, .len = size},
        .slot = wr_redis_key_slot(wr_str_of(key)),
    };
    return WR_OK;
}

void wr_redis_heartbeat_learn(struct wr_redis_heartbeat *heartbeat, uint32_t count, int64_t mono_us)
{
    if (heartbeat->replicas == NULL) {
        return;
    }

    const uint32_t before = atomic_load_explicit(heartbeat->replicas, memory_order_relaxed);

    if (count < before && mono_us - heartbeat->last_high_mono_us < WR_REDIS_HEARTBEAT_FRESH_US) {
        return;
    }
    heartbeat->last_high_mono_us = mono_us;
    atomic_store_explicit(heartbeat->replicas, count, memory_order_relaxed);
}

static void beat_ended(struct wr_redis_request *request, enum wr_redis_end end,
                       const struct redisReply *reply)
{
    struct wr_redis_heartbeat *const heartbeat = request->context;
    const int64_t now_us = wr_redis_loop_now(heartbeat->loop);
    struct wr_redis_fault fault;

    if (end == WR_REDIS_REPLIED) {
        heartbeat->on_beat(heartbeat->context,
                           !wr_redis_fault_in(reply, &fault) || fault.reaction != WR_REDIS_REFUSED);
    }
    if (end == WR_REDIS_REPLIED && reply->type == REDIS_REPLY_INTEGER && reply->integer > 0 &&
        reply->integer <= UINT32_MAX) {
        wr_redis_heartbeat_learn(heartbeat, (uint32_t) reply->integer, now_us);
    }
    wr_redis_timer_set(wr_redis_loop_timers(heartbeat->loop), &heartbeat->timer,
                       now_us + WR_REDIS_HEARTBEAT_US);
}

static void beat(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_heartbeat *const heartbeat = timer->context;

    heartbeat->request = (struct wr_redis_request){
        .bytes = heartbeat->command,
        .deadline_mono_us = mono_us + WR_REDIS_HEARTBEAT_US,
        .slot = heartbeat->slot,
        .on_end = beat_ended,
        .context = heartbeat,
    };
    wr_redis_request_start(&heartbeat->request, heartbeat->loop);
    wr_redis_route_send(heartbeat->route, &heartbeat->request);
}

void wr_redis_heartbeat_open(struct wr_redis_heartbeat *heartbeat, struct wr_redis_loop *loop,
                             struct wr_redis_route *route,
                             void (*on_beat)(void *context, bool is_usable), void *context)
{
    heartbeat->on_beat = on_beat;
    heartbeat->context = context;
    heartbeat->loop = loop;
    heartbeat->route = route;
    heartbeat->timer = (struct wr_redis_timer){.on_due = beat, .context = heartbeat};
    wr_redis_timer_set(wr_redis_loop_timers(loop), &heartbeat->timer, wr_redis_loop_now(loop));
}

void wr_redis_heartbeat_close(struct wr_redis_heartbeat *heartbeat)
{
    if (heartbeat->loop == NULL) {
        return;
    }
    if (wr_redis_timer_is_set(&heartbeat->timer)) {
        wr_redis_timer_clear(&heartbeat->timer);
    } else {
        wr_redis_request_drop(&heartbeat->request);
    }
    heartbeat->loop = NULL;
}
