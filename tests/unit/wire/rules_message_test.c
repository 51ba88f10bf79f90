/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages are written by protobuf-c, by the definition in proto/, and read by Weir; those that
 * no encoder makes are in hexadecimal.
 */
#include "wire/rules_message.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ratelimit/config/ratelimit/v3/rls_conf.pb-c.h"
#include "rules/rules.h"
#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"
#include "wire/message.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

typedef Ratelimit__Config__Ratelimit__V3__RateLimitConfig config_message;
typedef Ratelimit__Config__Ratelimit__V3__RateLimitDescriptor rule_message;
typedef Ratelimit__Config__Ratelimit__V3__RateLimitPolicy limit_message;
typedef Ratelimit__Config__Ratelimit__V3__RateLimitReplace replace_message;

static const struct wr_config_bounds wide = {
    .max_file_bytes = 1 << 20, .max_depth = 64, .max_nodes = 1000};

struct bed {
    struct wr_arena arena;
    struct wr_diag diag;
    struct wr_draft draft;
    char *notes; /* as printed; owned */
};

static void bed_read(struct bed *bed, struct wr_str message, const struct wr_config_bounds *bounds)
{
    size_t len = 0;

    *bed = (struct bed){0};
    wr_arena_init(&bed->arena, 256);
    wr_diag_init(&bed->diag, 20);
    wr_rules_message_read(message, bounds, &bed->arena, &bed->diag, &bed->draft);
    wr_draft_check(&bed->draft, 0, &bed->diag);

    FILE *const out = open_memstream(&bed->notes, &len);

    cr_assert_not_null(out);
    wr_diag_print(&bed->diag, out);
    cr_assert_eq(fclose(out), 0);
}

static void bed_fini(struct bed *bed)
{
    free(bed->notes);
    wr_diag_fini(&bed->diag);
    wr_arena_fini(&bed->arena);
}

static struct wr_str packed(const config_message *config, struct wr_arena *arena)
{
    struct wr_str bytes = {0};

    cr_assert(wr_message_pack(&config->base, arena, &bytes));
    return bytes;
}

static void expect_notes(const struct wr_config_bounds *bounds, const char *hex, const char *want)
{
    const struct wr_str message = bytes_of_hex(hex);
    struct bed bed;

    bed_read(&bed, message, bounds);
    cr_assert_str_eq(bed.notes, want, "%s\n%s", hex, bed.notes);
    cr_assert_eq(bed.draft.is_refused, bed.diag.n_errors > 0);
    cr_assert_eq(bed.draft.has_warning, bed.diag.n_warnings > 0);
    bed_fini(&bed);
    bytes_free(message);
}

static char text_a[] = "a", text_b[] = "b", text_d[] = "d", text_me[] = "me", text_n[] = "n",
            text_you[] = "you";

Test(rules_message, every_field_reaches_the_draft)
{
    replace_message replace;
    limit_message limit;
    rule_message child, rule;
    config_message config;
    replace_message *replaces[] = {&replace, &replace};
    rule_message *children[] = {&child}, *rules[] = {&rule};
    struct wr_arena arena;
    struct bed bed;

    ratelimit__config__ratelimit__v3__rate_limit_replace__init(&replace);
    ratelimit__config__ratelimit__v3__rate_limit_policy__init(&limit);
    ratelimit__config__ratelimit__v3__rate_limit_descriptor__init(&child);
    ratelimit__config__ratelimit__v3__rate_limit_descriptor__init(&rule);
    ratelimit__config__ratelimit__v3__rate_limit_config__init(&config);
    replace.name = text_you;
    limit.unit = RATELIMIT__CONFIG__RATELIMIT__V3__RATE_LIMIT_UNIT__WEEK;
    limit.requests_per_unit = UINT32_MAX;
    limit.name = text_me;
    limit.replaces = replaces;
    limit.n_replaces = COUNT(replaces);
    child.key = text_b;
    child.rate_limit = &limit;
    child.shadow_mode = child.detailed_metric = child.quota_mode = 1;
    rule.key = text_a;
    rule.value = text_b;
    rule.descriptors = children;
    rule.n_descriptors = 1;
    config.name = text_n;
    config.domain = text_d;
    config.descriptors = rules;
    config.n_descriptors = 1;
    wr_arena_init(&arena, 256);
    bed_read(&bed, packed(&config, &arena), &wide);
    cr_assert_str_eq(bed.notes, "");
    cr_assert_eq(bed.draft.n_rules, 1u);

    const struct wr_draft_rule *const read = &bed.draft.rules[0];
    const struct wr_draft_rule *const within = &read->children[0];

    cr_assert(wr_str_equal(bed.draft.source, wr_str_of("resource n")));
    cr_assert(wr_str_equal(bed.draft.domain, wr_str_of("d")));
    cr_assert(wr_str_equal(read->key, wr_str_of("a")) && wr_str_equal(read->value, wr_str_of("b")));
    cr_assert_not(read->has_limit || read->is_shadow || read->is_quota ||
                  read->has_detailed_metric);
    cr_assert_eq(read->n_children, 1u);
    cr_assert(within->has_limit && within->is_shadow && within->is_quota &&
              within->has_detailed_metric);
    cr_assert(wr_str_equal(within->limit.unit, wr_str_of("week")));
    cr_assert_eq(within->limit.requests_per_unit, UINT32_MAX);
    cr_assert(wr_str_equal(within->limit.name, wr_str_of("me")));
    cr_assert_eq(within->limit.n_replaces, 2u);
    cr_assert(wr_str_equal(within->limit.replaces[1].name, wr_str_of("you")));
    bed_fini(&bed);
    wr_arena_fini(&arena);
}

Test(rules_message, units_have_their_names)
{
    static const char *const names[] = {"second", "minute", "hour", "day", "month", "year", "week"};

    for (unsigned i = 0; i < COUNT(names); i++) {
        char hex[64];
        struct bed bed;

        (void) snprintf(hex, sizeof hex, "120164 1a07 0a0161 1a02 08%02x", i + 1);

        const struct wr_str message = bytes_of_hex(hex);

        bed_read(&bed, message, &wide);
        cr_assert_str_eq(bed.notes, "");
        cr_assert(wr_str_equal(bed.draft.rules[0].limit.unit, wr_str_of(names[i])), "%s", names[i]);
        bed_fini(&bed);
        bytes_free(message);
    }
}

#define UNITS "one of second, minute, hour, day, week, month, year\n"
#define UNKNOWN "this version of Weir does not know it, or not with a value of its kind\n"

Test(rules_message, notes_name_the_spot)
{
    static const struct {
        const char *hex, *notes;
    } rows[] = {
        {"0a0161", "resource a: domain: error: the resource has no `domain`\n"},
        {"0a0161 120164 1a00", "resource a: descriptors[0]: error: a descriptor has no `key` (in "
                               "d.(descriptor 1)); as in `- key: "
                               "user`\n"},
        {"0a0161 120164 1a05 0a0161 1a00", "resource a: descriptors[0].rate_limit: error: "
                                           "`rate_limit` has no `unit` (in d.a); " UNITS},
        {"0a0161 120164 1a03 0a0161 1a0d 0a0162 2208 0a0163 1a03 08d804",
         "resource a: descriptors[1].descriptors[0].rate_limit.unit: error: `600` is not a unit "
         "(in "
         "d.b.c); " UNITS},
        {"0a0161 120164 1a0d 0a0161 1a08 0801 10 8080808010",
         "resource a: descriptors[0].rate_limit.requests_per_unit: error: `requests_per_unit` must "
         "be a whole number from 0 to 4294967295, not 4294967296 (in d.a)\n"},
        {"0a0161 120164 1a09 0a0161 1a04 0801 2a00",
         "resource a: descriptors[0].rate_limit.replaces[0]: error: an entry of `replaces` has no "
         "`name` (in d.a); as in `replaces: [{name: other}]`\n"},
        {"0a0161 120164 1a03 0a0161 1a03 0a0162 1a03 0a0161",
         "resource a: descriptors[2]: error: key `a` with no value is already defined at resource "
         "a: descriptors[0] (in d.a); join the two into one rule, and their `descriptors` into one "
         "list of children\n"},
        {"0a0161 120164 1a06 0a0161 1201ff",
         "resource a: descriptors[0].value: error: the text is not UTF-8 (in d.a_?)\n"},
        {"0a01611201641a0a0a016142050a030a01ff",
         "resource a: error: the message is not valid UTF-8 (byte 17); it must be a "
         "RateLimitConfig\n"},
        {"0a036e006d 120164 1aff",
         "resource n?m: error: the message ends in the middle of a field (byte 10); it must be a "
         "RateLimitConfig\n"},
        {"120164 1aff", "resource d: error: the message ends in the middle of a field (byte 5);"
                        " it must be a RateLimitConfig\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_notes(&wide, rows[i].hex, rows[i].notes);
    }
}

/* By level: the message, a descriptor, a limit, an entry of replaces; then a number of the wrong
 * kind. */
Test(rules_message, what_is_not_known_draws_a_warning)
{
    static const struct {
        const char *hex, *notes;
    } rows[] = {
        {"0a0161 120164 4801", "resource a: warning: field number 9 has no effect; " UNKNOWN},
        {"0a01611201641a080a01614d00000000",
         "resource a: descriptors[0]: warning: field number 9 has no effect (in d.a); " UNKNOWN},
        {"0a01611201641a0a0a01611a050801320161",
         "resource a: descriptors[0].rate_limit: warning: field number 6 has no effect (in "
         "d.a); " UNKNOWN},
        {"0a01611201641a0e0a01611a0908012a050a01621001",
         "resource a: descriptors[0].rate_limit.replaces[0]: warning: field number 2 has no effect "
         "(in d.a); " UNKNOWN},
        {"0a01611201641a060a01612a0178",
         "resource a: descriptors[0]: warning: field number 5 has no effect (in d.a); " UNKNOWN},
        {"0a01611201641a150a016142100a0e0a0178120911000000000000f07f",
         "resource a: descriptors[0].metadata: warning: a number in `metadata` is infinite, or "
         "none "
         "(in d.a); JSON has no such number\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_notes(&wide, rows[i].hex, rows[i].notes);
    }
}

Test(rules_message, has_the_bounds_of_files)
{
    const struct wr_config_bounds shallow = {
        .max_file_bytes = 1 << 20, .max_depth = 1, .max_nodes = 1000};
    const struct wr_config_bounds few = {
        .max_file_bytes = 1 << 20, .max_depth = 64, .max_nodes = 5};
    const struct wr_config_bounds full = {
        .max_file_bytes = 1 << 20, .max_depth = 1, .max_nodes = 6};
    const struct wr_config_bounds small = {.max_file_bytes = 11, .max_depth = 9, .max_nodes = 9};

    expect_notes(&shallow, "0a0161 120164 1a08 0a0161 2203 0a0162",
                 "resource a: descriptors[0]: error: `descriptors` are nested deeper than 1 levels "
                 "(in d.a); raise --max-rules-depth\n");
    expect_notes(&shallow, "0a01611201641a0e0a016142090a070a017812022a00",
                 "resource a: descriptors[0].metadata: error: `metadata` is nested deeper than 1 "
                 "levels (in d.a); raise --max-rules-depth\n");
    expect_notes(&few, "0a0161 120164 1a06 0a0161 120162", "");
    expect_notes(&few, "0a0161 120164 1a08 0a0161 120162 2801",
                 "resource a: descriptors[0]: error: more than 5 fields (in d.a_b); raise "
                 "--max-rules-nodes, or split the domain\n");
    expect_notes(&few, "0a0161 120164 1a00 1a00 1a00 1a00",
                 "resource a: error: more than 5 fields (in d); raise --max-rules-nodes, or split "
                 "the domain\n");
    expect_notes(&full, "0a01611201641a0e0a016142090a070a017812022a00",
                 "resource a: descriptors[0].metadata: error: `metadata` is nested deeper than 1 "
                 "levels (in d.a); raise --max-rules-depth\n");
    expect_notes(&small, "0a0161 120164 1a03 0a0161", "");
    expect_notes(
        &small, "0a0162 120164 1a04 0a026161",
        "resource b: error: 12 bytes, more than 11; raise --max-rules-file-bytes, or split "
        "the domain\n");
}

/* Split in two on the wire, which is how protobuf merges messages: number and unit stay. */
Test(rules_message, two_limits_of_a_rule_are_one)
{
    const struct wr_str message =
        bytes_of_hex("1201641a150a01611a0708012a030a01621a0710052a030a0163");
    struct bed bed;

    bed_read(&bed, message, &wide);
    cr_assert_str_eq(bed.notes, "");

    const struct wr_draft_limit *const limit = &bed.draft.rules[0].limit;

    cr_assert_eq(limit->requests_per_unit, 5u);
    cr_assert(wr_str_equal(limit->unit, wr_str_of("second")));
    cr_assert_eq(limit->n_replaces, 2u);
    cr_assert(wr_str_equal(limit->replaces[0].name, wr_str_of("b")));
    cr_assert(wr_str_equal(limit->replaces[1].name, wr_str_of("c")));
    bed_fini(&bed);
    bytes_free(message);
}

/* A rule with limits of `sizes` entries in `replaces`, each entry empty. */
static struct wr_str with_replaces(const size_t *sizes, size_t n)
{
    char bytes[4096] = "\x12\x01\x64\x1a";
    size_t len = 6;

    for (size_t i = 0; i < n; i++) {
        bytes[len++] = 0x1a;
        bytes[len++] = (char) (0x80 | (2 * sizes[i] & 0x7f));
        bytes[len++] = (char) (2 * sizes[i] >> 7);
        for (size_t k = 0; k < sizes[i]; k++) {
            bytes[len++] = 0x2a;
            bytes[len++] = 0;
        }
    }
    bytes[4] = (char) (0x80 | ((len - 6) & 0x7f));
    bytes[5] = (char) ((len - 6) >> 7);
    return bytes_copy((struct wr_str){.ptr = bytes, .len = len});
}

/* What is merged is copied, and copies count. */
Test(rules_message, makes_no_room_for_more_than_may_be)
{
    static const struct {
        size_t sizes[3], n, max_nodes;
        bool is_too_many;
    } rows[] = {
        {{1000}, 1, 1003, false}, {{1000}, 1, 1002, true},      {{100, 1}, 2, 205, false},
        {{100, 1}, 2, 204, true}, {{100, 0, 1}, 3, 206, false}, {{100, 0, 1}, 3, 205, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_config_bounds bounds = {
            .max_file_bytes = 1 << 20, .max_depth = 9, .max_nodes = rows[i].max_nodes};
        const struct wr_str message = with_replaces(rows[i].sizes, rows[i].n);
        struct wr_arena arena;
        struct wr_draft draft;
        struct wr_diag diag;

        wr_arena_init(&arena, 16 << 10);
        wr_diag_init(&diag, 20);
        wr_rules_message_read(message, &bounds, &arena, &diag, &draft);
        cr_assert_eq(diag.n_errors > 0, rows[i].is_too_many, "%zu", i);
        if (rows[i].is_too_many) {
            cr_assert_eq(arena.total_size, arena.first_size, "%zu", i);
        }
        wr_diag_fini(&diag);
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}

static const char one_of_each[] =
    "0a016112016448011a2d0a01611201621a0b08c80110052a040a026162420d0a0b0a017812063204"
    "0a02200122090a01631a0408011005";

static bool reads(struct wr_arena *arena, const void *context)
{
    const struct wr_str *const message = context;
    struct wr_diag diag;
    struct wr_draft draft;

    wr_diag_init(&diag, 20);
    wr_rules_message_read(*message, &wide, arena, &diag, &draft);
    cr_assert(!draft.lacks_memory || draft.is_refused);
    wr_diag_fini(&diag);
    return !draft.lacks_memory;
}

Test(rules_message, survives_running_out_of_memory)
{
    const struct wr_str message = bytes_of_hex(one_of_each);

    cr_assert_gt(failing_sweep(reads, &message), 3u);
    bytes_free(message);
}

Test(rules_message, becomes_a_snapshot_as_files_do)
{
    const struct wr_str message = bytes_of_hex("1201641a0c0a01611201621a0408021007");
    struct wr_rules *rules = NULL;
    struct bed bed;

    bed_read(&bed, message, &wide);

    struct wr_draft *const drafts[] = {&bed.draft};
    const struct wr_entry entry = {.key = WR_STR("a"), .value = WR_STR("b")};

    cr_assert_eq(wr_rules_new(drafts, 1, &rules), WR_OK);

    const struct wr_node *const node =
        wr_domain_match(wr_rules_domain(rules, wr_str_of("d")), &entry, 1);

    cr_assert_not_null(node);
    cr_assert_eq(node->n_rules, 1u);
    cr_assert_eq(node->rules[0].limit.requests, 7u);
    cr_assert_eq(node->rules[0].limit.length_us, 60000000);
    wr_rules_release(rules);
    bed_fini(&bed);
    bytes_free(message);
}

Test(rules_message, a_name_has_a_bound)
{
    limit_message limit;
    rule_message rule;
    config_message config;
    rule_message *rules[] = {&rule};
    char name[257] = "";

    ratelimit__config__ratelimit__v3__rate_limit_policy__init(&limit);
    ratelimit__config__ratelimit__v3__rate_limit_descriptor__init(&rule);
    ratelimit__config__ratelimit__v3__rate_limit_config__init(&config);
    limit.unit = RATELIMIT__CONFIG__RATELIMIT__V3__RATE_LIMIT_UNIT__WEEK;
    limit.name = name;
    rule.key = text_a;
    rule.rate_limit = &limit;
    config.name = text_n;
    config.domain = text_d;
    config.descriptors = rules;
    config.n_descriptors = COUNT(rules);
    for (size_t len = 255; len <= 256; len++) {
        struct wr_arena arena;
        struct bed bed;

        memset(name, 'x', len);
        wr_arena_init(&arena, 1024);
        bed_read(&bed, packed(&config, &arena), &wide);
        cr_assert_str_eq(bed.notes,
                         len == 255 ? ""
                                    : "resource n: descriptors[0].rate_limit.name: error: `name` "
                                      "has 256 bytes, more than 255 (in d.a); each answer carries "
                                      "it, once a descriptor\n");
        bed_fini(&bed);
        wr_arena_fini(&arena);
    }
}
