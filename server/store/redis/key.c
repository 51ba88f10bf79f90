/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "limit/identity.h"

/* A byte becomes at most three, an entry has three signs of its own. */
#define ESCAPED_SIZE 3
#define SIGNS_PER_ENTRY 3

/* Room for braces, window, alignment, algorithm and layer; the zone has its own in the identity. */
#define FRAME_SIZE 96

#define HASH_DIGITS 32
#define N_SLOTS 16384
#define US_PER_MS 1000
#define US_PER_SECOND 1000000

static char *put(char *at, struct wr_str text)
{
    if (text.len > 0) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

static bool is_plain(unsigned char byte)
{
    static const char signs[] = "._:/@+-";

    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && strchr(signs, byte) != NULL);
}

static char *put_escaped(char *at, struct wr_str text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        const unsigned char byte = (unsigned char) text.ptr[i];

        if (is_plain(byte)) {
            *at++ = (char) byte;
        } else {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 0xf];
        }
    }
    return at;
}

static char *put_path(char *at, struct wr_identity_reader *reader)
{
    struct wr_identity_entry entry;

    while (wr_identity_read_entry(reader, &entry)) {
        *at++ = '|';
        if (entry.is_pattern) {
            *at++ = '~';
        }
        at = put_escaped(at, entry.key);
        *at++ = '=';
        at = put_escaped(at, entry.value);
    }
    return at;
}

/* What is not the default is written out, so that plain windows have plain names. */
static char *put_tail(char *at, const struct wr_identity_tail *tail)
{
    if (tail->length_us % US_PER_SECOND == 0) {
        at += sprintf(at, "|%" PRId64 "s", tail->length_us / US_PER_SECOND);
    } else if (tail->length_us % US_PER_MS == 0) {
        at += sprintf(at, "|%" PRId64 "ms", tail->length_us / US_PER_MS);
    } else {
        at += sprintf(at, "|%" PRId64 "us", tail->length_us);
    }
    if (tail->alignment != 0 || tail->algorithm != 0 || tail->layer != 0) {
        at += sprintf(at, "|%u.%u.%" PRIu32, tail->alignment, tail->algorithm, tail->layer);
    }
    if (tail->zone.len > 0) {
        *at++ = '|';
        at = put_escaped(at, tail->zone);
    }
    return at;
}

static char *put_readable(char *at, struct wr_str identity, bool is_domain_slot)
{
    struct wr_str domain;
    struct wr_identity_reader reader = wr_identity_read(identity, &domain);

    *at++ = '{';
    at = put_escaped(at, domain);
    if (is_domain_slot) {
        *at++ = '}';
        at = put_path(at, &reader);
    } else {
        at = put_path(at, &reader);
        *at++ = '}';
    }

    const struct wr_identity_tail tail = wr_identity_read_tail(&reader);

    return put_tail(at, &tail);
}

static char *put_hash(char *at, const struct wr_hash_key *secret, struct wr_str bytes)
{
    const struct wr_hash hash = wr_hash_of(secret, bytes);

    return at + sprintf(at, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

static char *put_hashed(char *at, const struct wr_hash_key *secret, struct wr_str identity,
                        bool is_domain_slot)
{
    struct wr_str domain;
    struct wr_identity_reader reader = wr_identity_read(identity, &domain);
    struct wr_identity_entry entry;
    const struct wr_str head = {.ptr = identity.ptr, .len = WR_IDENTITY_HEAD_SIZE + domain.len};

    while (wr_identity_read_entry(&reader, &entry)) {
    }

    const struct wr_identity_tail tail = wr_identity_read_tail(&reader);
    const struct wr_str path = {.ptr = identity.ptr, .len = identity.len - reader.rest.len};

    *at++ = '{';
    if (is_domain_slot) {
        at = put_hash(at, secret, head);
        *at++ = '}';
        *at++ = '|';
        at = put_hash(at, secret, path);
    } else {
        at = put_hash(at, secret, path);
        *at++ = '}';
    }
    return put_tail(at, &tail);
}

/* What the incumbent has no counters of bears no date but the rest of its identity. */
static char *put_reference(char *at, struct wr_str identity, bool is_further,
                           int64_t window_start_s)
{
    struct wr_str domain;
    struct wr_identity_reader reader = wr_identity_read(identity, &domain);
    struct wr_identity_entry entry;

    at = put(at, domain);
    *at++ = '_';
    while (wr_identity_read_entry(&reader, &entry)) {
        at = put(at, entry.key);
        *at++ = '_';
        at = put(at, entry.value);
        *at++ = '_';
    }

    const struct wr_identity_tail tail = wr_identity_read_tail(&reader);
    const bool is_dated = tail.alignment == 0 && tail.algorithm == 0;

    if (is_dated) {
        at += sprintf(at, "%" PRId64, window_start_s);
    }
    return is_dated && tail.layer == 0 && !is_further ? at : put_tail(at, &tail);
}

/* Every entry takes at least WR_IDENTITY_ENTRY_SIZE bytes, more than its signs. */
_Static_assert(SIGNS_PER_ENTRY <= WR_IDENTITY_ENTRY_SIZE, "three times an identity is room enough");

bool wr_redis_key_write(const struct wr_redis_key_style *style, struct wr_arena *arena,
                        const struct wr_redis_key_take *take, struct wr_str *out_key)
{
    const struct wr_str identity = take->identity;
    char *const key = wr_arena_alloc(arena, style->prefix.len + ESCAPED_SIZE * identity.len +
                                                FRAME_SIZE + 2 * HASH_DIGITS);

    if (key == NULL) {
        return false;
    }

    char *at = put(key, style->prefix);

    switch (style->form) {
    case WR_REDIS_KEY_HASHED:
        at = put_hashed(at, &style->secret, identity, take->is_domain_slot);
        break;
    case WR_REDIS_KEY_REFERENCE:
        at = put_reference(at, identity, take->is_further, take->window_start_s);
        break;
    case WR_REDIS_KEY_READABLE:
    default:
        at = put_readable(at, identity, take->is_domain_slot);
        break;
    }
    *out_key = (struct wr_str){.ptr = key, .len = (size_t) (at - key)};
    return true;
}

/* CRC-16/XMODEM: polynomial 0x1021, begins with 0 (Redis Cluster specification). */
static uint16_t crc16(struct wr_str bytes)
{
    uint16_t crc = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (uint16_t) ((unsigned char) bytes.ptr[i] << 8);
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint16_t) (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
        }
    }
    return crc;
}

/* What stands between the first { and the first } behind it, when that is not nothing. */
static struct wr_str hash_tag(struct wr_str key)
{
    const size_t open = wr_str_find(key, '{');

    if (open == key.len) {
        return key;
    }

    const struct wr_str behind = wr_str_skip(key, open + 1);
    const size_t close = wr_str_find(behind, '}');

    return close == 0 || close == behind.len ? key : wr_str_part(behind, 0, close);
}

uint16_t wr_redis_key_slot(struct wr_str key)
{
    return crc16(hash_tag(key)) % N_SLOTS;
}
