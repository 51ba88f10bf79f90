/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sentinel says about the primary, read from its replies, and whom to believe when several
 * say different things.
 *
 * Threads: pure functions and plain values.
 */
#ifndef WR_STORE_REDIS_WITNESS_H
#define WR_STORE_REDIS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct redisReply;

#define WR_REDIS_WITNESS_HOST 256

struct wr_redis_witness {
    char host[WR_REDIS_WITNESS_HOST]; /* NUL-terminated */
    uint16_t port;                    /* 0: it says nothing */
    int64_t epoch; /* of the configuration it knows, one more with each fail-over; -1: unknown */
    int64_t refuted_until_us; /* a node there said that it is a replica: until then others are
                                 believed first */
};

/* SENTINEL GET-MASTER-ADDR-BY-NAME: sets host and port. False when the reply holds none. */
bool wr_redis_witness_read_address(const struct redisReply *reply,
                                   struct wr_redis_witness *out_witness);

/* SENTINEL MASTER; -1 when the reply holds none. */
int64_t wr_redis_witness_read_epoch(const struct redisReply *reply);

/* SENTINEL MASTERS: the names, parted by commas, as many as `size` bytes can hold. */
void wr_redis_witness_read_names(const struct redisReply *reply, char *out, size_t size);

/* A published message that is about the primary `name`. */
bool wr_redis_witness_is_news(const struct redisReply *reply, struct wr_str name);

bool wr_redis_witness_is_same(const struct wr_redis_witness *a, const struct wr_redis_witness *b);

/* How many of `all` say the same as `witness`. */
size_t wr_redis_witness_votes(const struct wr_redis_witness *all, size_t n,
                              const struct wr_redis_witness *witness);

/* One that is not refuted, of the newest epoch, that most agree with, the first of those. NULL:
 * nobody says anything. */
const struct wr_redis_witness *wr_redis_witness_choose(const struct wr_redis_witness *all, size_t n,
                                                       int64_t mono_us);

#endif
