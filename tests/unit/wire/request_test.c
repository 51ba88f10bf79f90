/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/request.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/wire/bytes.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The messages of clients of today, each with `edge` as its domain. */
#define GENERIC_KEY_X "0a0465646765 1212 0a10 0a0b67656e657269635f6b6579 120178"
#define PEEK "0a0465646765 120a 0a06 0a016b 120176 1a00"
#define HITS_300 "0a0465646765 120d 0a06 0a016b 120176 1a03 08ac02"
#define REFUND_5 "0a0465646765 120e 0a06 0a016b 120176 1a02 0805 2001"
#define OVERRIDE_10_MINUTE "0a0465646765 120e 0a06 0a016b 120176 1204 080a 1002"
#define EMPTY_VALUE "0a0465646765 1205 0a03 0a016b"
#define NO_ENTRIES "0a0465646765 1200"
#define REQUEST_HITS_3 "0a0465646765 1208 0a06 0a016b 120176 1803"

static const char *const golden[] = {
    GENERIC_KEY_X,      PEEK,        HITS_300,   REFUND_5,
    OVERRIDE_10_MINUTE, EMPTY_VALUE, NO_ENTRIES, REQUEST_HITS_3,
};

/* A decoded message with all that it borrows from. */
struct decoded {
    struct wr_str message;
    struct wr_arena arena;
    struct wr_request request;
    struct wr_failure failure;
    enum wr_err err;
};

static struct decoded decode_capped(const char *hex, size_t max_descriptors, size_t max_entries)
{
    const struct wr_request_caps caps = {.max_descriptors = max_descriptors,
                                         .max_entries = max_entries};
    struct decoded d = {.message = bytes_of_hex(hex)};

    wr_arena_init(&d.arena, 1024);
    d.err = wr_request_decode(d.message, &caps, &d.arena, &d.request, &d.failure);
    return d;
}

static struct decoded decode(const char *hex)
{
    return decode_capped(hex, 1000, 1000);
}

static struct decoded decode_good(const char *hex)
{
    struct decoded d = decode(hex);

    cr_assert_eq(d.err, WR_OK, "%s: %.*s", hex, (int) d.failure.message.len, d.failure.message.ptr);
    return d;
}

static void fini(struct decoded *d)
{
    wr_arena_fini(&d->arena);
    bytes_free(d->message);
}

static void expect_text(const char *hex, struct wr_str got, const char *want)
{
    cr_assert(wr_str_equal(got, wr_str_of(want)), "%s: '%.*s' is not '%s'", hex, (int) got.len,
              got.ptr, want);
}

/* One descriptor with one entry, as most rows below have it. */
struct meaning {
    const char *hex, *domain, *key, *value;
    uint32_t request_hits;
    bool has_override;
    struct wr_override override;
    bool has_hits;
    uint64_t hits;
    bool is_negative;
};

static void expect_meaning(const struct meaning *want)
{
    struct decoded d = decode_good(want->hex);

    expect_text(want->hex, d.request.domain, want->domain);
    cr_assert_eq(d.request.hits_addend, want->request_hits, "%s", want->hex);
    cr_assert_eq(d.request.n_descriptors, 1, "%s", want->hex);

    const struct wr_descriptor *const got = d.request.descriptors;

    cr_assert_eq(got->n_entries, want->key == NULL ? 0 : 1, "%s", want->hex);
    if (want->key != NULL) {
        expect_text(want->hex, got->entries[0].key, want->key);
        expect_text(want->hex, got->entries[0].value, want->value);
    }
    cr_assert_eq(got->has_override, want->has_override, "%s", want->hex);
    cr_assert_eq(got->override.requests_per_unit, want->override.requests_per_unit, "%s",
                 want->hex);
    cr_assert_eq(got->override.unit, want->override.unit, "%s: unit %" PRId32, want->hex,
                 got->override.unit);
    cr_assert_eq(got->has_hits_addend, want->has_hits, "%s", want->hex);
    cr_assert_eq(got->hits_addend, want->hits, "%s: hits %" PRIu64, want->hex, got->hits_addend);
    cr_assert_eq(got->is_negative_hits, want->is_negative, "%s", want->hex);
    fini(&d);
}

#define EXPECT_MEANINGS(rows)                                                                      \
    for (size_t row = 0; row < COUNT(rows); row++) {                                               \
        expect_meaning(&(rows)[row]);                                                              \
    }

Test(request, reads_the_messages_of_clients_of_today)
{
    const struct meaning rows[] = {
        {GENERIC_KEY_X, "edge", "generic_key", .value = "x"},
        {PEEK, "edge", "k", "v", .has_hits = true},
        {HITS_300, "edge", "k", "v", .has_hits = true, .hits = 300},
        {REFUND_5, "edge", "k", "v", .has_hits = true, .hits = 5, .is_negative = true},
        {OVERRIDE_10_MINUTE, "edge", "k", "v", .has_override = true, .override = {10, 2}},
        {EMPTY_VALUE, "edge", "k", .value = ""},
        {NO_ENTRIES, "edge", .key = NULL},
        {REQUEST_HITS_3, "edge", "k", "v", .request_hits = 3},
    };

    cr_assert_eq(COUNT(rows), COUNT(golden));
    EXPECT_MEANINGS(rows);
}

Test(request, reads_an_empty_message_as_an_empty_request)
{
    struct decoded d = decode_good("");

    expect_text("", d.request.domain, "");
    cr_assert_eq(d.request.n_descriptors, 0);
    cr_assert_eq(d.request.hits_addend, 0);
    fini(&d);
}

Test(request, takes_the_last_of_fields_that_come_twice_and_merges_messages)
{
    const struct meaning rows[] = {
        {"0a0161 0a0462626262 1200", "bbbb", .key = NULL},
        {"0a0161 0a00 1200", "", .key = NULL},
        {"1200 1803 1805", "", NULL, .request_hits = 5},
        {"1200 1803 1800", "", NULL, .request_hits = 0},
        {"120c 0a0a 0a0161 0a016b 1200 1200", "", "k", .value = ""},
        {"1208 1202080a 12021002", "", NULL, .has_override = true, .override = {10, 2}},
        {"120a 1204080a1002 12020800", "", NULL, .has_override = true, .override = {0, 2}},
        {"1206 1a020805 1a00", "", NULL, .has_hits = true, .hits = 5},
        {"1208 1a020805 1a020800", "", NULL, .has_hits = true, .hits = 0},
        {"1204 2001 2000", "", NULL, .is_negative = false},
    };

    EXPECT_MEANINGS(rows);
}

Test(request, cuts_numbers_to_the_width_of_their_field)
{
    const struct meaning rows[] = {
        {"1200 188280808010", "", NULL, .request_hits = 2},
        {"1200 18ffffffffffffffffff01", "", NULL, .request_hits = UINT32_MAX},
        {"1208 1206 088a80808010", "", NULL, .has_override = true, .override = {10, 0}},
        {"120d 120b 10ffffffffffffffffff01", "", NULL, .has_override = true, .override = {0, -1}},
        {"1208 1206 108280808010", "", NULL, .has_override = true, .override = {0, 2}},
        {"120d 1a0b 08ffffffffffffffffff01", "", NULL, .has_hits = true, .hits = UINT64_MAX},
        {"1206 208080808010", "", NULL, .is_negative = true},
    };

    EXPECT_MEANINGS(rows);
}

Test(request, takes_what_it_does_not_know_as_if_it_were_not_there)
{
    const struct meaning rows[] = {
        /* Numbers it does not know, of every wire type, at every level. */
        {"a00601 aa0603616263 0a0165 1200 fd0531323334 f9053132333435363738", "e", .key = NULL},
        {"fb05 0805 2a0161 fb05 fc05 fc05 1200", "", .key = NULL},
        {"120e 3005 0a08 0a016b 120176 3801 4a00", "", "k", .value = "v"},
        {"120c 120a 080a 1002 1800 22020800", "", NULL, .has_override = true, .override = {10, 2}},
        {"1209 1a07 0805 120161 1800", "", NULL, .has_hits = true, .hits = 5},
        /* Numbers it knows, of another wire type. */
        {"0805 0d61626364 0a0165 1200 1005 1a03616263", "e", .key = NULL},
        {"0b 0c 13 14 1200 1b 1c", "", .key = NULL},
        {"120e 0801 1001 1d01020304 2201 61 2b2c", "", .key = NULL},
        {"1209 0a05 0801 120176 13 14", "", "", .value = "v"},
    };

    EXPECT_MEANINGS(rows);
}

Test(request, keeps_order_of_descriptors_and_entries_whatever_comes_between)
{
    struct decoded d = decode_good("1802 120c 1a020804 0a06 0a016b 120176"
                                   "1208 0a06 120177 0a016c 0a0165"
                                   "1212 0a06 0a016d 120178 2001 0a06 0a016e 120179");

    cr_assert_eq(d.request.n_descriptors, 3);
    expect_text("", d.request.domain, "e");

    const struct wr_descriptor *const got = d.request.descriptors;

    cr_assert_eq(got[0].n_entries, 1);
    cr_assert_eq(got[0].hits_addend, 4);
    expect_text("", got[0].entries[0].key, "k");
    cr_assert_eq(got[1].n_entries, 1);
    expect_text("", got[1].entries[0].key, "l");
    expect_text("", got[1].entries[0].value, "w");
    cr_assert_eq(got[2].n_entries, 2);
    cr_assert(got[2].is_negative_hits);
    expect_text("", got[2].entries[0].key, "m");
    expect_text("", got[2].entries[1].key, "n");
    expect_text("", got[2].entries[1].value, "y");
    fini(&d);
}

Test(request, keeps_a_nul_and_utf8_of_every_length_in_texts)
{
    struct decoded d = decode_good("0a03610062 120f 0a0d 0a02c3a9 1207 e282acf09f9aa6");

    cr_assert_eq(d.request.domain.len, 3);
    cr_assert_eq(memcmp(d.request.domain.ptr, "a\0b", 3), 0);
    expect_text("", d.request.descriptors[0].entries[0].key, "\xc3\xa9");
    expect_text("", d.request.descriptors[0].entries[0].value, "\xe2\x82\xac\xf0\x9f\x9a\xa6");
    fini(&d);
}

struct refusal {
    const char *hex, *message, *field;
};

static void expect_refusal(const struct refusal *want)
{
    struct decoded d = decode(want->hex);

    cr_assert_eq(d.err, WR_ERR_MALFORMED, "%s: %s", want->hex, wr_err_text(d.err));
    cr_assert_eq(d.failure.status, WR_STATUS_INVALID_ARGUMENT, "%s", want->hex);
    expect_text(want->hex, d.failure.message, want->message);
    expect_text(want->hex, d.failure.field, want->field);
    cr_assert_eq(d.failure.retry_us, 0);
    cr_assert_null(d.request.descriptors, "%s: the output was touched", want->hex);
    cr_assert_null(d.request.domain.ptr, "%s: the output was touched", want->hex);
    fini(&d);
}

#define EXPECT_REFUSALS(rows)                                                                      \
    for (size_t row = 0; row < COUNT(rows); row++) {                                               \
        expect_refusal(&(rows)[row]);                                                              \
    }

Test(request, refuses_what_is_no_protobuf_and_says_where)
{
    const struct refusal rows[] = {
        {"0a", "domain ends in the middle of a field (byte 1 of the request)", "domain"},
        {"0a0465", "domain has a field that is longer than what is left (byte 1 of the request)",
         "domain"},
        {"18", "the request ends in the middle of a field (byte 1 of the request)", ""},
        {"1880", "the request ends in the middle of a field (byte 2 of the request)", ""},
        {"2601", "the request has a field of an unknown wire type (byte 0 of the request)", ""},
        {"2701", "the request has a field of an unknown wire type (byte 0 of the request)", ""},
        {"0200",
         "the request has a field number that is not in 1 to 536870911 (byte 0 of the "
         "request)",
         ""},
        {"8280808010",
         "the request has a field number that is not in 1 to 536870911 (byte 0 of the request)",
         ""},
        {"18ffffffffffffffffff02",
         "the request has a number that does not fit 64 bits (byte 1 of the request)", ""},
        {"28ffffffffffffffffffff01",
         "the request has a number that does not fit 64 bits (byte 1 of the request)", ""},
        {"2d010203", "the request ends in the middle of a field (byte 4 of the request)", ""},
        {"2901020304050607", "the request ends in the middle of a field (byte 8 of the request)",
         ""},
        {"2b", "the request has a group that does not end as it began (byte 1 of the request)", ""},
        {"2c", "the request has a group that does not end as it began (byte 1 of the request)", ""},
        {"2b34", "the request has a group that does not end as it began (byte 2 of the request)",
         ""},
    };

    EXPECT_REFUSALS(rows);
}

Test(request, names_the_message_in_which_it_stumbled)
{
    const struct refusal rows[] = {
        {"1200 127f0a",
         "descriptors[1] has a field that is longer than what is left (byte 3 of the request)",
         "descriptors[1]"},
        {"1204 0a02 0a05",
         "descriptors[0].entries[0].key has a field that is longer than what is left (byte 5 of "
         "the request)",
         "descriptors[0].entries[0].key"},
        {"1200 1206 0a00 0a02 0e01",
         "descriptors[1].entries[1] has a field of an unknown wire type (byte 8 of the request)",
         "descriptors[1].entries[1]"},
        {"1203 1201 08",
         "descriptors[0].limit ends in the middle of a field (byte 5 of the request)",
         "descriptors[0].limit"},
        {"1203 1a01 08",
         "descriptors[0].hits_addend ends in the middle of a field (byte 5 of the request)",
         "descriptors[0].hits_addend"},
        {"1201 20", "descriptors[0] ends in the middle of a field (byte 3 of the request)",
         "descriptors[0]"},
        {"1201 0a",
         "descriptors[0].entries[0] ends in the middle of a field (byte 3 of the request)",
         "descriptors[0].entries[0]"},
    };

    EXPECT_REFUSALS(rows);
}

Test(request, refuses_texts_that_are_not_utf8)
{
    const struct refusal rows[] = {
        {"0a01ff", "domain is not valid UTF-8 (byte 2 of the request)", "domain"},
        {"0a02c080", "domain is not valid UTF-8 (byte 2 of the request)", "domain"},
        {"0a03eda080", "domain is not valid UTF-8 (byte 2 of the request)", "domain"},
        {"0a04f4908080", "domain is not valid UTF-8 (byte 2 of the request)", "domain"},
        {"0a0a6162636465666768 69c3", "domain is not valid UTF-8 (byte 2 of the request)",
         "domain"},
        {"0a01ff 0a0161", "domain is not valid UTF-8 (byte 2 of the request)", "domain"},
        {"1205 0a03 0a0180",
         "descriptors[0].entries[0].key is not valid UTF-8 (byte 6 of the request)",
         "descriptors[0].entries[0].key"},
        {"1200 1207 0a00 0a03 1201e2",
         "descriptors[1].entries[1].value is not valid UTF-8 (byte 10 of the request)",
         "descriptors[1].entries[1].value"},
    };

    EXPECT_REFUSALS(rows);
}

Test(request, takes_as_many_as_the_caps_and_refuses_one_more)
{
    const struct {
        const char *hex;
        size_t max_descriptors, max_entries;
        const char *message, *field; /* NULL: accepted */
    } rows[] = {
        {"1200 1200", 2, 0, NULL, NULL},
        {"1200 1200 1200", 2, 0,
         "descriptors has more than 2 elements, this server's --max-descriptors", "descriptors"},
        {"1200", 0, 0, "descriptors has more than 0 elements, this server's --max-descriptors",
         "descriptors"},
        {"1204 0a00 0a00", 1, 2, NULL, NULL},
        {"1204 0a00 0a00 1204 0a00 0a00", 2, 2, NULL, NULL},
        {"1200 1206 0a00 0a00 0a00", 2, 2,
         "descriptors[1].entries has more than 2 elements, this server's --max-entries",
         "descriptors[1].entries"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct decoded d = decode_capped(rows[i].hex, rows[i].max_descriptors, rows[i].max_entries);

        if (rows[i].message == NULL) {
            cr_assert_eq(d.err, WR_OK, "row %zu", i);
        } else {
            cr_assert_eq(d.err, WR_ERR_TOO_LARGE, "row %zu", i);
            cr_assert_eq(d.failure.status, WR_STATUS_RESOURCE_EXHAUSTED, "row %zu", i);
            expect_text(rows[i].hex, d.failure.message, rows[i].message);
            expect_text(rows[i].hex, d.failure.field, rows[i].field);
        }
        fini(&d);
    }
}

/* A message of `size` bytes that is `unit` again and again. */
static struct wr_str repeat(const char *unit, size_t unit_len, size_t size)
{
    char *const bytes = malloc(size);

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = unit[i % unit_len];
    }
    return (struct wr_str){.ptr = bytes, .len = size};
}

Test(request, takes_no_more_memory_for_a_giant_than_the_caps_allow)
{
    static const struct {
        const char *unit;
        size_t len;
        enum wr_err err;
    } rows[] = {
        {"\x12\x00", 2, WR_ERR_TOO_LARGE},
        {"\x12\x02\x0a\x00", 4, WR_ERR_TOO_LARGE},
        {"\x28\x00", 2, WR_OK},
        {"\x2b\x2c", 2, WR_OK},
        {"\x2b\x2b", 2, WR_ERR_MALFORMED},
    };
    const struct wr_request_caps caps = {.max_descriptors = 100, .max_entries = 10};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_str message = repeat(rows[i].unit, rows[i].len, 4 << 20);
        struct wr_arena arena;
        struct wr_request request;
        struct wr_failure failure;

        wr_arena_init(&arena, 1024);

        const enum wr_err err = wr_request_decode(message, &caps, &arena, &request, &failure);

        cr_assert_eq(err, rows[i].err, "row %zu: %s", i, wr_err_text(err));
        cr_assert_leq(arena.total_size, 64 << 10, "row %zu: %zu bytes", i, arena.total_size);
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}

Test(request, grows_its_arrays_with_the_message)
{
    const struct wr_str message = repeat("\x12\x06\x0a\x04\x0a\x02\xc3\xa9", 8, 8 * 1000);
    const struct wr_request_caps caps = {.max_descriptors = 1000, .max_entries = 1};
    struct wr_arena arena;
    struct wr_request request;
    struct wr_failure failure;

    wr_arena_init(&arena, 1024);
    cr_assert_eq(wr_request_decode(message, &caps, &arena, &request, &failure), WR_OK);
    cr_assert_eq(request.n_descriptors, 1000);
    for (size_t i = 0; i < request.n_descriptors; i++) {
        cr_assert_eq(request.descriptors[i].n_entries, 1);
        cr_assert_eq(request.descriptors[i].entries[0].key.ptr, message.ptr + 8 * i + 6);
    }
    wr_arena_fini(&arena);
    bytes_free(message);
}

/* Each proper start of a message either ends between two fields or is refused. */
Test(request, refuses_or_reads_every_truncation_without_a_crash)
{
    const struct wr_request_caps caps = {.max_descriptors = 10, .max_entries = 10};
    size_t n_refused = 0;

    for (size_t i = 0; i < COUNT(golden); i++) {
        const struct wr_str whole = bytes_of_hex(golden[i]);

        for (size_t len = 0; len < whole.len; len++) {
            const struct wr_str cut = bytes_copy((struct wr_str){.ptr = whole.ptr, .len = len});
            struct wr_arena arena;
            struct wr_request request;
            struct wr_failure failure;

            wr_arena_init(&arena, 1024);

            const enum wr_err err = wr_request_decode(cut, &caps, &arena, &request, &failure);

            cr_assert(err == WR_OK || err == WR_ERR_MALFORMED);
            cr_assert(err == WR_ERR_MALFORMED || len == 0 || len == 6 || len == whole.len - 2,
                      "%s cut to %zu bytes is read", golden[i], len);
            n_refused += err == WR_ERR_MALFORMED ? 1 : 0;
            wr_arena_fini(&arena);
            bytes_free(cut);
        }
        bytes_free(whole);
    }
    cr_assert_gt(n_refused, 100);
}

Test(request, says_so_when_memory_is_out_at_any_allocation)
{
    const struct wr_str message = repeat("\x12\x04\x0a\x02\x0a\x00", 6, 6 * 100);
    const struct wr_request_caps caps = {.max_descriptors = 100, .max_entries = 1};
    enum wr_err err = WR_ERR_NO_MEMORY;
    size_t n = 0;

    for (; err != WR_OK; n++) {
        struct wr_arena arena;
        struct wr_request request;
        struct wr_failure failure = {.status = WR_STATUS_OK};

        wr_arena_init(&arena, 64);
        failing_malloc_start(n);
        err = wr_request_decode(message, &caps, &arena, &request, &failure);
        failing_malloc_stop();
        if (err != WR_OK) {
            cr_assert_eq(err, WR_ERR_NO_MEMORY, "%zu allocations: %s", n, wr_err_text(err));
            cr_assert_eq(failure.status, WR_STATUS_RESOURCE_EXHAUSTED);
            expect_text("", failure.message, "out of memory");
        }
        wr_arena_fini(&arena);
    }
    cr_assert_gt(n, 2);
    bytes_free(message);
}

Test(request, refuses_with_a_plain_sentence_when_memory_for_a_better_one_is_out)
{
    const struct wr_str malformed = bytes_of_hex("0a01ff");
    const struct wr_request_caps caps = {.max_descriptors = 1, .max_entries = 1};
    struct wr_arena arena;
    struct wr_request request;
    struct wr_failure failure;

    wr_arena_init(&arena, 64);
    failing_malloc_start(0);

    const enum wr_err err = wr_request_decode(malformed, &caps, &arena, &request, &failure);

    failing_malloc_stop();
    cr_assert_eq(err, WR_ERR_MALFORMED);
    expect_text("", failure.message, "the request is malformed");
    expect_text("", failure.field, "");
    wr_arena_fini(&arena);
    bytes_free(malformed);
}
