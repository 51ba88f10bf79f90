/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A level of descriptors is gone over three times: for what notes name (key and value), for its own
 * fields, and for its children, since fields come in any order. Each time what is within is passed
 * over by its length.
 */
#include "wire/rules_message.h"

#include <math.h>
#include <string.h>

#include "wire/limit_message.h"
#include "wire/rules_reader.h"
#include "wire/struct_value.h"

/* The fields of RateLimitConfig. */
#define CONFIG_NAME WR_TAG(1, WR_WIRE_BYTES)
#define CONFIG_DOMAIN WR_TAG(2, WR_WIRE_BYTES)
#define CONFIG_DESCRIPTORS WR_TAG(3, WR_WIRE_BYTES)
/* RateLimitDescriptor. */
#define RULE_KEY WR_TAG(1, WR_WIRE_BYTES)
#define RULE_VALUE WR_TAG(2, WR_WIRE_BYTES)
#define RULE_RATE_LIMIT WR_TAG(3, WR_WIRE_BYTES)
#define RULE_DESCRIPTORS WR_TAG(4, WR_WIRE_BYTES)
#define RULE_SHADOW_MODE WR_TAG(5, WR_WIRE_VARINT)
#define RULE_DETAILED_METRIC WR_TAG(6, WR_WIRE_VARINT)
#define RULE_QUOTA_MODE WR_TAG(7, WR_WIRE_VARINT)
#define RULE_METADATA WR_TAG(8, WR_WIRE_BYTES)

static bool has_odd_number(const struct wr_value *value)
{
    bool is_odd = value->kind == WR_VALUE_NUMBER && !isfinite(value->as.number);

    for (size_t i = 0; value->kind == WR_VALUE_LIST && i < value->as.list.n && !is_odd; i++) {
        is_odd = has_odd_number(&value->as.list.items[i]);
    }
    for (size_t i = 0; value->kind == WR_VALUE_MAP && i < value->as.map.n && !is_odd; i++) {
        is_odd = has_odd_number(&value->as.map.members[i].value);
    }
    return is_odd;
}

static void read_metadata(struct wr_rules_reader *reader, struct wr_str message,
                          const struct wr_rules_subject *of_rule, struct wr_draft_rule *rule)
{
    const struct wr_spot spot = {
        .parent = of_rule->spot, .name = "metadata", .index = WR_SPOT_SINGLE};
    const struct wr_rules_subject subject = {&spot, of_rule->path};

    switch ((int) wr_struct_value_read(message, &reader->counted, reader->arena, &reader->scan,
                                       &rule->metadata)) {
    case WR_OK:
        rule->has_metadata = true;
        if (has_odd_number(&rule->metadata)) {
            wr_rules_note(reader, WR_SEVERITY_WARNING, &subject, "JSON has no such number",
                          "a number in `metadata` is infinite, or none");
        }
        break;
    case WR_ERR_TOO_LARGE:
        if (reader->counted.is_too_deep) {
            wr_rules_note(reader, WR_SEVERITY_ERROR, &subject, "raise --max-rules-depth",
                          "`metadata` is nested deeper than %zu levels", reader->bounds->max_depth);
        } else {
            wr_rules_too_many(reader, &subject);
        }
        break;
    case WR_ERR_NO_MEMORY:
        wr_rules_no_memory(reader);
        break;
    default:
        break; /* of the scan, which is told at the end */
    }
}

static void read_rule_field(struct wr_rules_reader *reader, struct wr_fields *fields,
                            const struct wr_rules_subject *subject, struct wr_draft_rule *rule)
{
    switch (fields->tag) {
    case RULE_KEY:
        rule->key = wr_rules_text(reader, fields, subject, "key");
        break;
    case RULE_VALUE:
        rule->value = wr_rules_text(reader, fields, subject, "value");
        break;
    case RULE_RATE_LIMIT:
        wr_rules_limit_read(reader, wr_fields_bytes(fields), subject, rule);
        break;
    case RULE_DESCRIPTORS:
        wr_fields_skip(fields);
        break;
    case RULE_SHADOW_MODE:
        rule->is_shadow = wr_rules_switch(reader, fields, subject);
        break;
    case RULE_DETAILED_METRIC:
        rule->has_detailed_metric = wr_rules_switch(reader, fields, subject);
        break;
    case RULE_QUOTA_MODE:
        rule->is_quota = wr_rules_switch(reader, fields, subject);
        break;
    case RULE_METADATA:
        read_metadata(reader, wr_fields_bytes(fields), subject, rule);
        break;
    default:
        wr_rules_skip_unknown(reader, fields, subject);
        break;
    }
}

/* The last text of that tag, for the path in messages. */
static struct wr_str peek_text(struct wr_rules_reader *reader, struct wr_str message, uint32_t tag)
{
    struct wr_fields fields = wr_fields_of(&reader->scan, message);
    struct wr_str text = {.ptr = ""};

    while (wr_rules_next(reader, &fields)) {
        if (fields.tag == tag) {
            text = wr_fields_bytes(&fields);
        } else {
            wr_fields_skip(&fields);
        }
    }
    return text;
}

static void read_rules(struct wr_rules_reader *reader, struct wr_str message, uint32_t tag,
                       const struct wr_rules_subject *parent, size_t depth,
                       struct wr_draft_rule **out_rules, size_t *out_n);

static void read_rule(struct wr_rules_reader *reader, struct wr_str message,
                      const struct wr_rules_subject *of_rule, size_t depth, size_t number,
                      struct wr_draft_rule *rule)
{
    const struct wr_rule_path path = {.parent = of_rule->path,
                                      .number = number,
                                      .key = peek_text(reader, message, RULE_KEY),
                                      .value = peek_text(reader, message, RULE_VALUE)};
    const struct wr_rules_subject subject = {of_rule->spot, &path};
    const size_t n_errors = reader->n_errors;
    struct wr_fields fields = wr_fields_of(&reader->scan, message);

    rule->place = wr_rules_place(reader, subject.spot);
    while (wr_rules_next(reader, &fields)) {
        read_rule_field(reader, &fields, &subject, rule);
    }
    rule->is_broken = reader->n_errors > n_errors;
    read_rules(reader, message, RULE_DESCRIPTORS, &subject, depth + 1, &rule->children,
               &rule->n_children);
}

/* The descriptors of `message`, in its fields of that tag. Recursion is bounded by max_depth. */
static void read_rules(struct wr_rules_reader *reader, struct wr_str message, uint32_t tag,
                       const struct wr_rules_subject *parent, size_t depth,
                       struct wr_draft_rule **out_rules, size_t *out_n)
{
    struct wr_fields fields = wr_fields_of(&reader->scan, message);
    const size_t n_all = wr_fields_count(fields, tag);
    size_t n = 0;

    if (n_all == 0 || reader->is_over) {
        return;
    }
    if (depth > reader->bounds->max_depth) {
        wr_rules_note(reader, WR_SEVERITY_ERROR, parent, "raise --max-rules-depth",
                      "`descriptors` are nested deeper than %zu levels", reader->bounds->max_depth);
        return;
    }
    if (!wr_rules_count(reader, parent, n_all)) {
        return;
    }

    struct wr_draft_rule *const rules = wr_rules_allocate(reader, n_all, sizeof *rules);

    while (wr_rules_next(reader, &fields)) {
        if (fields.tag != tag) {
            wr_fields_skip(&fields);
            continue;
        }

        const struct wr_str rule = wr_fields_bytes(&fields);
        const struct wr_rules_subject subject = {
            wr_rules_spot(reader, parent->spot, "descriptors", n), parent->path};

        read_rule(reader, rule, &subject, depth, n + 1, &rules[n]);
        n++;
    }
    *out_rules = rules;
    *out_n = n;
}

static void read_config(struct wr_rules_reader *reader, struct wr_str message,
                        struct wr_draft *draft)
{
    static const struct wr_rules_subject whole;
    static const struct wr_spot domain = {.name = "domain", .index = WR_SPOT_SINGLE};
    struct wr_fields fields = wr_fields_of(&reader->scan, message);
    const struct wr_rule_path path = {.key = peek_text(reader, message, CONFIG_DOMAIN)};

    draft->place = wr_rules_place(reader, &domain);
    while (wr_rules_next(reader, &fields)) {
        switch (fields.tag) {
        case CONFIG_DOMAIN:
            draft->domain = wr_rules_text(reader, &fields, &whole, "domain");
            break;
        case CONFIG_NAME:
            (void) wr_rules_text(reader, &fields, &whole, "name");
            break;
        case CONFIG_DESCRIPTORS:
            wr_fields_skip(&fields);
            break;
        default:
            wr_rules_skip_unknown(reader, &fields, &whole);
            break;
        }
    }
    read_rules(reader, message, CONFIG_DESCRIPTORS, &(struct wr_rules_subject){.path = &path}, 1,
               &draft->rules, &draft->n_rules);
}

static void tell_fault(struct wr_rules_reader *reader, struct wr_str message)
{
    static const struct wr_rules_subject whole;

    wr_rules_note(reader, WR_SEVERITY_ERROR, &whole, "it must be a RateLimitConfig",
                  "the message %s (byte %zu)", wr_fault_text(reader->scan.fault),
                  (size_t) (reader->scan.at - (const unsigned char *) message.ptr));
}

struct wr_str wr_rules_message_name(struct wr_str message)
{
    struct wr_scan scan = {0};
    struct wr_fields fields = wr_fields_of(&scan, message);
    struct wr_str name = {.ptr = ""}, domain = {.ptr = ""};

    while (wr_fields_next(&fields)) {
        if (fields.tag == CONFIG_NAME) {
            name = wr_fields_bytes(&fields);
        } else if (fields.tag == CONFIG_DOMAIN) {
            domain = wr_fields_bytes(&fields);
        } else {
            wr_fields_skip(&fields);
        }
    }
    return name.len > 0 ? name : domain;
}

/* "resource NAME", or "resource"; false when memory is out. */
static bool name_source(struct wr_rules_reader *reader, struct wr_str message)
{
    static const struct wr_str kind = WR_STR("resource ");
    const struct wr_str name = wr_rules_message_name(message);
    const size_t shown = (size_t) wr_rules_shown(name); /* a NUL in it, too */
    char *const text = wr_arena_alloc(reader->arena, kind.len + shown);

    if (text == NULL) {
        return false;
    }
    memcpy(text, kind.ptr, kind.len);
    memcpy(text + kind.len, name.ptr, shown);
    reader->source = (struct wr_str){.ptr = text, .len = kind.len + shown - (shown == 0)};
    return true;
}

void wr_rules_message_read(struct wr_str message, const struct wr_config_bounds *bounds,
                           struct wr_arena *arena, struct wr_diag *diag, struct wr_draft *out_draft)
{
    static const struct wr_rules_subject whole;
    struct wr_rules_reader reader = {
        .arena = arena,
        .diag = diag,
        .bounds = bounds,
        .counted = {.max_depth = bounds->max_depth, .max_nodes = bounds->max_nodes},
    };
    struct wr_draft draft = {.domain = {.ptr = ""}};

    if (!name_source(&reader, message)) {
        wr_rules_no_memory(&reader);
    } else if (message.len > bounds->max_file_bytes) {
        wr_rules_note(&reader, WR_SEVERITY_ERROR, &whole,
                      "raise --max-rules-file-bytes, or split the domain",
                      "%zu bytes, more than %zu", message.len, bounds->max_file_bytes);
        reader.is_over = true;
    } else {
        read_config(&reader, message, &draft);
    }
    if (reader.scan.fault != WR_FAULT_NONE) {
        tell_fault(&reader, message);
    }
    draft.source = reader.source;
    draft.is_broken = reader.is_over || reader.scan.fault != WR_FAULT_NONE;
    draft.is_refused = reader.n_errors > 0;
    draft.has_warning = reader.n_warnings > 0;
    draft.lacks_memory = reader.lacks_memory;
    *out_draft = draft;
}
