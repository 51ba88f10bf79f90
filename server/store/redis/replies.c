/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/replies.h"

#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/arena.h"

/* What one reply may take: the map of the largest cluster is far below. */
#define MAX_BYTES ((size_t) 64 << 20)
#define MAX_ELEMENTS (4 << 20)
#define FIRST_CHUNK 8192

struct wr_redis_replies {
    redisReader *reader; /* owned */
    struct wr_arena arena;
    bool is_whole; /* a reply was given out: the arena holds nothing else */
};

/* Cleared; NULL beyond the bound, too. */
static void *alloc(struct wr_redis_replies *replies, size_t n, size_t size)
{
    const size_t used = replies->arena.total_size;

    return used < MAX_BYTES && n <= (MAX_BYTES - used) / size
               ? wr_arena_calloc(&replies->arena, n, size)
               : NULL;
}

static redisReply *add(const redisReadTask *task, int type)
{
    struct wr_redis_replies *const replies = task->privdata;
    redisReply *const reply = alloc(replies, 1, sizeof *reply);

    if (reply == NULL) {
        return NULL;
    }
    reply->type = type;
    if (task->parent != NULL) {
        redisReply *const parent = task->parent->obj;

        parent->element[task->idx] = reply;
    }
    return reply;
}

static void *create_string(const redisReadTask *task, char *text, size_t len)
{
    struct wr_redis_replies *const replies = task->privdata;
    redisReply *const reply = add(task, task->type);

    if (reply == NULL) {
        return NULL;
    }
    reply->str = alloc(replies, len + 1, 1);
    if (reply->str == NULL) {
        return NULL;
    }
    memcpy(reply->str, text, len);
    reply->str[len] = '\0';
    reply->len = len;
    return reply;
}

static void *create_array(const redisReadTask *task, int n)
{
    struct wr_redis_replies *const replies = task->privdata;
    redisReply *const reply = n >= 0 && n <= MAX_ELEMENTS ? add(task, REDIS_REPLY_ARRAY) : NULL;

    if (reply == NULL) {
        return NULL;
    }
    reply->elements = (size_t) n;
    reply->element = alloc(replies, (size_t) n, sizeof(redisReply *));
    return reply->element != NULL ? reply : NULL;
}

static void *create_integer(const redisReadTask *task, long long value)
{
    redisReply *const reply = add(task, REDIS_REPLY_INTEGER);

    if (reply != NULL) {
        reply->integer = value;
    }
    return reply;
}

static void *create_nil(const redisReadTask *task)
{
    return add(task, REDIS_REPLY_NIL);
}

static void free_nothing(void *reply)
{
    (void) reply; /* the arena has it */
}

static redisReader *new_reader(struct wr_redis_replies *replies)
{
    static redisReplyObjectFunctions functions = {
        .createString = create_string,
        .createArray = create_array,
        .createInteger = create_integer,
        .createNil = create_nil,
        .freeObject = free_nothing,
    };
    redisReader *const reader = redisReaderCreateWithFunctions(&functions);

    if (reader != NULL) {
        reader->privdata = replies;
    }
    return reader;
}

enum wr_err wr_redis_replies_new(struct wr_redis_replies **out_replies)
{
    struct wr_redis_replies *const replies = calloc(1, sizeof *replies);

    if (replies == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    wr_arena_init(&replies->arena, FIRST_CHUNK);
    replies->reader = new_reader(replies);
    if (replies->reader == NULL) {
        wr_redis_replies_destroy(replies);
        return WR_ERR_NO_MEMORY;
    }
    *out_replies = replies;
    return WR_OK;
}

void wr_redis_replies_destroy(struct wr_redis_replies *replies)
{
    if (replies == NULL) {
        return;
    }
    if (replies->reader != NULL) {
        redisReaderFree(replies->reader);
    }
    wr_arena_fini(&replies->arena);
    free(replies);
}

bool wr_redis_replies_reset(struct wr_redis_replies *replies)
{
    redisReader *const reader = new_reader(replies);

    if (reader == NULL) {
        return false;
    }
    redisReaderFree(replies->reader);
    replies->reader = reader;
    replies->is_whole = false;
    wr_arena_reset(&replies->arena);
    return true;
}

bool wr_redis_replies_feed(struct wr_redis_replies *replies, const char *bytes, size_t n)
{
    return replies->reader->len - replies->reader->pos + n <= MAX_BYTES &&
           redisReaderFeed(replies->reader, bytes, n) == REDIS_OK;
}

bool wr_redis_replies_next(struct wr_redis_replies *replies, const struct redisReply **out_reply)
{
    void *reply = NULL;

    if (replies->is_whole) {
        wr_arena_reset(&replies->arena);
        replies->is_whole = false;
    }
    if (redisReaderGetReply(replies->reader, &reply) != REDIS_OK) {
        return false;
    }
    replies->is_whole = reply != NULL;
    *out_reply = reply;
    return true;
}
