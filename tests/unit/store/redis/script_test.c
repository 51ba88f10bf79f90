/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/script.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <string.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/store/redis/script_charges.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY WR_SCRIPT_BED_DAY

TestSuite(redis_script, .init = script_charges_begin, .fini = script_charges_end);

Test(redis_script, what_wakes_too_late_counts_nothing_but_what_must_be_booked)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1), charge_of("a", 1)};

    takes[1].must_book = true;
    cr_assert_eq(charge(takes, 3, DAY + 1, DAY), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(script_bed.notes.n_late, 2u);
    cr_assert_eq(script_bed.notes.now_us, DAY + 1);
    cr_assert_eq(takes[0].answer, WR_TAKE_LATE);
    expect_left(takes[1], 2);
    cr_assert_eq(takes[2].answer, WR_TAKE_LATE);
    expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS a"));
    cr_assert_eq(charge(takes, 3, DAY, DAY), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(script_bed.notes.n_late, 0u);
    expect_left(takes[2], 1);
}

Test(redis_script, what_is_too_late_altogether_counts_nothing)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    for (size_t n = 1; n <= 2; n++) {
        cr_assert_eq(charge(takes, n, DAY + 1, DAY), WR_REDIS_SCRIPT_ANSWERED);
        cr_assert_eq(script_bed.notes.n_late, n);
        cr_assert_eq(takes[n - 1].answer, WR_TAKE_LATE);
        expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS a b"));
    }
}

Test(redis_script, a_full_server_charges_nothing)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    for (int round = 0; round < 2; round++) {
        cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_answer("OK", wr_script_bed_ask(&script_bed, "CONFIG SET maxmemory 1"));
        takes[1].key = wr_str_of("c");
        cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ERROR);
        cr_assert_eq(strncmp(script_bed.text, "OOM ", 4), 0, "%s", script_bed.text);
        expect_answer("OK", wr_script_bed_ask(&script_bed, "CONFIG SET maxmemory 0"));
        expect_answer("1", wr_script_bed_ask(&script_bed, "GET a"));
        expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS c"));
        expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
        takes[1].key = wr_str_of("b");
        takes[0].limit.count = WR_COUNT_ADMITTED;
    }
}

/* It is the user's, and no key's. */
Test(redis_script, a_user_who_may_not_read_charges_nothing)
{
    struct wr_take take = charge_of("a", 0);

    expect_answer("OK", wr_script_bed_ask(&script_bed, "SET a 1"));
    expect_answer("OK", wr_script_bed_ask(&script_bed, "ACL SETUSER default -get"));
    cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ERROR);
    expect_answer("OK", wr_script_bed_ask(&script_bed, "ACL SETUSER default +get"));
    cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(take, 2);
}

Test(redis_script, is_named_by_its_sha1_and_can_be_loaded_again)
{
    struct wr_take take = charge_of("a", 1);
    const struct wr_str sha1 = wr_redis_script_sha1();

    cr_assert_eq(sha1.len, 40u);
    cr_assert_eq(strncmp(script_bed.text, sha1.ptr, sha1.len), 0, "the server calls it %s",
                 script_bed.text);
    expect_answer("OK", wr_script_bed_ask(&script_bed, "SCRIPT FLUSH"));
    cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ERROR);
    cr_assert_eq(strncmp(script_bed.text, "NOSCRIPT ", 9), 0, "%s", script_bed.text);
    wr_script_bed_load(&script_bed);
    cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(take, 2);
}

/* ---- bytes ---- */

static struct wr_str format(const struct wr_redis_script_call *call, struct wr_arena *arena)
{
    struct wr_str command = {0};

    return wr_redis_script_format(call, arena, &command) ? command : (struct wr_str){0};
}

static struct wr_redis_script_call call_of(struct wr_take **take, int64_t not_after_us)
{
    return (struct wr_redis_script_call){
        .keys = &(*take)->key,
        .takes = take,
        .n_takes = 1,
        .not_after_us = not_after_us,
    };
}

/* A server is needed for none of these. */
Test(redis_script_bytes, say_where_the_not_after_is)
{
    struct wr_take plain = charge_of("key", 1), bucket = plain;
    struct wr_take *takes[] = {&plain, &bucket};
    const double want = 1796052591037646.0;

    bucket.limit.algorithm = WR_ALGORITHM_TOKEN_BUCKET;
    bucket.limit.burst = 1;
    for (size_t i = 0; i < 2; i++) {
        const struct wr_redis_script_call call = call_of(&takes[i], 1796052591037646);
        struct wr_arena arena;
        double got;

        wr_arena_init(&arena, 1024);

        const struct wr_str command = format(&call, &arena);
        const size_t at = wr_redis_script_not_after_at(command, &call);

        cr_assert(at > 0 && at + sizeof got <= command.len);
        memcpy(&got, command.ptr + at, sizeof got);
        cr_assert_eq(memcmp(&got, &want, sizeof got), 0, "take %zu", i);
        wr_arena_fini(&arena);
    }
}

Test(redis_script_bytes, fail_cleanly_whichever_allocation_fails)
{
    struct wr_take take = charge_of("key", 1);
    struct wr_take *takes[] = {&take};
    const struct wr_redis_script_call call = call_of(takes, 0);
    size_t n = 0;

    for (;; n++) {
        struct wr_arena arena;

        wr_arena_init(&arena, 16);
        failing_malloc_start(n);

        const struct wr_str command = format(&call, &arena);

        failing_malloc_stop();
        wr_arena_fini(&arena);
        if (command.ptr != NULL) {
            break;
        }
    }
    cr_assert_eq(n, 3u, "the words, what is packed, the command");
}

static redisReply *integer(redisReply *reply, long long value)
{
    *reply = (redisReply){.type = REDIS_REPLY_INTEGER, .integer = value};
    return reply;
}

/* Replies to one take of at most 3 a minute. */
Test(redis_script_bytes, replies_that_the_script_cannot_have_given_are_garbage)
{
    static const struct {
        size_t n;
        long long values[6];
        enum wr_redis_script_reply want;
    } rows[] = {
        {3, {DAY, 3, S(60)}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -1, 1}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -2, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -3, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {5, {DAY, 3, 1, 1, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {0, {0}, WR_REDIS_SCRIPT_GARBAGE},
        {1, {DAY}, WR_REDIS_SCRIPT_GARBAGE},
        {2, {DAY, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {4, {DAY, 1, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {6, {DAY, 1, 1, 1, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {0, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 4, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -4, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 1, 0}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -1, 0}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -2, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 1, S(60) + 1}, WR_REDIS_SCRIPT_GARBAGE},
        {5, {DAY, 3, 1, -1, 0}, WR_REDIS_SCRIPT_GARBAGE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_take take = charge_of("key", 1);
        struct wr_take *takes[] = {&take};
        struct wr_redis_script_notes notes;
        redisReply values[6];
        redisReply *elements[6];
        redisReply reply = {.type = REDIS_REPLY_ARRAY, .elements = rows[i].n, .element = elements};

        for (size_t k = 0; k < rows[i].n; k++) {
            elements[k] = integer(&values[k], rows[i].values[k]);
        }
        cr_assert_eq(wr_redis_script_read(&reply, takes, 1, &notes), rows[i].want, "row %zu", i);
        if (rows[i].n > 0) {
            values[rows[i].n - 1].type = REDIS_REPLY_NIL;
            cr_assert_eq(wr_redis_script_read(&reply, takes, 1, &notes), WR_REDIS_SCRIPT_GARBAGE);
        }
    }
    cr_assert_eq(wr_redis_script_read(NULL, NULL, 0, NULL), WR_REDIS_SCRIPT_GARBAGE);
}

Test(redis_script_bytes, what_came_too_late_is_counted_when_nobody_waits)
{
    static const struct {
        size_t n;
        long long values[7];
        size_t want;
    } rows[] = {
        {0, {0}, 0},
        {1, {-3}, 0},
        {3, {DAY, -3, 0}, 1},
        {7, {DAY, -3, 0, 2, 1, -3, 0}, 2},
        {5, {DAY, 3, 1, 1, 0}, 0},
        {4, {DAY, -3, 0, 0}, 1},
        {7, {DAY, 1, 0, 5, -3, 0, 5}, 1}, /* both warm up */
        {6, {DAY, 1, 0, 5, -3, 0}, 1},    /* so does the first */
    };
    redisReply text = {.type = REDIS_REPLY_STRING};
    redisReply error = {.type = REDIS_REPLY_ERROR};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        redisReply values[7];
        redisReply *elements[7];
        redisReply reply = {.type = REDIS_REPLY_ARRAY, .elements = rows[i].n, .element = elements};

        for (size_t k = 0; k < rows[i].n; k++) {
            elements[k] = integer(&values[k], rows[i].values[k]);
        }
        cr_assert_eq(wr_redis_script_count_late(&reply), rows[i].want, "row %zu", i);
    }
    cr_assert_eq(wr_redis_script_count_late(&text) + wr_redis_script_count_late(&error), 0u);
}
