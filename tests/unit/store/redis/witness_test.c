/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/witness.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

/* The reply that `text` is; the caller frees it. */
static redisReply *reply_of(const char *text)
{
    redisReader *const reader = redisReaderCreate();
    void *reply = NULL;

    cr_assert_not_null(reader);
    cr_assert_eq(redisReaderFeed(reader, text, strlen(text)), REDIS_OK);
    cr_assert_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    cr_assert_not_null(reply, "%s", text);
    redisReaderFree(reader);
    return reply;
}

Test(redis_witness, addresses)
{
    static const struct {
        const char *reply, *host;
        uint16_t port; /* 0: it is none */
    } rows[] = {
        {"*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n", "127.0.0.1", 6379},
        {"*2\r\n$3\r\n::1\r\n$5\r\n65535\r\n", "::1", 65535},
        {"*2\r\n$10\r\nr1.example\r\n$1\r\n1\r\n", "r1.example", 1},
        {"*2\r\n$1\r\na\r\n$1\r\n0\r\n", "", 0},
        {"*2\r\n$1\r\na\r\n$5\r\n65536\r\n", "", 0},
        {"*2\r\n$1\r\na\r\n$2\r\n-1\r\n", "", 0},
        {"*2\r\n$1\r\na\r\n$3\r\n6x9\r\n", "", 0},
        {"*2\r\n$1\r\na\r\n$0\r\n\r\n", "", 0},
        {"*2\r\n$1\r\na\r\n:6379\r\n", "", 0},
        {"*2\r\n$0\r\n\r\n$4\r\n6379\r\n", "", 0},
        {"*2\r\n$-1\r\n$4\r\n6379\r\n", "", 0},
        {"*1\r\n$1\r\na\r\n", "", 0},
        {"*-1\r\n", "", 0},
        {"*0\r\n", "", 0},
        {"+OK\r\n", "", 0},
        {"-ERR no\r\n", "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        redisReply *const reply = reply_of(rows[i].reply);
        struct wr_redis_witness witness = {.epoch = 7};

        cr_assert_eq(wr_redis_witness_read_address(reply, &witness), rows[i].port != 0, "row %zu",
                     i);
        cr_assert_eq(witness.port, rows[i].port, "row %zu", i);
        cr_assert_str_eq(witness.host, rows[i].host, "row %zu", i);
        cr_assert_eq(witness.epoch, 7);
        freeReplyObject(reply);
    }
}

Test(redis_witness, a_host_that_is_too_long_is_none)
{
    char text[WR_REDIS_WITNESS_HOST + 64], host[WR_REDIS_WITNESS_HOST + 1];
    struct wr_redis_witness witness = {0};

    for (size_t len = sizeof witness.host - 1; len <= sizeof witness.host; len++) {
        memset(host, 'h', len);
        host[len] = '\0';
        (void) snprintf(text, sizeof text, "*2\r\n$%zu\r\n%s\r\n$1\r\n1\r\n", len, host);

        redisReply *const reply = reply_of(text);

        cr_assert_eq(wr_redis_witness_read_address(reply, &witness), len < sizeof witness.host);
        freeReplyObject(reply);
    }
}

Test(redis_witness, epochs)
{
    static const struct {
        const char *reply;
        int64_t epoch;
    } rows[] = {
        {"*4\r\n$4\r\nname\r\n$1\r\nm\r\n$12\r\nconfig-epoch\r\n$2\r\n17\r\n", 17},
        {"*4\r\n$12\r\nconfig-epoch\r\n$1\r\n0\r\n$4\r\nname\r\n$1\r\nm\r\n", 0},
        {"*4\r\n$4\r\nname\r\n$12\r\nconfig-epoch\r\n$1\r\na\r\n$1\r\n9\r\n", -1},
        {"*2\r\n$12\r\nconfig-epoch\r\n$20\r\n99999999999999999999\r\n", -1},
        {"*2\r\n$12\r\nconfig-epoch\r\n$2\r\n-3\r\n", -1},
        {"*1\r\n$12\r\nconfig-epoch\r\n", -1},
        {"*0\r\n", -1},
        {"-ERR No such master with that name\r\n", -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        redisReply *const reply = reply_of(rows[i].reply);

        cr_assert_eq(wr_redis_witness_read_epoch(reply), rows[i].epoch, "row %zu", i);
        freeReplyObject(reply);
    }
}

Test(redis_witness, names)
{
    static const struct {
        const char *reply;
        size_t size;
        const char *names;
    } rows[] = {
        {"*2\r\n*2\r\n$4\r\nname\r\n$3\r\none\r\n*2\r\n$4\r\nname\r\n$3\r\ntwo\r\n", 64,
         "one, two"},
        {"*2\r\n*2\r\n$4\r\nname\r\n$3\r\none\r\n*2\r\n$4\r\nname\r\n$3\r\ntwo\r\n", 8, "one"},
        {"*2\r\n*2\r\n$4\r\nname\r\n$3\r\none\r\n*2\r\n$4\r\nname\r\n$3\r\ntwo\r\n", 9, "one, two"},
        {"*2\r\n*0\r\n*2\r\n$4\r\nname\r\n$1\r\nm\r\n", 64, "m"},
        {"*0\r\n", 64, ""},
        {"-ERR no\r\n", 64, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        redisReply *const reply = reply_of(rows[i].reply);
        char names[64];

        wr_redis_witness_read_names(reply, names, rows[i].size);
        cr_assert_str_eq(names, rows[i].names, "row %zu", i);
        freeReplyObject(reply);
    }
}

Test(redis_witness, news_is_about_one_primary)
{
    static const struct {
        const char *message;
        bool is_news;
    } rows[] = {
        {"m 127.0.0.1 1 127.0.0.1 2", true},
        {"slave 127.0.0.1:2 127.0.0.1 2 @ m 127.0.0.1 1", true},
        {"m", true},
        {"mm 127.0.0.1 1 127.0.0.1 2", false},
        {"slave 127.0.0.1:2 127.0.0.1 2 @ n 127.0.0.1 1", false},
        {"", false},
        {"  ", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];

        (void) snprintf(text, sizeof text, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%zu\r\n%s\r\n",
                        strlen(rows[i].message), rows[i].message);

        redisReply *const reply = reply_of(text);

        cr_assert_eq(wr_redis_witness_is_news(reply, wr_str_of("m")), rows[i].is_news, "row %zu",
                     i);
        freeReplyObject(reply);
    }
}

Test(redis_witness, what_is_no_message_is_no_news)
{
    static const char *const texts[] = {
        "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n$1\r\nm\r\n",
        "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
        "*2\r\n$7\r\nmessage\r\n$1\r\nm\r\n",
        "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n:1\r\n",
        "+m\r\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        redisReply *const reply = reply_of(texts[i]);

        cr_assert_not(wr_redis_witness_is_news(reply, wr_str_of("m")), "row %zu", i);
        freeReplyObject(reply);
    }
}

/* At the moment 100. */
Test(redis_witness, whom_to_believe)
{
    static const struct {
        struct wr_redis_witness all[3];
        uint16_t port; /* 0: nobody */
    } rows[] = {
        {{{"", 0, -1, 0}, {"", 0, -1, 0}, {"", 0, -1, 0}}, 0},
        {{{"", 0, 9, 0}, {"h", 2, 1, 0}, {"", 0, -1, 0}}, 2},
        {{{"h", 1, 5, 0}, {"h", 2, 6, 0}, {"h", 1, 5, 0}}, 2}, /* the newest, not the most */
        {{{"h", 1, 5, 0}, {"h", 2, 5, 0}, {"h", 2, 5, 0}}, 2}, /* the most of one epoch */
        {{{"h", 1, 5, 0}, {"h", 2, 5, 0}, {"g", 2, 5, 0}}, 1}, /* another host is another place */
        {{{"h", 1, -1, 0}, {"h", 2, 0, 0}, {"h", 1, -1, 0}}, 2},
        {{{"h", 1, 9, 101}, {"h", 2, 1, 0}, {"h", 3, 2, 101}}, 2}, /* not a replica */
        {{{"h", 1, 9, 100}, {"h", 2, 1, 0}, {"h", 3, 2, 0}}, 1},   /* it may be none any more */
        {{{"h", 1, 8, 101}, {"h", 2, 9, 101}, {"h", 3, 2, 101}}, 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_redis_witness *const one = wr_redis_witness_choose(rows[i].all, 3, 100);

        cr_assert_eq(one != NULL ? one->port : 0, rows[i].port, "row %zu", i);
    }
}

Test(redis_witness, votes)
{
    static const struct wr_redis_witness all[] = {
        {"h", 1, 5, 0}, {"h", 1, 6, 0}, {"h", 2, 5, 0}, {"g", 1, 5, 0}};

    cr_assert_eq(wr_redis_witness_votes(all, 4, &all[0]), 2);
    cr_assert_eq(wr_redis_witness_votes(all, 4, &all[3]), 1);
    cr_assert_eq(wr_redis_witness_votes(all, 0, &all[3]), 0);
}
