/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/script.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <string.h>

#include "store/redis/command.h"
#include "store/redis/take.h"

/* As take.lua packs and answers. */
#define HEAD_LEN 18
#define NOT_AFTER_AT 2
#define RECORD_LEN 34
#define KIND_FIXED_WINDOW 0u
#define KIND_UNKNOWN 255u
#define REMAINS_OVER (-1)
#define REMAINS_FOREIGN (-2)
#define REMAINS_LATE (-3)

/* The words around the keys: EVALSHA, its name, the number of keys; at the end what is packed. */
#define N_WORDS_BEFORE 3
#define N_WORDS (N_WORDS_BEFORE + 1)

static char *put_uint(char *out, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        out[i] = (char) (unsigned char) (value >> 8 * i);
    }
    return out + n_bytes;
}

/* As a double, exact up to WR_COUNT_MAX. */
static char *put_number(char *out, uint64_t value)
{
    const double number = (double) (value < WR_COUNT_MAX ? value : WR_COUNT_MAX);
    uint64_t bits;

    static_assert(sizeof bits == sizeof number, "a double has 64 bits");
    memcpy(&bits, &number, sizeof bits);
    return put_uint(out, bits, sizeof bits);
}

static unsigned number_of_count(enum wr_count count)
{
    switch (count) {
    case WR_COUNT_ADMITTED:
        return 1;
    case WR_COUNT_ALL_OR_NOTHING:
        return 2;
    case WR_COUNT_ALL:
    default:
        return 0;
    }
}

/* What the script knows: a fixed window, all else being zero; or nothing of the sort. */
static unsigned number_of_kind(const struct wr_limit *limit)
{
    return limit->algorithm == WR_ALGORITHM_FIXED_WINDOW && limit->alignment == WR_ALIGN_EPOCH &&
                   limit->warm_up_us == 0
               ? KIND_FIXED_WINDOW
               : KIND_UNKNOWN;
}

static char *put_take(char *out, const struct wr_take *take, bool is_dated)
{
    out = put_number(out, take->hits);
    out = put_number(out, take->limit.requests);
    out = put_number(out, (uint64_t) take->limit.length_us);
    out = put_uint(out, number_of_kind(&take->limit), 1);
    out = put_uint(out, number_of_count(take->limit.count), 1);
    out = put_uint(out, take->is_refund, 1);
    out = put_uint(out, take->is_enforced, 1);
    out = put_uint(out, take->must_book, 1);
    out = put_uint(out, is_dated, 1);
    return put_uint(out, take->group, 4);
}

/* The sort that the script has a short way for. */
static bool is_plain(const struct wr_redis_script_call *call)
{
    for (size_t i = 0; i < call->n_takes; i++) {
        const struct wr_take *const take = call->takes[i];

        if (take->is_refund || take->limit.count != WR_COUNT_ALL ||
            number_of_kind(&take->limit) != KIND_FIXED_WINDOW) {
            return false;
        }
    }
    return call->mode == WR_CHARGE_BY_COUNT && !call->has_dated_keys;
}

static size_t packed_len(size_t n_takes)
{
    return HEAD_LEN + n_takes * RECORD_LEN;
}

static void pack(const struct wr_redis_script_call *call, char *out)
{
    out = put_uint(out, call->mode == WR_CHARGE_STOP, 1);
    out = put_uint(out, is_plain(call), 1);
    out = put_number(out, (uint64_t) call->not_after_us);
    out = put_number(out, (uint64_t) call->now_us);
    for (size_t i = 0; i < call->n_takes; i++) {
        out = put_take(out, call->takes[i], call->has_dated_keys);
    }
}

/* `digits` has room for 20. */
static struct wr_str decimal(size_t number, char *digits)
{
    size_t at = 20;

    do {
        digits[--at] = (char) ('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (struct wr_str){.ptr = digits + at, .len = 20 - at};
}

bool wr_redis_script_format(const struct wr_redis_script_call *call, struct wr_arena *arena,
                            struct wr_str *out_command)
{
    const size_t n_words = call->n_takes + N_WORDS;
    struct wr_str *const words = wr_arena_calloc(arena, n_words, sizeof *words);
    char *const packed = wr_arena_alloc(arena, packed_len(call->n_takes));
    char digits[20];

    if (words == NULL || packed == NULL) {
        return false;
    }
    pack(call, packed);
    words[0] = (struct wr_str) WR_STR("EVALSHA");
    words[1] = wr_redis_script_sha1();
    words[2] = decimal(call->n_takes, digits);
    memcpy(words + N_WORDS_BEFORE, call->keys, call->n_takes * sizeof *words);
    words[n_words - 1] = (struct wr_str){.ptr = packed, .len = packed_len(call->n_takes)};

    const size_t size = wr_redis_command_size(words, n_words);
    char *const command = wr_arena_alloc(arena, size);

    if (command == NULL) {
        return false;
    }
    (void) wr_redis_command_write(words, n_words, command, NULL);
    *out_command = (struct wr_str){.ptr = command, .len = size};
    return true;
}

size_t wr_redis_script_not_after_at(struct wr_str command, size_t n_takes)
{
    const size_t end_len = 2; /* of the line after the last word */

    return command.len - end_len - packed_len(n_takes) + NOT_AFTER_AT;
}

struct wr_str wr_redis_script_load(void)
{
    return (struct wr_str){.ptr = wr_redis_take_load, .len = wr_redis_take_load_len};
}

struct wr_str wr_redis_script_sha1(void)
{
    return (struct wr_str){.ptr = wr_redis_take_sha1, .len = sizeof wr_redis_take_sha1 - 1};
}

/* ---- replies ---- */

/* What a take can be told: what remains, and the time to the end of the window. */
static bool is_possible(const struct wr_take *take, long long remains, long long reset_us)
{
    if (remains == REMAINS_FOREIGN || remains == REMAINS_LATE) {
        return reset_us == 0;
    }
    return (remains == REMAINS_OVER ||
            (remains >= 0 && (uint64_t) remains <= take->limit.requests)) &&
           reset_us > 0 && reset_us <= take->limit.length_us;
}

static bool are_numbers(const struct redisReply *reply)
{
    for (size_t i = 0; i < reply->elements; i++) {
        if (reply->element[i] == NULL || reply->element[i]->type != REDIS_REPLY_INTEGER) {
            return false;
        }
    }
    return true;
}

/* The time, two numbers a take, and perhaps two more. */
static bool is_of_script(const struct redisReply *reply, struct wr_take *const *takes,
                         size_t n_takes)
{
    const size_t n = 1 + 2 * n_takes;

    if (reply->type != REDIS_REPLY_ARRAY || (reply->elements != n && reply->elements != n + 2) ||
        !are_numbers(reply)) {
        return false;
    }
    for (size_t i = 0; i < n_takes; i++) {
        if (!is_possible(takes[i], reply->element[1 + 2 * i]->integer,
                         reply->element[2 + 2 * i]->integer)) {
            return false;
        }
    }
    for (size_t i = n; i < reply->elements; i++) {
        if (reply->element[i]->integer < 0 || reply->element[i]->integer > (long long) n_takes) {
            return false;
        }
    }
    return reply->element[0]->integer > 0;
}

static void answer(struct wr_take *take, long long remains, long long reset_us,
                   struct wr_redis_script_notes *notes)
{
    if (remains == REMAINS_LATE) {
        take->answer = WR_TAKE_LATE;
        notes->n_late++;
        return;
    }
    if (remains == REMAINS_FOREIGN) {
        take->answer = WR_TAKE_AWAY;
        notes->n_foreign++;
        return;
    }
    take->answer = WR_TAKE_DECIDED;
    take->verdict = (struct wr_verdict){
        .over = remains == REMAINS_OVER,
        .remaining = remains == REMAINS_OVER ? 0 : (uint64_t) remains,
        .reset_us = reset_us,
        .enforced = take->limit.requests,
    };
}

enum wr_redis_script_reply wr_redis_script_read(const struct redisReply *reply,
                                                struct wr_take *const *takes, size_t n_takes,
                                                struct wr_redis_script_notes *out_notes)
{
    const size_t n = 1 + 2 * n_takes;

    if (reply == NULL) {
        return WR_REDIS_SCRIPT_GARBAGE;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        return WR_REDIS_SCRIPT_ERROR;
    }
    if (!is_of_script(reply, takes, n_takes)) {
        return WR_REDIS_SCRIPT_GARBAGE;
    }
    *out_notes = (struct wr_redis_script_notes){.now_us = reply->element[0]->integer};
    for (size_t i = 0; i < n_takes; i++) {
        answer(takes[i], reply->element[1 + 2 * i]->integer, reply->element[2 + 2 * i]->integer,
               out_notes);
    }
    if (reply->elements > n) {
        out_notes->n_repaired = (uint32_t) reply->element[n]->integer;
        out_notes->n_restarted = (uint32_t) reply->element[n + 1]->integer;
    }
    return WR_REDIS_SCRIPT_ANSWERED;
}

size_t wr_redis_script_count_late(const struct redisReply *reply)
{
    size_t n = 0;

    if (reply->type != REDIS_REPLY_ARRAY) {
        return 0;
    }
    for (size_t i = 1; i < reply->elements; i += 2) {
        const struct redisReply *const remains = reply->element[i];

        n += remains->type == REDIS_REPLY_INTEGER && remains->integer == REMAINS_LATE;
    }
    return n;
}
