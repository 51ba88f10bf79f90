/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script of the Redis store on a private server, without the store around it.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_SUPPORT_SCRIPT_BED_H
#define WR_TESTS_SUPPORT_SCRIPT_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "store/backend.h"
#include "store/redis/script.h"
#include "tests/support/redis_server.h"

struct redisContext;

struct wr_script_bed {
    struct wr_redis_server server;
    struct redisContext *redis;         /* owned */
    struct wr_arena arena;              /* of one command */
    struct wr_redis_script_notes notes; /* of the last reply */
    bool has_dated_keys;                /* of the calls */
    int64_t ahead_us;                   /* the callers' clock of the time they count at */
    char text[256];                     /* of the last error, or answer to ask */
};

/* The first moment of 2100, a boundary of minutes to days, when no counter has expired by the
 * server's own clock. */
#define WR_SCRIPT_BED_DAY INT64_C(4102444800000000)

/* A server that knows the script; false when there is none. */
bool wr_script_bed_init(struct wr_script_bed *bed);

void wr_script_bed_fini(struct wr_script_bed *bed);

/* Loads the script once more; `text` is what the server calls it. */
void wr_script_bed_load(struct wr_script_bed *bed);

/* Sends the call of `takes`, whose keys are those of Redis; n <= 16. */
void wr_script_bed_send(struct wr_script_bed *bed, struct wr_take *takes, size_t n,
                        enum wr_charge_mode mode, int64_t now_us, int64_t not_after_us);

/* Reads the reply to the oldest call whose reply was not read, into its `takes`. */
enum wr_redis_script_reply wr_script_bed_receive(struct wr_script_bed *bed, struct wr_take *takes,
                                                 size_t n);

/* What the server answers to a command, text or number, as text; "" for none. `format` is as for
 * hiredis. Valid until the next ask or receive. */
const char *wr_script_bed_ask(struct wr_script_bed *bed, const char *format, ...);

#endif
