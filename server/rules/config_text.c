/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "limit/limit.h"
#include "rules/config_scalar.h"
#include "rules/near.h"

#define WANTED_SIZE 64

/* A scalar of the right kind of node that is not what was wanted. */
static void refuse_scalar(struct wr_config_reader *reader, const struct wr_config_node *scalar,
                          enum wr_config_key key, const struct wr_rule_path *path,
                          const char *wanted, const char *hint)
{
    const bool is_text = !scalar->is_plain || scalar->tag.len > 0;

    wr_config_error(
        reader, scalar, path, is_text ? "without quotes and without a tag" : hint,
        is_text ? "`%s` must be %s, not the text \"%.*s\"" : "`%s` must be %s, not %.*s",
        wr_config_key_name(key), wanted, wr_config_shown(scalar->text), scalar->text.ptr);
}

bool wr_config_is_null(const struct wr_config_node *node)
{
    return node->kind == WR_CONFIG_SCALAR && wr_scalar_of(node).kind == WR_SCALAR_NULL;
}

static void refuse_number(struct wr_config_reader *reader, const struct wr_config_node *scalar,
                          enum wr_config_key key, const struct wr_rule_path *path, const char *what)
{
    const int shown = wr_config_shown(scalar->text);
    char hint[160];

    (void) snprintf(hint, sizeof hint, "quote it if it is meant as a text: \"%.*s\"", shown,
                    scalar->text.ptr);
    wr_config_error(reader, scalar, path, hint, "`%s` is a number %s, %.*s",
                    wr_config_key_name(key), what, shown, scalar->text.ptr);
}

bool wr_config_is_allowed(struct wr_config_reader *reader, const struct wr_config_node *scalar,
                          enum wr_config_key key, const struct wr_rule_path *path)
{
    switch (wr_scalar_of(scalar).kind) {
    case WR_SCALAR_FLOAT:
        refuse_number(reader, scalar, key, path, "with a fraction");
        return false;
    case WR_SCALAR_BIG:
        refuse_number(reader, scalar, key, path, "above 64 bits");
        return false;
    case WR_SCALAR_BAD:
        wr_config_error(reader, scalar, path, "leave the tag out",
                        "`%s` is not what its tag `%.*s` says", wr_config_key_name(key),
                        wr_config_shown(scalar->tag), scalar->tag.ptr);
        return false;
    case WR_SCALAR_NULL:
    case WR_SCALAR_BOOL:
    case WR_SCALAR_INT:
    case WR_SCALAR_TEXT:
    default:
        return true;
    }
}

static bool is_scalar(struct wr_config_reader *reader, const struct wr_config_node *node,
                      enum wr_config_key key, const struct wr_rule_path *path, const char *wanted)
{
    if (node->kind == WR_CONFIG_SCALAR) {
        return true;
    }
    wr_config_error(reader, node, path, wr_config_key_example(key), "`%s` must be %s, not %s",
                    wr_config_key_name(key), wanted, wr_config_kind_name(node->kind));
    return false;
}

bool wr_config_text(struct wr_config_reader *reader, const struct wr_config_node *node,
                    enum wr_config_key key, const struct wr_rule_path *path,
                    struct wr_str *out_text)
{
    if (!is_scalar(reader, node, key, path, "a text") ||
        !wr_config_is_allowed(reader, node, key, path)) {
        return false;
    }
    *out_text = wr_config_is_null(node) ? (struct wr_str){0} : node->text;
    return true;
}

static void refuse_empty(struct wr_config_reader *reader, const struct wr_config_node *node,
                         enum wr_config_key key, const struct wr_rule_path *path)
{
    wr_config_error(reader, node, path, "remove it", "`%s` is empty", wr_config_key_name(key));
}

bool wr_config_word(struct wr_config_reader *reader, const struct wr_config_node *node,
                    enum wr_config_key key, const struct wr_rule_path *path,
                    struct wr_draft_text *out_word)
{
    if (!is_scalar(reader, node, key, path, "a text")) {
        return false;
    }
    if (wr_config_is_null(node)) {
        *out_word = (struct wr_draft_text){0};
        return true;
    }
    if (node->text.len == 0) {
        refuse_empty(reader, node, key, path);
        return false;
    }
    *out_word = (struct wr_draft_text){.text = node->text, .place = wr_config_place(reader, node)};
    return true;
}

bool wr_config_switch(struct wr_config_reader *reader, const struct wr_config_node *node,
                      enum wr_config_key key, const struct wr_rule_path *path, bool *out_is_on)
{
    if (!is_scalar(reader, node, key, path, "true or false")) {
        return false;
    }

    const struct wr_scalar scalar = wr_scalar_of(node);

    if (scalar.kind != WR_SCALAR_BOOL && scalar.kind != WR_SCALAR_NULL) {
        refuse_scalar(reader, node, key, path, "true or false", NULL);
        return false;
    }
    *out_is_on = scalar.boolean;
    return true;
}

static void warn_spelling(struct wr_config_reader *reader, const struct wr_config_node *node,
                          enum wr_config_key key, const struct wr_rule_path *path, uint64_t number)
{
    char hint[64];

    (void) snprintf(hint, sizeof hint, "write %" PRIu64, number);
    wr_config_warn(reader, node, path, hint, "`%s: %.*s` is read as %" PRIu64,
                   wr_config_key_name(key), wr_config_shown(node->text), node->text.ptr, number);
}

/* Digits, parted by commas as in 1,000. */
static bool has_comma(struct wr_str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != ',' && (text.ptr[i] < '0' || text.ptr[i] > '9')) {
            return false;
        }
        n += text.ptr[i] == ',';
    }
    return n > 0;
}

/* What does not fit into 32 bits, or is no whole number at all. */
static void refuse_whole(struct wr_config_reader *reader, const struct wr_config_node *node,
                         enum wr_config_key key, const struct wr_rule_path *path, bool is_whole)
{
    static const struct {
        uint32_t min, max; /* max 0: the largest number of all */
    } ranges[WR_KEY_COUNT] = {
        [WR_KEY_UNIT_MULTIPLIER] = {.min = 1},
        [WR_KEY_BURST] = {.min = 1},
        [WR_KEY_BUCKETS] = {.min = 1, .max = WR_BUCKETS_MAX},
        [WR_KEY_IPV4] = {.max = 32},
        [WR_KEY_IPV6] = {.max = 128},
    };
    const uint32_t max = ranges[key].max == 0 ? UINT32_MAX : ranges[key].max;
    const char *hint = NULL;
    char wanted[WANTED_SIZE];

    (void) snprintf(wanted, sizeof wanted, "a whole number from %" PRIu32 " to %" PRIu32,
                    ranges[key].min, max);
    if (is_whole && key == WR_KEY_REQUESTS_PER_UNIT) {
        hint = "`unlimited: true` is a limit that refuses nothing";
    } else if (has_comma(node->text)) {
        hint = "digits alone, as in 1000";
    }
    refuse_scalar(reader, node, key, path, wanted, hint);
}

bool wr_config_number(struct wr_config_reader *reader, const struct wr_config_node *node,
                      enum wr_config_key key, const struct wr_rule_path *path, uint32_t *out_number)
{
    if (!is_scalar(reader, node, key, path, "a whole number")) {
        return false;
    }

    const struct wr_scalar scalar = wr_scalar_of(node);
    const bool is_whole = scalar.kind == WR_SCALAR_INT || scalar.kind == WR_SCALAR_BIG;

    if (scalar.kind == WR_SCALAR_NULL) {
        *out_number = 0;
        return true;
    }
    if (!is_whole || scalar.magnitude > UINT32_MAX ||
        (scalar.is_negative && scalar.magnitude > 0)) {
        refuse_whole(reader, node, key, path, is_whole);
        return false;
    }
    if (!scalar.is_plain_digits) {
        warn_spelling(reader, node, key, path, scalar.magnitude);
    }
    *out_number = (uint32_t) scalar.magnitude;
    return true;
}

bool wr_config_placed_number(struct wr_config_reader *reader, const struct wr_config_node *node,
                             enum wr_config_key key, const struct wr_rule_path *path,
                             struct wr_draft_number *out_number)
{
    struct wr_draft_number number = {.is_set = !wr_config_is_null(node),
                                     .place = wr_config_place(reader, node)};

    if (!wr_config_number(reader, node, key, path, &number.number)) {
        return false;
    }
    *out_number = number;
    return true;
}

/* False, after a note that the word is none of the key's, which are listed. */
static bool refuse_word(struct wr_config_reader *reader, const struct wr_config_node *node,
                        enum wr_config_key key, const struct wr_rule_path *path, const char *list)
{
    char near[WR_NEAR_HINT_SIZE];

    if (node->text.len == 0) {
        refuse_empty(reader, node, key, path);
    } else {
        wr_config_error(reader, node, path, wr_near_hint(node->text, list, near),
                        "`%.*s` is not a `%s`", wr_config_shown(node->text), node->text.ptr,
                        wr_config_key_name(key));
    }
    return false;
}

bool wr_config_count(struct wr_config_reader *reader, const struct wr_config_node *node,
                     const struct wr_rule_path *path, struct wr_policy *policy)
{
    struct wr_str text;

    if (!wr_config_text(reader, node, WR_KEY_COUNTS, path, &text)) {
        return false;
    }
    policy->has_count = wr_count_of_name(text, &policy->count);
    return policy->has_count || wr_config_is_null(node) ||
           refuse_word(reader, node, WR_KEY_COUNTS, path, "one of all, admitted, all_or_nothing");
}

bool wr_config_failure_mode(struct wr_config_reader *reader, const struct wr_config_node *node,
                            const struct wr_rule_path *path, struct wr_policy *policy)
{
    struct wr_str text;

    if (!wr_config_text(reader, node, WR_KEY_FAILURE_MODE, path, &text)) {
        return false;
    }
    policy->has_failure_mode = wr_failure_mode_of_name(text, &policy->failure_mode);
    return policy->has_failure_mode || wr_config_is_null(node) ||
           refuse_word(reader, node, WR_KEY_FAILURE_MODE, path, "one of error, allow, deny, local");
}
