/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a counter in Redis, made from its identity (limit/identity.h).
 *
 *   readable   PREFIX{DOMAIN|KEY=VALUE|…}|60s            e.g. weir:{edge|user=ann}|60s
 *   hashed     PREFIX{32 hex digits}|60s                 of a keyed hash of domain and path
 *   reference  PREFIX DOMAIN_KEY_VALUE_…_WINDOW-START    what envoyproxy/ratelimit writes
 *
 * What is no plain window of the epoch bears more behind it, in all three:
 * |ALIGNMENT.ALGORITHM.LAYER by the numbers of limit/limit.h, then |ZONE of a calendar that is not
 * by UTC.
 *
 * What stands in braces chooses the slot in a cluster: all windows and layers of one path share
 * one; with `is_domain_slot` all of a domain do: PREFIX{DOMAIN}|KEY=VALUE|…|60s. Bytes outside
 * [A-Za-z0-9._:/@+-] are percent-escaped, so that no two counters have one name and no value looks
 * like a hash tag; a pattern that stands for its values has ~ before its key. Not so in the
 * reference's form, which neither escapes nor tells lengths of windows apart. What the reference
 * does not know is told apart there too: the further limits of a rule (…_WINDOW-START|60s), and
 * those of other algorithms and alignments, which have no date (…_|60s|0.4.0). And it has no common
 * slot: the incumbent's own name, whole, chooses it, and is another in each window, whereas the
 * windows of the limits beside it go on.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_STORE_REDIS_KEY_H
#define WR_STORE_REDIS_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"

enum wr_redis_key_form {
    WR_REDIS_KEY_READABLE,
    WR_REDIS_KEY_HASHED,
    WR_REDIS_KEY_REFERENCE,
};

/* Immutable, shared by all threads. */
struct wr_redis_key_style {
    enum wr_redis_key_form form;
    struct wr_str prefix;      /* as it is, before everything */
    struct wr_hash_key secret; /* of the hashed form; the same on all replicas */
};

/* What is to be named. */
struct wr_redis_key_take {
    struct wr_str identity;
    bool is_domain_slot; /* in one slot with every other counter of its domain */
    /* used by the reference's form alone */
    bool is_further;        /* not of the first limit of its rule */
    int64_t window_start_s; /* in seconds since the Unix epoch */
};

/* Writes the name of a counter into `arena`. False when memory is out. */
bool wr_redis_key_write(const struct wr_redis_key_style *style, struct wr_arena *arena,
                        const struct wr_redis_key_take *take, struct wr_str *out_key);

/* The cluster's slot of `key`, 0 to 16383: CRC16 of its hash tag, or of all of it. */
uint16_t wr_redis_key_slot(struct wr_str key);

#endif
