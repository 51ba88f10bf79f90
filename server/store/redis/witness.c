/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/witness.h"

#include <string.h>

#include <hiredis/hiredis.h>

#include "base/number.h"

#define MAX_EPOCH (INT64_MAX / 10 - 1)

static struct wr_str text_of(const struct redisReply *reply)
{
    const bool is_text = reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;

    return is_text ? (struct wr_str){.ptr = reply->str, .len = reply->len} : (struct wr_str){0};
}

static bool is(struct wr_str text, const char *word)
{
    return wr_str_equal(text, wr_str_of(word));
}

/* Digits alone; -1: it is no number up to `max`. */
static int64_t number_of(struct wr_str text, int64_t max)
{
    uint64_t number = 0;

    return wr_number_parse(text, (uint64_t) max, &number) ? (int64_t) number : -1;
}

bool wr_redis_witness_read_address(const struct redisReply *reply,
                                   struct wr_redis_witness *out_witness)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
        return false;
    }

    const struct wr_str host = text_of(reply->element[0]);
    const int64_t port = number_of(text_of(reply->element[1]), UINT16_MAX);

    if (host.len == 0 || host.len >= sizeof out_witness->host ||
        wr_str_find(host, '\0') < host.len || port <= 0) {
        return false;
    }
    memcpy(out_witness->host, host.ptr, host.len);
    out_witness->host[host.len] = '\0';
    out_witness->port = (uint16_t) port;
    return true;
}

/* Of a reply that is names and values in turn. Empty: it has none. */
static struct wr_str value_of(const struct redisReply *reply, const char *name)
{
    if (reply->type != REDIS_REPLY_ARRAY) {
        return (struct wr_str){0};
    }
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        if (is(text_of(reply->element[i]), name)) {
            return text_of(reply->element[i + 1]);
        }
    }
    return (struct wr_str){0};
}

int64_t wr_redis_witness_read_epoch(const struct redisReply *reply)
{
    return number_of(value_of(reply, "config-epoch"), MAX_EPOCH);
}

void wr_redis_witness_read_names(const struct redisReply *reply, char *out, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        const struct wr_str name = value_of(reply->element[i], "name");
        const size_t comma = used > 0 ? 2 : 0;

        if (name.len == 0 || comma + name.len >= size - used) {
            continue;
        }
        memcpy(out + used, ", ", comma);
        memcpy(out + used + comma, name.ptr, name.len);
        used += comma + name.len;
    }
    out[used] = '\0';
}

/* +switch-master begins with the name, +promoted-slave has it behind an @. */
bool wr_redis_witness_is_news(const struct redisReply *reply, struct wr_str name)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
        !is(text_of(reply->element[0]), "message")) {
        return false;
    }

    struct wr_str rest = text_of(reply->element[2]);

    while (rest.len > 0) {
        const size_t len = wr_str_find(rest, ' ');

        if (wr_str_equal(wr_str_part(rest, 0, len), name)) {
            return true;
        }
        rest = wr_str_skip(rest, len < rest.len ? len + 1 : len);
    }
    return false;
}

bool wr_redis_witness_is_same(const struct wr_redis_witness *a, const struct wr_redis_witness *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

size_t wr_redis_witness_votes(const struct wr_redis_witness *all, size_t n,
                              const struct wr_redis_witness *witness)
{
    size_t n_votes = 0;

    for (size_t i = 0; i < n; i++) {
        n_votes += wr_redis_witness_is_same(&all[i], witness);
    }
    return n_votes;
}

const struct wr_redis_witness *wr_redis_witness_choose(const struct wr_redis_witness *all, size_t n,
                                                       int64_t mono_us)
{
    const struct wr_redis_witness *best = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct wr_redis_witness *const next = &all[i];

        if (next->port == 0) {
            continue;
        }
        if (best == NULL) {
            best = next;
            continue;
        }

        const bool is_refuted = next->refuted_until_us > mono_us;
        const bool is_best_refuted = best->refuted_until_us > mono_us;

        if (is_refuted != is_best_refuted) {
            best = is_best_refuted ? next : best;
        } else if (next->epoch != best->epoch) {
            best = next->epoch > best->epoch ? next : best;
        } else if (wr_redis_witness_votes(all, n, next) > wr_redis_witness_votes(all, n, best)) {
            best = next;
        }
    }
    return best;
}
