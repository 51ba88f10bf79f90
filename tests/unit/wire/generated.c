/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/wire/generated.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "wire/scan.h"

#define MESSAGE_SIZE 16384
#define DESCRIPTOR_SIZE 4096
#define PIECES_MAX 32
#define NO_FIELD 0 /* a piece that is an unknown field */

struct maker {
    uint64_t random; /* state of a xorshift, never 0 */
    bool splits_messages;
    struct wr_arena *arena;
};

struct writer {
    unsigned char *bytes;
    size_t n, size;
};

/* Numbers of fields in the order in which they are written. */
struct pieces {
    uint32_t fields[PIECES_MAX];
    size_t n;
};

/* 0 to below - 1. */
static uint32_t draw(struct maker *m, uint32_t below)
{
    (void) wr_random_next(&m->random);
    return (uint32_t) (m->random >> 32) % below;
}

static bool one_in(struct maker *m, uint32_t n)
{
    return draw(m, n) == 0;
}

static void *take(struct maker *m, size_t n, size_t size)
{
    void *const memory = wr_arena_calloc(m->arena, n, size);

    WR_ASSERT(memory != NULL);
    return memory;
}

static struct writer open_writer(struct maker *m, size_t size)
{
    return (struct writer){.bytes = take(m, size, 1), .size = size};
}

static void put(struct writer *w, const void *bytes, size_t n)
{
    WR_ASSERT(n <= w->size - w->n);
    if (n > 0) {
        memcpy(w->bytes + w->n, bytes, n);
    }
    w->n += n;
}

static void put_byte(struct writer *w, uint64_t byte)
{
    const unsigned char c = (unsigned char) byte;

    put(w, &c, 1);
}

/* Now and then one byte longer than need be. */
static void put_varint(struct maker *m, struct writer *w, uint64_t value)
{
    const bool is_padded = value < UINT64_C(1) << 21 && one_in(m, 16);

    for (; value >= 0x80; value >>= 7) {
        put_byte(w, (value & 0x7f) | 0x80);
    }
    put_byte(w, is_padded ? value | 0x80 : value);
    if (is_padded) {
        put_byte(w, 0);
    }
}

static void put_number(struct maker *m, struct writer *w, uint32_t field, uint64_t value)
{
    put_varint(m, w, WR_TAG(field, WR_WIRE_VARINT));
    put_varint(m, w, value);
}

static void put_bytes(struct maker *m, struct writer *w, uint32_t field, const void *bytes,
                      size_t n)
{
    put_varint(m, w, WR_TAG(field, WR_WIRE_BYTES));
    put_varint(m, w, n);
    put(w, bytes, n);
}

static void put_unknown(struct maker *m, struct writer *w)
{
    static const unsigned char zeros[8] = {0};
    const uint32_t field = 5 + draw(m, 3000);

    switch (draw(m, 4)) {
    case 0:
        put_number(m, w, field, draw(m, UINT32_MAX));
        break;
    case 1:
        put_varint(m, w, WR_TAG(field, WR_WIRE_FIXED64));
        put(w, zeros, 8);
        break;
    case 2:
        put_varint(m, w, WR_TAG(field, WR_WIRE_FIXED32));
        put(w, zeros, 4);
        break;
    default:
        put_bytes(m, w, field, zeros, draw(m, 8));
        break;
    }
}

static void add(struct pieces *pieces, uint32_t field, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        WR_ASSERT(pieces->n < PIECES_MAX);
        pieces->fields[pieces->n++] = field;
    }
}

static void shuffle(struct maker *m, struct pieces *pieces)
{
    for (size_t i = pieces->n; i > 1; i--) {
        const size_t k = draw(m, (uint32_t) i);
        const uint32_t field = pieces->fields[k];

        pieces->fields[k] = pieces->fields[i - 1];
        pieces->fields[i - 1] = field;
    }
}

/* How many pieces of that field still come after piece `i`. */
static size_t left_after(const struct pieces *pieces, size_t i)
{
    size_t n = 0;

    for (size_t k = i + 1; k < pieces->n; k++) {
        n += pieces->fields[k] == pieces->fields[i] ? 1 : 0;
    }
    return n;
}

static struct wr_str make_text(struct maker *m)
{
    static const char *const letters[] = {
        "a",
        "Z",
        "0",
        "_",
        "/",
        " ",
        "\x01",
        "\x7f",
        "generic_key",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x9a\xa6",
        "\xed\x9f\xbf",
        "\xf4\x8f\xbf\xbf",
    };
    char *const text = take(m, GENERATED_TEXT_MAX, 1);
    const size_t wish = one_in(m, 8) ? draw(m, GENERATED_TEXT_MAX) : draw(m, 16);
    size_t n = 0;

    for (;;) {
        const char *const letter = letters[draw(m, sizeof letters / sizeof letters[0])];

        if (n + strlen(letter) > wish) {
            return (struct wr_str){.ptr = text, .len = n};
        }
        memcpy(text + n, letter, strlen(letter));
        n += strlen(letter);
    }
}

static uint64_t make_hits(struct maker *m)
{
    static const uint64_t numbers[] = {0, 1, 5, 300, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};

    return numbers[draw(m, sizeof numbers / sizeof numbers[0])];
}

static void make_descriptor(struct maker *m, struct wr_descriptor *descriptor)
{
    struct wr_entry *const entries = take(m, GENERATED_ENTRIES_MAX, sizeof *entries);

    descriptor->n_entries = draw(m, GENERATED_ENTRIES_MAX + 1);
    descriptor->entries = entries;
    for (size_t i = 0; i < descriptor->n_entries; i++) {
        entries[i] = (struct wr_entry){.key = make_text(m), .value = make_text(m)};
    }
    if (one_in(m, 3)) {
        descriptor->has_override = true;
        descriptor->override.requests_per_unit = one_in(m, 4) ? 0 : draw(m, UINT32_MAX);
        descriptor->override.unit = (int32_t) draw(m, 8);
    }
    if (one_in(m, 3)) {
        descriptor->has_hits_addend = true;
        descriptor->hits_addend = make_hits(m);
    }
    descriptor->is_negative_hits = one_in(m, 4);
}

static void write_entry(struct maker *m, struct writer *w, const struct wr_entry *entry)
{
    struct writer inner = open_writer(m, DESCRIPTOR_SIZE);
    struct pieces pieces = {.n = 0};

    add(&pieces, 1, entry->key.len > 0 || one_in(m, 2) ? 1 + draw(m, 2) : 0);
    add(&pieces, 2, entry->value.len > 0 || one_in(m, 2) ? 1 + draw(m, 2) : 0);
    add(&pieces, NO_FIELD, one_in(m, 8) ? 1 : 0);
    shuffle(m, &pieces);
    for (size_t i = 0; i < pieces.n; i++) {
        const uint32_t field = pieces.fields[i];

        if (field == NO_FIELD) {
            put_unknown(m, &inner);
        } else if (left_after(&pieces, i) > 0) {
            put_bytes(m, &inner, field, "overwritten", 11);
        } else {
            const struct wr_str text = field == 1 ? entry->key : entry->value;

            put_bytes(m, &inner, field, text.ptr, text.len);
        }
    }
    put_bytes(m, w, 1, inner.bytes, inner.n);
}

/* The limit whole, or its two fields in a message each. */
static void write_limit(struct maker *m, struct writer *w, const struct wr_override *limit,
                        bool has_rate, bool has_unit)
{
    struct writer inner = open_writer(m, DESCRIPTOR_SIZE);

    if (has_unit && one_in(m, 2)) {
        put_number(m, &inner, 2, (uint32_t) limit->unit);
        has_unit = false;
    }
    if (has_rate) {
        put_number(m, &inner, 1, limit->requests_per_unit);
    }
    if (has_unit) {
        put_number(m, &inner, 2, (uint32_t) limit->unit);
    }
    put_bytes(m, w, 2, inner.bytes, inner.n);
}

static void write_hits(struct maker *m, struct writer *w, uint64_t hits)
{
    struct writer inner = open_writer(m, DESCRIPTOR_SIZE);

    if (hits > 0 || one_in(m, 2)) {
        put_number(m, &inner, 1, hits);
    }
    put_bytes(m, w, 3, inner.bytes, inner.n);
}

static void write_descriptor(struct maker *m, struct writer *w,
                             const struct wr_descriptor *descriptor)
{
    const struct wr_override *const limit = &descriptor->override;
    const bool splits =
        m->splits_messages && limit->requests_per_unit > 0 && limit->unit > 0 && one_in(m, 2);
    struct writer inner = open_writer(m, DESCRIPTOR_SIZE);
    struct pieces pieces = {.n = 0};
    size_t entry = 0;

    add(&pieces, 1, descriptor->n_entries);
    add(&pieces, 2, descriptor->has_override ? (splits ? 2 : 1) : 0);
    add(&pieces, 3, descriptor->has_hits_addend ? (descriptor->hits_addend > 0 ? 2 : 1) : 0);
    add(&pieces, 4, descriptor->is_negative_hits || one_in(m, 4) ? 1 + draw(m, 2) : 0);
    add(&pieces, NO_FIELD, draw(m, 3));
    shuffle(m, &pieces);
    for (size_t i = 0; i < pieces.n; i++) {
        const bool is_last = left_after(&pieces, i) == 0;

        switch (pieces.fields[i]) {
        case 1:
            write_entry(m, &inner, &descriptor->entries[entry++]);
            break;
        case 2:
            write_limit(m, &inner, limit, is_last, !is_last || !splits);
            break;
        case 3:
            write_hits(m, &inner, is_last ? descriptor->hits_addend : 77);
            break;
        case 4:
            put_number(m, &inner, 4, is_last ? descriptor->is_negative_hits : draw(m, 2));
            break;
        default:
            put_unknown(m, &inner);
            break;
        }
    }
    put_bytes(m, w, 2, inner.bytes, inner.n);
}

static void write_request(struct maker *m, struct writer *w, const struct wr_request *request)
{
    struct pieces pieces = {.n = 0};
    size_t descriptor = 0;

    add(&pieces, 1, request->domain.len > 0 || one_in(m, 2) ? 1 + draw(m, 2) : 0);
    add(&pieces, 2, request->n_descriptors);
    add(&pieces, 3, request->hits_addend > 0 || one_in(m, 4) ? 1 + draw(m, 2) : 0);
    add(&pieces, NO_FIELD, draw(m, 3));
    shuffle(m, &pieces);
    for (size_t i = 0; i < pieces.n; i++) {
        const bool is_last = left_after(&pieces, i) == 0;

        switch (pieces.fields[i]) {
        case 1:
            put_bytes(m, w, 1, is_last ? request->domain.ptr : "before",
                      is_last ? request->domain.len : 6);
            break;
        case 2:
            write_descriptor(m, w, &request->descriptors[descriptor++]);
            break;
        case 3:
            put_number(m, w, 3, is_last ? request->hits_addend : 77);
            break;
        default:
            put_unknown(m, w);
            break;
        }
    }
}

struct generated generated_of_seed(uint64_t seed, bool splits_messages, struct wr_arena *arena)
{
    struct maker m = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1,
                      .splits_messages = splits_messages,
                      .arena = arena};
    struct wr_descriptor *const descriptors =
        take(&m, GENERATED_DESCRIPTORS_MAX, sizeof *descriptors);
    struct wr_request request = {
        .domain = make_text(&m),
        .descriptors = descriptors,
        .n_descriptors = draw(&m, GENERATED_DESCRIPTORS_MAX + 1),
        .hits_addend = one_in(&m, 2) ? 0 : (uint32_t) make_hits(&m),
    };
    struct writer w = open_writer(&m, MESSAGE_SIZE);

    for (size_t i = 0; i < request.n_descriptors; i++) {
        make_descriptor(&m, &descriptors[i]);
    }
    write_request(&m, &w, &request);
    return (struct generated){.request = request,
                              .message = {.ptr = (const char *) w.bytes, .len = w.n}};
}
