/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/identity.h"

#include <string.h>

#include "base/assert.h"

static char *put_number(char *at, uint64_t number, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        *at++ = (char) (number >> (8 * i) & 0xff);
    }
    return at;
}

static char *put_text(char *at, struct wr_str text)
{
    at = put_number(at, text.len, 4);
    if (text.len > 0) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

char *wr_identity_put_domain(char *at, struct wr_str domain)
{
    return put_text(at, domain);
}

char *wr_identity_put_entry(char *at, bool is_pattern, struct wr_str key, struct wr_str value)
{
    at = put_number(at, is_pattern ? WR_IDENTITY_PATTERN : WR_IDENTITY_LITERAL, 1);
    at = put_text(at, key);
    return put_text(at, value);
}

char *wr_identity_put_tail(char *at, const struct wr_identity_tail *tail)
{
    at = put_number(at, WR_IDENTITY_END, 1);
    at = put_number(at, (uint64_t) tail->length_us, 8);
    at = put_number(at, tail->alignment, 1);
    at = put_number(at, tail->algorithm, 1);
    at = put_number(at, tail->layer, 4);
    return put_text(at, tail->zone);
}

static uint64_t get_number(struct wr_str *rest, size_t n_bytes)
{
    uint64_t number = 0;

    WR_ASSERT(rest->len >= n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        number |= (uint64_t) (unsigned char) rest->ptr[i] << (8 * i);
    }
    rest->ptr += n_bytes;
    rest->len -= n_bytes;
    return number;
}

static struct wr_str get_text(struct wr_str *rest)
{
    const size_t len = (size_t) get_number(rest, 4);
    const struct wr_str text = {.ptr = rest->ptr, .len = len};

    WR_ASSERT(rest->len >= len);
    rest->ptr += len;
    rest->len -= len;
    return text;
}

struct wr_identity_reader wr_identity_read(struct wr_str identity, struct wr_str *out_domain)
{
    struct wr_identity_reader reader = {.rest = identity};

    *out_domain = get_text(&reader.rest);
    return reader;
}

bool wr_identity_read_entry(struct wr_identity_reader *reader, struct wr_identity_entry *out_entry)
{
    WR_ASSERT(reader->rest.len >= 1);
    if ((unsigned char) reader->rest.ptr[0] == WR_IDENTITY_END) {
        return false;
    }
    out_entry->is_pattern = get_number(&reader->rest, 1) == WR_IDENTITY_PATTERN;
    out_entry->key = get_text(&reader->rest);
    out_entry->value = get_text(&reader->rest);
    return true;
}

struct wr_identity_tail wr_identity_read_tail(const struct wr_identity_reader *reader)
{
    struct wr_str rest = reader->rest;
    struct wr_identity_tail tail;
    const uint64_t mark = get_number(&rest, 1);

    WR_ASSERT(mark == WR_IDENTITY_END);
    tail.length_us = (int64_t) get_number(&rest, 8);
    tail.alignment = (uint8_t) get_number(&rest, 1);
    tail.algorithm = (uint8_t) get_number(&rest, 1);
    tail.layer = (uint32_t) get_number(&rest, 4);
    tail.zone = get_text(&rest);
    return tail;
}
