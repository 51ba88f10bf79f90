/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/script.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <string.h>

#include "limit/calendar.h"
#include "store/redis/command.h"
#include "store/redis/take.h"

/* As the script unpacks and answers. */
#define HEAD_LEN 18
#define NOT_AFTER_AT 2
#define RECORD_LEN 34
#define REMAINS_OVER (-1)
#define REMAINS_FOREIGN (-2)
#define REMAINS_LATE (-3)

/* The words around the keys: EVALSHA, its name, the number of keys; at the end what is packed. */
#define N_WORDS_BEFORE 3
#define N_WORDS (N_WORDS_BEFORE + 1)

/* Kinds of limits. */
#define KIND_FIXED_WINDOW 0u
#define KIND_SLIDING_WINDOW 1u
#define KIND_SLIDING_BUCKETS 2u
#define KIND_SLIDING_LOG 3u
#define KIND_TOKEN_BUCKET 4u
#define KIND_FIRST_HIT_WINDOW 5u
#define KIND_CALENDAR_WINDOW 6u
#define KIND_PACKED_WINDOW 7u
#define WARMS_UP 128u

/* Of windows of the calendar that the script is told of. */
#define N_ENDS 5

#define PARAMETER_LEN 8

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

static unsigned number_of_window(enum wr_alignment alignment)
{
    switch (alignment) {
    case WR_ALIGN_FIRST_HIT:
        return KIND_FIRST_HIT_WINDOW;
    case WR_ALIGN_CALENDAR:
        return KIND_CALENDAR_WINDOW;
    case WR_ALIGN_EPOCH:
    default:
        return KIND_FIXED_WINDOW;
    }
}

static unsigned number_of_algorithm(const struct wr_limit *limit)
{
    switch (limit->algorithm) {
    case WR_ALGORITHM_SLIDING_WINDOW:
        return KIND_SLIDING_WINDOW;
    case WR_ALGORITHM_SLIDING_BUCKETS:
        return KIND_SLIDING_BUCKETS;
    case WR_ALGORITHM_SLIDING_LOG:
        return KIND_SLIDING_LOG;
    case WR_ALGORITHM_TOKEN_BUCKET:
        return KIND_TOKEN_BUCKET;
    case WR_ALGORITHM_FIXED_WINDOW:
    default:
        return number_of_window(limit->alignment);
    }
}

static unsigned number_of_kind(const struct wr_limit *limit)
{
    const unsigned number = number_of_algorithm(limit);

    if (limit->warm_up_us == 0) {
        return number;
    }
    return WARMS_UP | (number == KIND_FIXED_WINDOW ? KIND_PACKED_WINDOW : number);
}

/* Numbers that a kind wants to know besides. */
static size_t n_parameters(const struct wr_limit *limit)
{
    const size_t n = limit->warm_up_us == 0 ? 0 : 2;

    switch (number_of_algorithm(limit)) {
    case KIND_SLIDING_BUCKETS:
    case KIND_TOKEN_BUCKET:
        return n + 1;
    case KIND_CALENDAR_WINDOW:
        return n + N_ENDS;
    default:
        return n;
    }
}

/* The ends of windows around `wall_us`; from before 1970 there are none. */
static char *put_ends(char *out, const struct wr_calendar *calendar, int64_t wall_us)
{
    struct wr_calendar_window window = wr_calendar_window_of(calendar, wall_us);
    const int64_t start_us = window.start_us > 0 ? window.start_us : 0;
    const struct wr_calendar_window before =
        wr_calendar_window_of(calendar, start_us > 0 ? start_us - 1 : 0);

    out = put_number(out, before.start_us > 0 ? (uint64_t) before.start_us : 0);
    out = put_number(out, (uint64_t) start_us);
    for (int i = 2; i < N_ENDS; i++) {
        out = put_number(out, (uint64_t) window.end_us);
        window = wr_calendar_window_of(calendar, window.end_us);
    }
    return out;
}

static char *put_parameters(char *out, const struct wr_limit *limit, int64_t wall_us)
{
    switch (number_of_algorithm(limit)) {
    case KIND_SLIDING_BUCKETS:
        out = put_number(out, limit->n_buckets);
        break;
    case KIND_TOKEN_BUCKET:
        out = put_number(out, limit->burst);
        break;
    case KIND_CALENDAR_WINDOW:
        out = put_ends(out, limit->calendar, wall_us);
        break;
    default:
        break;
    }
    if (limit->warm_up_us > 0) {
        out = put_number(out, (uint64_t) limit->warm_up_us);
        out = put_number(out, limit->warm_up_start);
    }
    return out;
}

static char *put_take(char *out, const struct wr_take *take,
                      const struct wr_redis_script_call *call)
{
    out = put_number(out, take->hits);
    out = put_number(out, take->limit.requests);
    out = put_number(out, (uint64_t) take->limit.length_us);
    out = put_uint(out, number_of_kind(&take->limit), 1);
    out = put_uint(out, number_of_count(take->limit.count), 1);
    out = put_uint(out, take->is_refund, 1);
    out = put_uint(out, take->is_enforced, 1);
    out = put_uint(out, take->must_book, 1);
    out = put_uint(out, call->has_dated_keys, 1);
    out = put_uint(out, take->group, 4);
    return put_parameters(out, &take->limit, call->wall_us);
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

static size_t packed_len(const struct wr_redis_script_call *call)
{
    size_t len = HEAD_LEN + call->n_takes * RECORD_LEN;

    for (size_t i = 0; i < call->n_takes; i++) {
        len += PARAMETER_LEN * n_parameters(&call->takes[i]->limit);
    }
    return len;
}

static void pack(const struct wr_redis_script_call *call, char *out)
{
    out = put_uint(out, call->mode == WR_CHARGE_STOP, 1);
    out = put_uint(out, is_plain(call), 1);
    out = put_number(out, (uint64_t) call->not_after_us);
    out = put_number(out, (uint64_t) call->now_us);
    for (size_t i = 0; i < call->n_takes; i++) {
        out = put_take(out, call->takes[i], call);
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
    const size_t n_packed = packed_len(call);
    char *const packed = wr_arena_alloc(arena, n_packed);
    char digits[20];

    if (words == NULL || packed == NULL) {
        return false;
    }
    pack(call, packed);
    words[0] = (struct wr_str) WR_STR("EVALSHA");
    words[1] = wr_redis_script_sha1();
    words[2] = decimal(call->n_takes, digits);
    memcpy(words + N_WORDS_BEFORE, call->keys, call->n_takes * sizeof *words);
    words[n_words - 1] = (struct wr_str){.ptr = packed, .len = n_packed};

    const size_t size = wr_redis_command_size(words, n_words);
    char *const command = wr_arena_alloc(arena, size);

    if (command == NULL) {
        return false;
    }
    (void) wr_redis_command_write(words, n_words, command, NULL);
    *out_command = (struct wr_str){.ptr = command, .len = size};
    return true;
}

size_t wr_redis_script_not_after_at(struct wr_str command, const struct wr_redis_script_call *call)
{
    const size_t end_len = 2; /* of the line after the last word */

    return command.len - end_len - packed_len(call) + NOT_AFTER_AT;
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

/* What one take is told. */
struct told {
    long long remains, reset_us, enforced;
};

static size_t n_told(const struct wr_take *take)
{
    return take->limit.warm_up_us == 0 ? 2 : 3;
}

static struct told told_at(const struct redisReply *reply, size_t at, const struct wr_take *take)
{
    return (struct told){
        .remains = reply->element[at]->integer,
        .reset_us = reply->element[at + 1]->integer,
        .enforced = take->limit.warm_up_us == 0 ? (long long) take->limit.requests
                                                : reply->element[at + 2]->integer,
    };
}

static uint64_t most_of(const struct wr_limit *limit)
{
    return limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET ? limit->burst : limit->requests;
}

/* Windows of a known length end within it. */
static bool is_possible_reset(const struct wr_limit *limit, long long reset_us)
{
    if (limit->algorithm == WR_ALGORITHM_FIXED_WINDOW && limit->alignment != WR_ALIGN_CALENDAR) {
        return reset_us > 0 && reset_us <= limit->length_us;
    }
    return reset_us >= 0 && (uint64_t) reset_us <= WR_COUNT_MAX;
}

static bool is_possible(const struct wr_take *take, const struct told *told)
{
    if (told->enforced < 0 || (uint64_t) told->enforced > take->limit.requests) {
        return false;
    }
    if (told->remains == REMAINS_FOREIGN || told->remains == REMAINS_LATE) {
        return told->reset_us == 0;
    }
    return (told->remains == REMAINS_OVER ||
            (told->remains >= 0 && (uint64_t) told->remains <= most_of(&take->limit))) &&
           is_possible_reset(&take->limit, told->reset_us);
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

/* The time, and what all takes are told. */
static size_t n_least(struct wr_take *const *takes, size_t n_takes)
{
    size_t n = 1;

    for (size_t i = 0; i < n_takes; i++) {
        n += n_told(takes[i]);
    }
    return n;
}

/* That, and perhaps two more. */
static bool is_of_script(const struct redisReply *reply, struct wr_take *const *takes,
                         size_t n_takes)
{
    const size_t n = n_least(takes, n_takes);
    size_t at = 1;

    if (reply->type != REDIS_REPLY_ARRAY || (reply->elements != n && reply->elements != n + 2) ||
        !are_numbers(reply)) {
        return false;
    }
    for (size_t i = 0; i < n_takes; i++) {
        const struct told told = told_at(reply, at, takes[i]);

        if (!is_possible(takes[i], &told)) {
            return false;
        }
        at += n_told(takes[i]);
    }
    for (; at < reply->elements; at++) {
        if (reply->element[at]->integer < 0 || reply->element[at]->integer > (long long) n_takes) {
            return false;
        }
    }
    return reply->element[0]->integer > 0;
}

static void answer(struct wr_take *take, const struct told *told,
                   struct wr_redis_script_notes *notes)
{
    if (told->remains == REMAINS_LATE) {
        take->answer = WR_TAKE_LATE;
        notes->n_late++;
        return;
    }
    if (told->remains == REMAINS_FOREIGN) {
        take->answer = WR_TAKE_AWAY;
        notes->n_foreign++;
        return;
    }
    take->answer = WR_TAKE_DECIDED;
    take->verdict = (struct wr_verdict){
        .over = told->remains == REMAINS_OVER,
        .remaining = told->remains == REMAINS_OVER ? 0 : (uint64_t) told->remains,
        .reset_us = told->reset_us,
        .enforced = (uint64_t) told->enforced,
    };
}

enum wr_redis_script_reply wr_redis_script_read(const struct redisReply *reply,
                                                struct wr_take *const *takes, size_t n_takes,
                                                struct wr_redis_script_notes *out_notes)
{
    size_t at = 1;

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
        const struct told told = told_at(reply, at, takes[i]);

        answer(takes[i], &told, out_notes);
        at += n_told(takes[i]);
    }
    if (reply->elements > at) {
        out_notes->n_repaired = (uint32_t) reply->element[at]->integer;
        out_notes->n_restarted = (uint32_t) reply->element[at + 1]->integer;
    }
    return WR_REDIS_SCRIPT_ANSWERED;
}

/* How many numbers a take was told is not known here; nothing but what remains is ever negative. */
size_t wr_redis_script_count_late(const struct redisReply *reply)
{
    size_t n = 0;

    if (reply->type != REDIS_REPLY_ARRAY) {
        return 0;
    }
    for (size_t i = 1; i < reply->elements; i++) {
        const struct redisReply *const number = reply->element[i];

        n += number->type == REDIS_REPLY_INTEGER && number->integer == REMAINS_LATE;
    }
    return n;
}
