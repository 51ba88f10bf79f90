/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an error reply says about the server, and what a person can do about it.
 *
 * Threads: pure functions.
 */
#ifndef WR_STORE_REDIS_FAULT_H
#define WR_STORE_REDIS_FAULT_H

#include <stdbool.h>

#include "base/str.h"

struct redisReply;

enum wr_redis_reaction {
    WR_REDIS_FAIL,    /* this request fails; nothing is known against the server */
    WR_REDIS_TEACH,   /* the script is not known: load it, ask again */
    WR_REDIS_MOVED,   /* the slot is elsewhere, for good: learn that, ask there */
    WR_REDIS_ASK,     /* the slot's keys are on their way: ask there, this once */
    WR_REDIS_AGAIN,   /* the cluster is changing: learn what it looks like, ask again */
    WR_REDIS_HOLD,    /* the server is not ready: hold requests off until a probe says it is */
    WR_REDIS_RENEW,   /* another server should be asked: resolve and connect anew */
    WR_REDIS_LOGIN,   /* it does not know us (any more): connect anew, with what we have */
    WR_REDIS_REFUSED, /* it does not want to: requests fail until somebody mends that */
};

struct wr_redis_fault {
    enum wr_redis_reaction reaction;
    bool is_uncharged;  /* proof that the script did nothing: it may be asked once more */
    const char *code;   /* static: the error's first word when it is known, else "an error" */
    const char *advice; /* static: what to do; never NULL */
};

/* `error` is the text of the reply, code first. */
struct wr_redis_fault wr_redis_fault_of(struct wr_str error);

/* True when `reply` is an error; `*out_fault` then says which. */
bool wr_redis_fault_in(const struct redisReply *reply, struct wr_redis_fault *out_fault);

#endif
