/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sodium.h>

#include <string.h>

_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(struct wr_hash_key), "key size");
_Static_assert(crypto_shorthash_siphashx24_BYTES == sizeof(struct wr_hash), "hash size");

enum wr_err wr_hash_key_draw(struct wr_hash_key *out_key)
{
    if (sodium_init() < 0) {
        return WR_ERR_SYSTEM;
    }
    randombytes_buf(out_key->bytes, sizeof out_key->bytes);
    return WR_OK;
}

struct wr_hash wr_hash_of(const struct wr_hash_key *key, struct wr_str bytes)
{
    unsigned char digest[crypto_shorthash_siphashx24_BYTES];
    struct wr_hash hash;

    (void) crypto_shorthash_siphashx24(digest, (const unsigned char *) bytes.ptr, bytes.len,
                                       key->bytes);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

void wr_secret_wipe(void *bytes, size_t n)
{
    sodium_memzero(bytes, n);
}

enum wr_err wr_hash_key_derive(struct wr_str secret, struct wr_hash_key *out_key)
{
    if (sodium_init() < 0 ||
        crypto_generichash(out_key->bytes, sizeof out_key->bytes,
                           (const unsigned char *) secret.ptr, secret.len, NULL, 0) != 0) {
        return WR_ERR_SYSTEM;
    }
    return WR_OK;
}
