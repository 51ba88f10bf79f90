/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/replies.h"

#include <criterion/criterion.h>
#include <string.h>

#include <hiredis/hiredis.h>

static struct wr_redis_replies *new_replies(void)
{
    struct wr_redis_replies *replies = NULL;

    cr_assert_eq(wr_redis_replies_new(&replies), WR_OK);
    return replies;
}

static bool feed(struct wr_redis_replies *replies, const char *text)
{
    return wr_redis_replies_feed(replies, text, strlen(text));
}

static const redisReply *next(struct wr_redis_replies *replies)
{
    const redisReply *reply = NULL;

    cr_assert(wr_redis_replies_next(replies, &reply));
    return reply;
}

Test(redis_replies, every_kind)
{
    struct wr_redis_replies *const replies = new_replies();

    cr_assert(feed(replies, "+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\nb\r\n$-1\r\n*-1\r\n*0\r\n"
                            "*2\r\n*1\r\n:1\r\n$0\r\n\r\n"));
    cr_assert_str_eq(next(replies)->str, "OK");

    const redisReply *reply = next(replies);

    cr_assert_eq(reply->type, REDIS_REPLY_ERROR);
    cr_assert_str_eq(reply->str, "ERR no");
    cr_assert_eq(next(replies)->integer, -7);
    cr_assert_str_eq(next(replies)->str, "a\nb");
    cr_assert_eq(next(replies)->type, REDIS_REPLY_NIL);
    cr_assert_eq(next(replies)->type, REDIS_REPLY_NIL);
    cr_assert_eq(next(replies)->elements, 0);
    reply = next(replies);
    cr_assert_eq(reply->elements, 2);
    cr_assert_eq(reply->element[0]->element[0]->integer, 1);
    cr_assert_eq(reply->element[1]->len, 0);
    cr_assert_null(next(replies));
    wr_redis_replies_destroy(replies);
}

Test(redis_replies, whole_though_they_come_byte_by_byte)
{
    static const char text[] = "*2\r\n:12\r\n$5\r\nhello\r\n";
    struct wr_redis_replies *const replies = new_replies();

    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof text - 1; i++) {
            cr_assert_null(next(replies));
            cr_assert(wr_redis_replies_feed(replies, text + i, 1));
        }

        const redisReply *const reply = next(replies);

        cr_assert_not_null(reply);
        cr_assert_eq(reply->element[0]->integer, 12);
        cr_assert_str_eq(reply->element[1]->str, "hello");
    }
    wr_redis_replies_destroy(replies);
}

Test(redis_replies, what_is_none_or_too_large_is_refused)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\n\r\n",
        "*2000000000\r\n",
        "*99999999999999999999\r\n",
        "$-2\r\n",
        "*4000000\r\n*4000000\r\n*4000000\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct wr_redis_replies *const replies = new_replies();
        const redisReply *reply = NULL;
        const bool is_fine = feed(replies, texts[i]) && wr_redis_replies_next(replies, &reply);

        cr_assert_not(is_fine, "row %zu", i);
        wr_redis_replies_destroy(replies);
    }
}

Test(redis_replies, an_endless_string_is_not_stored)
{
    static char block[1 << 20];
    struct wr_redis_replies *const replies = new_replies();
    size_t n_fed = 0;

    memset(block, 'x', sizeof block);
    cr_assert(feed(replies, "$2000000000\r\n"));
    while (n_fed < 1000 && wr_redis_replies_feed(replies, block, sizeof block)) {
        cr_assert_null(next(replies));
        n_fed++;
    }
    cr_assert_lt(n_fed, 65);
    wr_redis_replies_destroy(replies);
}

Test(redis_replies, a_reset_forgets_half_a_reply_and_a_broken_stream)
{
    struct wr_redis_replies *const replies = new_replies();
    const redisReply *reply = NULL;

    cr_assert(feed(replies, "*2\r\n:1\r\n"));
    cr_assert_null(next(replies));
    cr_assert(wr_redis_replies_reset(replies));
    cr_assert(feed(replies, ":5\r\n"));
    cr_assert_eq(next(replies)->integer, 5);
    cr_assert(feed(replies, "?"));
    cr_assert_not(wr_redis_replies_next(replies, &reply));
    cr_assert(wr_redis_replies_reset(replies));
    cr_assert(feed(replies, "+PONG\r\n"));
    cr_assert_str_eq(next(replies)->str, "PONG");
    wr_redis_replies_destroy(replies);
}
