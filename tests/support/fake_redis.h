/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that speaks enough of Redis's protocol on a Unix socket, or on TCP, and misbehaves as
 * told: it holds answers back, hangs up, answers what the test wrote down.
 *
 * Threads: a thread of its own; start, stop and the setters by the test's thread.
 */
#ifndef WR_TESTS_SUPPORT_FAKE_REDIS_H
#define WR_TESTS_SUPPORT_FAKE_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define WR_FAKE_HANGS_UP "hang up"
#define WR_FAKE_SAYS_NOTHING ""

struct wr_fake_redis;

/* What to answer to a command, as RESP, static, or one of the above; NULL: as Redis would (PING,
 * TIME, ROLE, ECHO; OK to all else). On the fake's thread. */
typedef const char *(*wr_fake_answer_fn)(void *context, const struct wr_str *words, size_t n);

/* Listens at the start and serves; `answer` may be NULL. */
struct wr_fake_redis *wr_fake_redis_start(wr_fake_answer_fn answer, void *context);

/* The same on a port of 127.0.0.1; 0: on any. */
struct wr_fake_redis *wr_fake_redis_start_tcp(wr_fake_answer_fn answer, void *context,
                                              uint16_t port);

/* Hangs up and leaves. */
void wr_fake_redis_stop(struct wr_fake_redis *fake);

/* Where it listens. */
struct wr_str wr_fake_redis_path(const struct wr_fake_redis *fake);

uint16_t wr_fake_redis_port(const struct wr_fake_redis *fake);

/* While frozen it neither reads nor answers; connections are taken by the kernel alone. Returns
 * when that is so. */
void wr_fake_redis_freeze(struct wr_fake_redis *fake, bool is_frozen);

/* Says this to all connections that have sent SUBSCRIBE. Not while it is frozen. */
void wr_fake_redis_publish(struct wr_fake_redis *fake, const char *message);

/* How many connections it has accepted. */
size_t wr_fake_redis_connections(const struct wr_fake_redis *fake);

#endif
