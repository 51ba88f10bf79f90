/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes to and fro over one connection: commands out in one stream of bytes, replies back in
 * the same order.
 *
 * Invariant: each command has a line in the order until its reply came or the connection ended;
 * who left meanwhile leaves a hole, so that later replies still find theirs.
 * Threads: owner thread only (the I/O thread).
 */
#ifndef WR_STORE_REDIS_DIALOGUE_H
#define WR_STORE_REDIS_DIALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "store/redis/socket.h"

struct redisReply;
struct wr_redis_replies;
struct wr_redis_request;

/* A command that awaits its reply. */
struct wr_redis_line {
    struct wr_redis_request *request; /* NULL: the link's own command, or a hole */
    unsigned step;                    /* the link's: what kind of command */
    uint64_t begins_at;               /* byte of the stream */
};

struct wr_redis_dialogue {
    char *out; /* owned; bytes to be written: from n_written on */
    size_t n_out, n_written, out_size;
    uint64_t stream_at;          /* byte of the stream at out[0] */
    struct wr_redis_line *lines; /* owned; a ring, a power of two long */
    size_t ring_size;
    uint64_t first, end;              /* places; those between are in use */
    uint64_t n_live;                  /* lines with a request */
    struct wr_redis_replies *replies; /* owned */
};

WR_MUST_USE enum wr_err wr_redis_dialogue_init(struct wr_redis_dialogue *dialogue);

void wr_redis_dialogue_fini(struct wr_redis_dialogue *dialogue);

/* A new connection: no line may be left. False when memory is out. */
bool wr_redis_dialogue_reset(struct wr_redis_dialogue *dialogue);

/* Adds a command. False when memory is out, or too much is waiting to be written or answered. The
 * place of the line goes to `*out_place`, unless NULL. */
bool wr_redis_dialogue_say(struct wr_redis_dialogue *dialogue, struct wr_str bytes, unsigned step,
                           struct wr_redis_request *request, uint64_t *out_place);

/* Where the last `n` bytes that were said wait to be written. */
static inline char *wr_redis_dialogue_said(struct wr_redis_dialogue *dialogue, size_t n)
{
    return dialogue->out + dialogue->n_out - n;
}

/* Takes the first line out. False when there is none. */
bool wr_redis_dialogue_take(struct wr_redis_dialogue *dialogue, struct wr_redis_line *out_line);

/* True when no byte of the line was written. */
bool wr_redis_dialogue_is_unsent(const struct wr_redis_dialogue *dialogue,
                                 const struct wr_redis_line *line);

/* The line at `place` is nobody's any more; what was said is still written. */
void wr_redis_dialogue_forget(struct wr_redis_dialogue *dialogue, uint64_t place);

static inline bool wr_redis_dialogue_has_output(const struct wr_redis_dialogue *dialogue)
{
    return dialogue->n_written < dialogue->n_out;
}

/* Writes what it can: DONE when all is written. */
enum wr_redis_io wr_redis_dialogue_write(struct wr_redis_dialogue *dialogue,
                                         struct wr_redis_socket *socket);

/* Reads once. DONE: there may be more. */
enum wr_redis_io wr_redis_dialogue_read(struct wr_redis_dialogue *dialogue,
                                        struct wr_redis_socket *socket);

/* The next reply among what was read; see wr_redis_replies_next. */
bool wr_redis_dialogue_next(struct wr_redis_dialogue *dialogue,
                            const struct redisReply **out_reply);

#endif
