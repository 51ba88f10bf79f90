/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one script that judges and charges in Redis (the parts in take/): the bytes of a call, and
 * what its reply says.
 *
 * Invariant: every take given to `read` is answered. A call is a part of a batch: takes of one
 * group, or of a batch in STOP mode, must be in one call to stand or fall together.
 * Threads: pure functions.
 */
#ifndef WR_STORE_REDIS_SCRIPT_H
#define WR_STORE_REDIS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "store/backend.h"

struct redisReply;

struct wr_redis_script_call {
    const struct wr_str *keys;    /* in Redis, one a take; borrowed, as all below */
    struct wr_take *const *takes; /* in the order of the batch; those of a group are neighbours */
    size_t n_takes;               /* > 0 */
    enum wr_charge_mode mode;
    bool has_dated_keys;  /* keys name their windows: those of the reference's form */
    int64_t wall_us;      /* the caller's clock, which windows of the calendar go by */
    int64_t not_after_us; /* Redis time after which only must_book takes count; 0: none */
    int64_t now_us;       /* the time to count at, for tests; 0: Redis's own */
};

/*
 * Writes the EVALSHA command of `call` into `arena`; false when memory is out.
 *
 * A server that does not know the script answers NOSCRIPT and has charged nothing: then the bytes
 * of wr_redis_script_load, and the same command once more, unchanged.
 */
WR_MUST_USE bool wr_redis_script_format(const struct wr_redis_script_call *call,
                                        struct wr_arena *arena, struct wr_str *out_command);

/* Where in the command of `call` its not-after is: eight bytes, a little-endian double, for whoever
 * knows the server's clock to write. */
size_t wr_redis_script_not_after_at(struct wr_str command, const struct wr_redis_script_call *call);

/* The SCRIPT LOAD command, ready to send; lives for ever. */
struct wr_str wr_redis_script_load(void);

/* In hexadecimal, 40 digits. */
struct wr_str wr_redis_script_sha1(void);

/* What a reply was. */
enum wr_redis_script_reply {
    WR_REDIS_SCRIPT_ANSWERED, /* takes hold answer and verdict */
    WR_REDIS_SCRIPT_ERROR,    /* an error reply: takes untouched, its text says what to do */
    WR_REDIS_SCRIPT_GARBAGE, /* no reply of the script: takes untouched; the link is not in order */
};

/* What happened besides the answers. */
struct wr_redis_script_notes {
    int64_t now_us;       /* Redis time when the script ran (the injected one, if any) */
    uint32_t n_late;      /* takes answered WR_TAKE_LATE */
    uint32_t n_foreign;   /* takes whose key holds something else: WR_TAKE_AWAY, not charged */
    uint32_t n_repaired;  /* counters found without a time to live, and given one */
    uint32_t n_restarted; /* counters of a window too far ahead, begun anew */
};

/* Reads the reply to the command of `takes` into them. `reply` may be NULL: garbage. */
enum wr_redis_script_reply wr_redis_script_read(const struct redisReply *reply,
                                                struct wr_take *const *takes, size_t n_takes,
                                                struct wr_redis_script_notes *out_notes);

/* How many takes `reply` says came too late, when those who asked have gone; 0 also for what is no
 * reply of the script. */
size_t wr_redis_script_count_late(const struct redisReply *reply);

#endif
