/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/key.h"

#include <criterion/criterion.h>
#include <string.h>

#include "limit/identity.h"

#define MAX_ENTRIES 4
#define S(seconds) (INT64_C(1000000) * (seconds))

struct row {
    const char *expected;
    const char *domain;
    struct wr_identity_entry entries[MAX_ENTRIES];
    size_t n_entries;
    struct wr_identity_tail tail;
    bool is_domain_slot;
};

#define ENTRY(k, v)                                                                                \
    {                                                                                              \
        .key = WR_STR(k), .value = WR_STR(v)                                                       \
    }
#define PATTERN(k, v)                                                                              \
    {                                                                                              \
        .is_pattern = true, .key = WR_STR(k), .value = WR_STR(v)                                   \
    }

static struct wr_str identity_of(struct wr_arena *arena, const struct row *row)
{
    char *const bytes = wr_arena_alloc(arena, 4096);
    char *at = wr_identity_put_domain(bytes, wr_str_of(row->domain));

    for (size_t i = 0; i < row->n_entries; i++) {
        at = wr_identity_put_entry(at, row->entries[i].is_pattern, row->entries[i].key,
                                   row->entries[i].value);
    }
    at = wr_identity_put_tail(at, &row->tail);
    return (struct wr_str){.ptr = bytes, .len = (size_t) (at - bytes)};
}

static bool write_key(const struct wr_redis_key_style *style, struct wr_arena *arena,
                      const struct row *row, bool is_further, int64_t window_start_s,
                      struct wr_str *out_key)
{
    const struct wr_redis_key_take take = {
        .identity = identity_of(arena, row),
        .is_domain_slot = row->is_domain_slot,
        .is_further = is_further,
        .window_start_s = window_start_s,
    };

    return wr_redis_key_write(style, arena, &take, out_key);
}

static void expect(const struct wr_redis_key_style *style, const struct row *row, bool is_further,
                   int64_t window_start_s)
{
    struct wr_arena arena;
    struct wr_str key;

    wr_arena_init(&arena, 8192);
    cr_assert(write_key(style, &arena, row, is_further, window_start_s, &key));
    cr_assert(wr_str_equal(key, wr_str_of(row->expected)), "%.*s is not %s", (int) key.len, key.ptr,
              row->expected);
    wr_arena_fini(&arena);
}

Test(redis_key, readable)
{
    static const struct row rows[] = {
        {"weir:{edge|user=ann}|60s",
         "edge",
         {ENTRY("user", "ann")},
         1,
         {.length_us = S(60)},
         false},
        {"weir:{edge}|user=ann|60s", "edge", {ENTRY("user", "ann")}, 1, {.length_us = S(60)}, true},
        {"weir:{edge|a=1|b=}|3600s",
         "edge",
         {ENTRY("a", "1"), ENTRY("b", "")},
         2,
         {.length_us = S(3600)},
         false},
        {"weir:{d|path=/api/v1/users}|1s",
         "d",
         {ENTRY("path", "/api/v1/users")},
         1,
         {.length_us = S(1)},
         false},
        {"weir:{d%7Bx%7D|a%7Cb=%7D%25%20%3D%00}|100ms",
         "d{x}",
         {ENTRY("a|b", "}% =\0")},
         1,
         {.length_us = 100000},
         false},
        {"weir:{d|~k=a%2A}|60s", "d", {PATTERN("k", "a*")}, 1, {.length_us = S(60)}, false},
        {"weir:{d|%7Ek=a%2A}|60s", "d", {ENTRY("~k", "a*")}, 1, {.length_us = S(60)}, false},
        {"weir:{d|k=%C3%BC}|60s", "d", {ENTRY("k", "\xc3\xbc")}, 1, {.length_us = S(60)}, false},
        {"weir:{d|k=v}|60s|1.2.3",
         "d",
         {ENTRY("k", "v")},
         1,
         {.length_us = S(60), .alignment = 1, .algorithm = 2, .layer = 3},
         false},
        {"weir:{d|k=v}|86400s|2.0.0|America/Port-au-Prince",
         "d",
         {ENTRY("k", "v")},
         1,
         {.length_us = S(86400), .alignment = 2, .zone = WR_STR("America/Port-au-Prince")},
         false},
        {"weir:{d}|1500us", "d", {{0}}, 0, {.length_us = 1500}, false},
    };
    static const struct wr_redis_key_style style = {.form = WR_REDIS_KEY_READABLE,
                                                    .prefix = WR_STR("weir:")};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(&style, &rows[i], false, 0);
    }
}

Test(redis_key, reference)
{
    static const struct row rows[] = {
        {"pre_edge_user_ann_1764510000",
         "edge",
         {ENTRY("user", "ann")},
         1,
         {.length_us = S(60)},
         false},
        {"pre_edge_user__a_{b}_1764510000",
         "edge",
         {ENTRY("user", ""), ENTRY("a", "{b}")},
         2,
         {.length_us = S(60)},
         true},
        {"pre_d_k_a*_1764510000", "d", {PATTERN("k", "a*")}, 1, {.length_us = S(60)}, false},
        {"pre_d_k_a_|60s|1.0.0",
         "d",
         {ENTRY("k", "a")},
         1,
         {.length_us = S(60), .alignment = 1},
         false},
        {"pre_d_k_a_|60s|0.4.0",
         "d",
         {ENTRY("k", "a")},
         1,
         {.length_us = S(60), .algorithm = 4},
         false},
    };
    static const struct wr_redis_key_style style = {.form = WR_REDIS_KEY_REFERENCE,
                                                    .prefix = WR_STR("pre_")};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(&style, &rows[i], false, 1764510000);
    }
}

Test(redis_key, further_limits_of_a_rule_in_the_form_of_the_reference)
{
    static const struct row rows[] = {
        {"pre_d_k_a_1764510000|3600s", "d", {ENTRY("k", "a")}, 1, {.length_us = S(3600)}, false},
        {"pre_d_k_a_1764510000|60s|0.0.1",
         "d",
         {ENTRY("k", "a")},
         1,
         {.length_us = S(60), .layer = 1},
         false},
    };
    static const struct wr_redis_key_style style = {.form = WR_REDIS_KEY_REFERENCE,
                                                    .prefix = WR_STR("pre_")};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(&style, &rows[i], true, 1764510000);
    }
}

static struct wr_str key_of(const struct wr_redis_key_style *style, struct wr_arena *arena,
                            const struct row *row)
{
    struct wr_str key;

    cr_assert(write_key(style, arena, row, false, 0, &key));
    return key;
}

Test(redis_key, hashed)
{
    static const struct row plain = {NULL, "d", {ENTRY("user", "ann")}, 1, {.length_us = S(60)},
                                     false};
    static const struct row other_window = {
        NULL, "d", {ENTRY("user", "ann")}, 1, {.length_us = S(1)}, false};
    static const struct row other_value = {
        NULL, "d", {ENTRY("user", "bob")}, 1, {.length_us = S(60)}, false};
    static const struct row in_domain = {NULL, "d", {ENTRY("user", "ann")}, 1, {.length_us = S(60)},
                                         true};
    const struct wr_redis_key_style one = {.form = WR_REDIS_KEY_HASHED, .prefix = WR_STR("w:")};
    struct wr_redis_key_style other = one;
    struct wr_arena arena;

    other.secret.bytes[0] = 1;
    wr_arena_init(&arena, 65536);

    const struct wr_str key = key_of(&one, &arena, &plain);

    cr_assert_eq(key.len, strlen("w:{}|60s") + 32);
    cr_assert_eq(strspn(key.ptr + strlen("w:{"), "0123456789abcdef"), 32);
    cr_assert(wr_str_equal(key, key_of(&one, &arena, &plain)));
    cr_assert_not(wr_str_equal(key, key_of(&other, &arena, &plain)));
    cr_assert_not(wr_str_equal(key, key_of(&one, &arena, &other_value)));
    cr_assert_eq(wr_redis_key_slot(key), wr_redis_key_slot(key_of(&one, &arena, &other_window)));
    cr_assert_not(wr_str_equal(key, key_of(&one, &arena, &in_domain)));
    wr_arena_fini(&arena);
}

/* As CLUSTER KEYSLOT answers. */
Test(redis_key, slots)
{
    static const struct {
        struct wr_str key;
        uint16_t slot;
    } rows[] = {
        {WR_STR(""), 0},
        {WR_STR("123456789"), 12739},
        {WR_STR("foo"), 12182},
        {WR_STR("{foo}bar"), 12182},
        {WR_STR("bar{foo}"), 12182},
        {WR_STR("a{}foo"), 16292},
        {WR_STR("{{foo}}"), 13308},
        {WR_STR("{foo"), 13308},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_redis_key_slot(rows[i].key), rows[i].slot, "row %zu: %u", i,
                     wr_redis_key_slot(rows[i].key));
    }
}
