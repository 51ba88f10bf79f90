/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/script_bed.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"

#define MAX_TAKES 16

static void send_bytes(struct wr_script_bed *bed, struct wr_str bytes)
{
    WR_ASSERT(redisAppendFormattedCommand(bed->redis, bytes.ptr, bytes.len) == REDIS_OK);
}

static redisReply *receive(struct wr_script_bed *bed)
{
    void *reply = NULL;

    if (redisGetReply(bed->redis, &reply) != REDIS_OK) {
        (void) fprintf(stderr, "redis: %s\n", bed->redis->errstr);
    }
    WR_ASSERT(reply != NULL);
    return reply;
}

static void note_text(struct wr_script_bed *bed, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_INTEGER) {
        (void) snprintf(bed->text, sizeof bed->text, "%lld", reply->integer);
    } else {
        (void) snprintf(bed->text, sizeof bed->text, "%s", reply->str != NULL ? reply->str : "");
    }
}

bool wr_script_bed_init(struct wr_script_bed *bed)
{
    *bed = (struct wr_script_bed){0};
    if (!wr_redis_server_start(&bed->server, NULL)) {
        return false;
    }
    bed->redis = redisConnectUnix(bed->server.socket_path);
    WR_ASSERT(bed->redis != NULL && bed->redis->err == 0);
    wr_arena_init(&bed->arena, 4096);
    wr_script_bed_load(bed);
    return true;
}

void wr_script_bed_load(struct wr_script_bed *bed)
{
    send_bytes(bed, wr_redis_script_load());

    redisReply *const reply = receive(bed);

    note_text(bed, reply);
    freeReplyObject(reply);
}

void wr_script_bed_fini(struct wr_script_bed *bed)
{
    redisFree(bed->redis);
    wr_redis_server_stop(&bed->server);
    wr_arena_fini(&bed->arena);
}

void wr_script_bed_send(struct wr_script_bed *bed, struct wr_take *takes, size_t n,
                        enum wr_charge_mode mode, int64_t now_us, int64_t not_after_us)
{
    struct wr_take *pointers[MAX_TAKES];
    struct wr_str keys[MAX_TAKES];
    struct wr_str command;
    const struct wr_redis_script_call call = {
        .keys = keys,
        .takes = pointers,
        .n_takes = n,
        .mode = mode,
        .has_dated_keys = bed->has_dated_keys,
        .wall_us = now_us + bed->ahead_us,
        .not_after_us = not_after_us,
        .now_us = now_us,
    };

    WR_ASSERT(n <= MAX_TAKES);
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &takes[i];
        keys[i] = takes[i].key;
    }
    WR_ASSERT(wr_redis_script_format(&call, &bed->arena, &command));
    send_bytes(bed, command);
    wr_arena_reset(&bed->arena);
}

enum wr_redis_script_reply wr_script_bed_receive(struct wr_script_bed *bed, struct wr_take *takes,
                                                 size_t n)
{
    struct wr_take *pointers[MAX_TAKES];
    redisReply *const reply = receive(bed);

    WR_ASSERT(n <= MAX_TAKES);
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &takes[i];
    }

    const enum wr_redis_script_reply answer = wr_redis_script_read(reply, pointers, n, &bed->notes);

    note_text(bed, reply);
    freeReplyObject(reply);
    return answer;
}

const char *wr_script_bed_ask(struct wr_script_bed *bed, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    WR_ASSERT(redisvAppendCommand(bed->redis, format, words) == REDIS_OK);
    va_end(words);

    redisReply *const reply = receive(bed);

    note_text(bed, reply);
    freeReplyObject(reply);
    return bed->text;
}
