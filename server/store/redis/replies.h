/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies out of a stream of bytes: hiredis's reader, with bounds, and with objects in an arena
 * that is reset for each reply.
 *
 * Threads: owner thread only.
 */
#ifndef WR_STORE_REDIS_REPLIES_H
#define WR_STORE_REDIS_REPLIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct redisReply;
struct wr_redis_replies;

/* WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_replies_new(struct wr_redis_replies **out_replies);

/* NULL is fine. */
void wr_redis_replies_destroy(struct wr_redis_replies *replies);

/* Forgets what was fed: a new stream begins. False when memory is out. */
bool wr_redis_replies_reset(struct wr_redis_replies *replies);

/* False when memory is out, or more was fed than a reply may have. */
bool wr_redis_replies_feed(struct wr_redis_replies *replies, const char *bytes, size_t n);

/* The next whole reply, valid until the next call; NULL: more bytes are needed. False: the stream
 * is no RESP, or beyond the bounds, and of no more use. */
bool wr_redis_replies_next(struct wr_redis_replies *replies, const struct redisReply **out_reply);

#endif
