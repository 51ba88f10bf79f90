/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/limit_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* RateLimitPolicy. */
#define LIMIT_UNIT WR_TAG(1, WR_WIRE_VARINT)
#define LIMIT_REQUESTS WR_TAG(2, WR_WIRE_VARINT)
#define LIMIT_UNLIMITED WR_TAG(3, WR_WIRE_VARINT)
#define LIMIT_NAME WR_TAG(4, WR_WIRE_BYTES)
#define LIMIT_REPLACES WR_TAG(5, WR_WIRE_BYTES)
/* RateLimitReplace. */
#define REPLACE_NAME WR_TAG(1, WR_WIRE_BYTES)

static void read_replace(struct wr_rules_reader *reader, struct wr_str message,
                         const struct wr_rules_subject *subject, struct wr_draft_replace *replace)
{
    struct wr_fields fields = wr_fields_of(&reader->scan, message);

    replace->place = wr_rules_place(reader, subject->spot);
    while (wr_rules_next(reader, &fields)) {
        if (fields.tag == REPLACE_NAME) {
            replace->name = wr_rules_text(reader, &fields, subject, "name");
        } else {
            wr_rules_skip_unknown(reader, &fields, subject);
        }
    }
}

/* Makes room for those of `fields` behind those that are there; NULL when there are none, when they
 * are too many, or memory is out. What is copied is counted again: so many small limits of a rule
 * cannot make for many large copies. */
static struct wr_draft_replace *more_replaces(struct wr_rules_reader *reader,
                                              struct wr_fields fields,
                                              const struct wr_rules_subject *subject,
                                              struct wr_draft_limit *limit)
{
    const size_t n_more = wr_fields_count(fields, LIMIT_REPLACES);
    const size_t n = limit->n_replaces + n_more;

    if (n_more == 0 || !wr_rules_count(reader, subject, n)) {
        return NULL;
    }

    struct wr_draft_replace *const replaces = wr_rules_allocate(reader, n, sizeof *replaces);

    if (replaces != NULL && limit->n_replaces > 0) {
        memcpy(replaces, limit->replaces, limit->n_replaces * sizeof *replaces);
    }
    if (replaces != NULL) {
        limit->replaces = replaces;
    }
    return replaces;
}

static void read_requests(struct wr_rules_reader *reader, struct wr_fields *fields,
                          const struct wr_rules_subject *subject, struct wr_draft_limit *limit)
{
    const uint64_t requests = wr_fields_varint(fields);

    (void) wr_rules_count(reader, subject, 1);
    if (requests > UINT32_MAX) {
        const struct wr_spot spot = {
            .parent = subject->spot, .name = "requests_per_unit", .index = WR_SPOT_SINGLE};

        wr_rules_note(
            reader, WR_SEVERITY_ERROR, &(struct wr_rules_subject){&spot, subject->path}, NULL,
            "`requests_per_unit` must be a whole number from 0 to %" PRIu32 ", not %" PRIu64,
            UINT32_MAX, requests);
        return;
    }
    limit->requests_per_unit = (uint32_t) requests;
}

/* A number that is no unit is shown as it is. */
static void read_unit(struct wr_rules_reader *reader, struct wr_fields *fields,
                      const struct wr_rules_subject *subject, struct wr_draft_limit *limit)
{
    static const char *const names[] = {"",    "second", "minute", "hour",
                                        "day", "month",  "year",   "week"};
    const uint64_t number = wr_fields_varint(fields);
    char digits[24];

    (void) wr_rules_count(reader, subject, 1);
    limit->unit_place =
        wr_rules_place(reader, wr_rules_spot(reader, subject->spot, "unit", WR_SPOT_SINGLE));
    if (number < sizeof names / sizeof names[0]) {
        limit->unit = wr_str_of(names[number]);
        return;
    }
    (void) snprintf(digits, sizeof digits, "%" PRId32, (int32_t) (uint32_t) number);
    if (!wr_arena_copy(reader->arena, wr_str_of(digits), &limit->unit)) {
        wr_rules_no_memory(reader);
    }
}

static void read_limit_field(struct wr_rules_reader *reader, struct wr_fields *fields,
                             const struct wr_rules_subject *subject,
                             struct wr_draft_replace *replaces, struct wr_draft_limit *limit)
{
    switch (fields->tag) {
    case LIMIT_UNIT:
        read_unit(reader, fields, subject, limit);
        break;
    case LIMIT_REQUESTS:
        read_requests(reader, fields, subject, limit);
        break;
    case LIMIT_UNLIMITED:
        limit->is_unlimited = wr_rules_switch(reader, fields, subject);
        break;
    case LIMIT_NAME:
        limit->name = wr_rules_text(reader, fields, subject, "name");
        limit->name_place =
            wr_rules_place(reader, wr_rules_spot(reader, subject->spot, "name", WR_SPOT_SINGLE));
        break;
    case LIMIT_REPLACES: {
        const struct wr_str message = wr_fields_bytes(fields);
        const struct wr_spot *const spot =
            wr_rules_spot(reader, subject->spot, "replaces", limit->n_replaces);

        if (spot != NULL) {
            read_replace(reader, message, &(struct wr_rules_subject){spot, subject->path},
                         &replaces[limit->n_replaces++]);
        }
        break;
    }
    default:
        wr_rules_skip_unknown(reader, fields, subject);
        break;
    }
}

/* A second one is merged into the first, as protobuf has it. */
void wr_rules_limit_read(struct wr_rules_reader *reader, struct wr_str message,
                         const struct wr_rules_subject *of_rule, struct wr_draft_rule *rule)
{
    const struct wr_rules_subject subject = {
        wr_rules_spot(reader, of_rule->spot, "rate_limit", WR_SPOT_SINGLE), of_rule->path};
    struct wr_fields fields = wr_fields_of(&reader->scan, message);

    if (!wr_rules_count(reader, of_rule, 1)) {
        return;
    }
    rule->has_limit = true;
    rule->limit.place = wr_rules_place(reader, subject.spot);

    struct wr_draft_replace *const replaces = more_replaces(reader, fields, &subject, &rule->limit);

    while (wr_rules_next(reader, &fields)) {
        read_limit_field(reader, &fields, &subject, replaces, &rule->limit);
    }
}
