/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a server sends: in one piece and in pieces it comes to the same replies, and nothing
 * that reads replies falls over them. The first byte of the input is the size of the pieces.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "base/assert.h"
#include "store/redis/fault.h"
#include "store/redis/replies.h"
#include "store/redis/script.h"

#define MAX_INPUT 4096
#define N_TAKES 2

/* What a stream came to. */
struct outcome {
    size_t n_replies;
    uint64_t digest;
    bool is_refused;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct outcome *outcome, uint64_t number)
{
    outcome->digest = (outcome->digest ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static void digest(struct outcome *outcome, const redisReply *reply)
{
    add(outcome, (uint64_t) reply->type);
    add(outcome, (uint64_t) reply->integer);
    for (size_t i = 0; i < reply->len; i++) {
        add(outcome, (unsigned char) reply->str[i]);
    }
    for (size_t i = 0; i < reply->elements; i++) {
        digest(outcome, reply->element[i]);
    }
}

static void use(const redisReply *reply)
{
    struct wr_take takes[N_TAKES] = {0};
    struct wr_take *both[N_TAKES];
    struct wr_redis_script_notes notes;
    struct wr_redis_fault fault;

    for (size_t i = 0; i < N_TAKES; i++) {
        takes[i].limit = (struct wr_limit){.requests = 10, .length_us = 1000000};
        both[i] = &takes[i];
    }

    const bool is_error = wr_redis_fault_in(reply, &fault);
    const enum wr_redis_script_reply got = wr_redis_script_read(reply, both, N_TAKES, &notes);

    WR_ASSERT(is_error == (got == WR_REDIS_SCRIPT_ERROR));
    for (size_t i = 0; i < N_TAKES && got == WR_REDIS_SCRIPT_ANSWERED; i++) {
        WR_ASSERT(takes[i].verdict.remaining <= takes[i].limit.requests);
        WR_ASSERT(takes[i].verdict.reset_us <= takes[i].limit.length_us);
    }
}

static struct outcome read_all(const char *bytes, size_t size, size_t piece)
{
    struct wr_redis_replies *replies = NULL;
    struct outcome outcome = {0};

    WR_ASSERT(wr_redis_replies_new(&replies) == WR_OK);
    for (size_t at = 0; at < size && !outcome.is_refused; at += piece) {
        const size_t n = size - at < piece ? size - at : piece;
        const redisReply *reply = NULL;

        outcome.is_refused = !wr_redis_replies_feed(replies, bytes + at, n);
        while (!outcome.is_refused) {
            outcome.is_refused = !wr_redis_replies_next(replies, &reply);
            if (outcome.is_refused || reply == NULL) {
                break;
            }
            outcome.n_replies++;
            digest(&outcome, reply);
            use(reply);
        }
    }
    wr_redis_replies_destroy(replies);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > MAX_INPUT) {
        return 0;
    }

    const char *const bytes = (const char *) data + 1;
    const struct outcome whole = read_all(bytes, size - 1, size - 1);
    const struct outcome pieces = read_all(bytes, size - 1, (size_t) data[0] + 1);

    WR_ASSERT(whole.n_replies == pieces.n_replies);
    WR_ASSERT(whole.digest == pieces.digest);
    WR_ASSERT(whole.is_refused == pieces.is_refused);
    return 0;
}
