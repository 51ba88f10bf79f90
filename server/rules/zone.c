/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/zone_rule.h"

#define DIRECTORY "/usr/share/zoneinfo/"
#define NAME_MAX_LEN 64
#define FIRST_CHUNK_SIZE 16384
#define FILE_MAX_SIZE (64 * 1024)
#define HEADER_SIZE 44
#define TYPE_SIZE 6
#define FIRST_YEAR 1970
#define US_PER_SECOND INT64_C(1000000)
#define TIME_MAX_S (INT64_MAX / US_PER_SECOND)
/* What each year of a rule can add, and the change that the epoch cuts. */
#define MAX_RULE_CHANGES (2 * (WR_ZONE_LAST_YEAR - FIRST_YEAR))

/* The counts of a header, in its order. */
struct counts {
    uint32_t is_ut, is_standard, leap, time, type, letters;
};

static uint64_t get_number(const unsigned char *at, size_t n_bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        number = number << 8 | at[i];
    }
    return number;
}

/* Two's complement of 32 bits. */
static int32_t get_signed(const unsigned char *at)
{
    const int64_t number = (int64_t) get_number(at, 4);

    return (int32_t) (number > INT32_MAX ? number - (INT64_C(1) << 32) : number);
}

static int64_t get_time(const unsigned char *at)
{
    const uint64_t number = get_number(at, 8);

    return number > INT64_MAX ? -(int64_t) (UINT64_MAX - number) - 1 : (int64_t) number;
}

static bool read_header(struct wr_str bytes, struct counts *out)
{
    const unsigned char *const at = (const unsigned char *) bytes.ptr;
    uint32_t *const counts[] = {&out->is_ut, &out->is_standard, &out->leap,
                                &out->time,  &out->type,        &out->letters};

    if (bytes.len < HEADER_SIZE || memcmp(at, "TZif", 4) != 0 || at[4] < '2') {
        return false;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint64_t count = get_number(at + 20 + 4 * i, 4);

        if (count > FILE_MAX_SIZE) {
            return false;
        }
        *counts[i] = (uint32_t) count;
    }
    return true;
}

/* The size of what follows a header, with times of so many bytes. */
static size_t size_of(const struct counts *counts, size_t time_size)
{
    return counts->time * (time_size + 1) + counts->type * (size_t) TYPE_SIZE + counts->letters +
           counts->leap * (time_size + 4) + counts->is_standard + counts->is_ut;
}

/* A zone being made; `all` has room. Its first transition is at the epoch. */
struct builder {
    struct wr_zone_transition *all;
    size_t n;
};

/* The offset changes to `offset_s` at `from_s`, which comes after what there is. */
static void add(struct builder *builder, int64_t from_s, int32_t offset_s)
{
    struct wr_zone_transition *const last = &builder->all[builder->n - 1];

    if (from_s <= 0) {
        last->offset_s = offset_s;
    } else if (offset_s != last->offset_s) {
        builder->all[builder->n++] =
            (struct wr_zone_transition){.from_us = from_s * US_PER_SECOND, .offset_s = offset_s};
    }
}

/* The changes that are listed. False when the file is at odds with itself. */
static bool add_listed(struct builder *builder, const unsigned char *at,
                       const struct counts *counts)
{
    const unsigned char *const kinds = at + 8 * (size_t) counts->time;
    const unsigned char *const types = kinds + counts->time;
    int64_t last_s = INT64_MIN;

    builder->all[builder->n++] = (struct wr_zone_transition){.offset_s = get_signed(types)};
    for (size_t i = 0; i < counts->time; i++) {
        const int64_t from_s = get_time(at + 8 * i);

        if (kinds[i] >= counts->type || (i > 0 && from_s <= last_s) || from_s > TIME_MAX_S) {
            return false;
        }
        add(builder, from_s, get_signed(types + (size_t) TYPE_SIZE * kinds[i]));
        last_s = from_s;
    }
    return true;
}

/* The changes by rule behind `last_s`. */
static void add_by_rule(struct builder *builder, const struct wr_zone_rule *rule, int64_t last_s)
{
    if (!rule->has_summer) {
        return;
    }
    for (int year = FIRST_YEAR; year < WR_ZONE_LAST_YEAR; year++) {
        const int64_t begin_s = wr_zone_day_moment_s(&rule->begin, year, rule->standard_s);
        const int64_t end_s = wr_zone_day_moment_s(&rule->end, year, rule->summer_s);
        const bool begins_first = begin_s < end_s;
        const int64_t first_s = begins_first ? begin_s : end_s;
        const int64_t second_s = begins_first ? end_s : begin_s;

        if (first_s > last_s) {
            add(builder, first_s, begins_first ? rule->summer_s : rule->standard_s);
        }
        if (second_s > last_s) {
            add(builder, second_s, begins_first ? rule->standard_s : rule->summer_s);
        }
    }
}

/* Whether all offsets are such as clocks have. */
static bool has_clocks(const struct builder *builder)
{
    for (size_t i = 0; i < builder->n; i++) {
        if (builder->all[i].offset_s > WR_ZONE_OFFSET_MAX_S ||
            builder->all[i].offset_s < -WR_ZONE_OFFSET_MAX_S) {
            return false;
        }
    }
    return true;
}

/* The last line, between two line feeds. False when there is none. */
static bool read_rule(struct wr_str rest, struct wr_zone_rule *out_rule, bool *out_has_rule)
{
    if (rest.len < 2 || rest.ptr[0] != '\n') {
        return false;
    }
    rest = wr_str_skip(rest, 1);

    const size_t end = wr_str_find(rest, '\n');

    if (end == rest.len) {
        return false;
    }
    rest.len = end;
    *out_has_rule = rest.len > 0;
    return rest.len == 0 || wr_zone_rule_parse(rest, out_rule);
}

enum wr_zone_fault wr_zone_parse(struct wr_arena *arena, struct wr_str bytes,
                                 struct wr_zone *out_zone)
{
    struct builder builder = {0};
    struct counts old, counts;
    struct wr_zone_rule rule;
    bool has_rule = false;

    /* What is there for readers of old is passed over. */
    if (bytes.len > FILE_MAX_SIZE || !read_header(bytes, &old) ||
        size_of(&old, 4) > bytes.len - HEADER_SIZE) {
        return WR_ZONE_UNKNOWN;
    }
    bytes = wr_str_skip(bytes, HEADER_SIZE + size_of(&old, 4));
    if (!read_header(bytes, &counts) || size_of(&counts, 8) > bytes.len - HEADER_SIZE ||
        counts.type == 0 || counts.leap > 0) {
        return WR_ZONE_UNKNOWN;
    }

    const unsigned char *const data = (const unsigned char *) bytes.ptr + HEADER_SIZE;

    if (!read_rule(wr_str_skip(bytes, HEADER_SIZE + size_of(&counts, 8)), &rule, &has_rule)) {
        return WR_ZONE_UNKNOWN;
    }
    builder.all = wr_arena_calloc(arena, 1 + counts.time + MAX_RULE_CHANGES, sizeof *builder.all);
    if (builder.all == NULL) {
        return WR_ZONE_NO_MEMORY;
    }
    if (!add_listed(&builder, data, &counts)) {
        return WR_ZONE_UNKNOWN;
    }
    if (has_rule) {
        add_by_rule(&builder, &rule,
                    counts.time == 0 ? INT64_MIN : get_time(data + 8 * (size_t) (counts.time - 1)));
    }
    if (!has_clocks(&builder)) {
        return WR_ZONE_UNKNOWN;
    }
    *out_zone = (struct wr_zone){.transitions = builder.all, .n = builder.n};
    return WR_ZONE_GOOD;
}

/* A name leads to a file of the database, and nowhere else. */
static bool is_name(struct wr_str name)
{
    static const struct wr_str leap_seconds = WR_STR("right/");

    if (name.len == 0 || name.len > NAME_MAX_LEN || name.ptr[0] == '/' ||
        wr_str_has_prefix(name, leap_seconds)) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '/' && c != '_' && c != '+' && c != '-') {
            return false;
        }
    }
    return true;
}

enum wr_zone_fault wr_zone_load(struct wr_arena *arena, struct wr_str name,
                                struct wr_zone *out_zone)
{
    char path[sizeof DIRECTORY + NAME_MAX_LEN];
    enum wr_zone_fault fault = WR_ZONE_UNKNOWN;

    if (!is_name(name)) {
        return WR_ZONE_UNKNOWN;
    }
    (void) snprintf(path, sizeof path, "%s%.*s", DIRECTORY, (int) name.len, name.ptr);

    FILE *const file = fopen(path, "rb");

    if (file == NULL) {
        return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? WR_ZONE_NO_MEMORY
                                                                     : WR_ZONE_UNKNOWN;
    }

    char *const bytes = malloc(FILE_MAX_SIZE + 1);

    if (bytes == NULL) {
        fault = WR_ZONE_NO_MEMORY;
    } else {
        const size_t len = fread(bytes, 1, FILE_MAX_SIZE + 1, file);

        fault = wr_zone_parse(arena, (struct wr_str){.ptr = bytes, .len = len}, out_zone);
    }
    free(bytes);
    (void) fclose(file);
    return fault;
}

bool wr_zone_is_unknown(struct wr_str name)
{
    struct wr_arena arena;
    struct wr_zone zone;

    wr_arena_init(&arena, FIRST_CHUNK_SIZE);

    const bool is_unknown = wr_zone_load(&arena, name, &zone) == WR_ZONE_UNKNOWN;

    wr_arena_fini(&arena);
    return is_unknown;
}
