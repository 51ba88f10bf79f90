/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keyed 128-bit hash (SipHash-2-4 of libsodium): who does not know the key can neither make two
 * counters meet nor crowd one stripe.
 *
 * Threads: any thread; the key is immutable once drawn.
 */
#ifndef WR_BASE_HASH_H
#define WR_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct wr_hash_key {
    unsigned char bytes[16];
};

struct wr_hash {
    uint64_t low, high;
};

/* Draws a random key. WR_ERR_SYSTEM when the library cannot be set up. */
WR_MUST_USE enum wr_err wr_hash_key_draw(struct wr_hash_key *out_key);

/* The key that belongs to `secret`, the same on every machine (BLAKE2b of it, 16 bytes).
 * WR_ERR_SYSTEM when the library cannot be set up. */
WR_MUST_USE enum wr_err wr_hash_key_derive(struct wr_str secret, struct wr_hash_key *out_key);

/* Overwrites what a secret was in; no compiler leaves it out. */
void wr_secret_wipe(void *bytes, size_t n);

struct wr_hash wr_hash_of(const struct wr_hash_key *key, struct wr_str bytes);

static inline bool wr_hash_equal(struct wr_hash a, struct wr_hash b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
