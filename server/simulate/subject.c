/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/subject.h"

#include <inttypes.h>

#include "base/diag.h"
#include "base/shown.h"
#include "limit/calendar.h"
#include "rules/draft_file.h"
#include "rules/duration.h"
#include "rules/example.h"
#include "rules/terms.h"
#include "simulate/descriptor.h"

#define MAX_NOTES 100
#define MAX_FILE_BYTES (32 << 20)
#define MAX_ENTRIES 64
#define ARENA_BYTES 4096

/* A full log of a thousand hits is moved, which takes some eight times as long as what others do.
 */
#define LOG_COST 4

static const struct wr_config_bounds bounds = {
    .max_file_bytes = MAX_FILE_BYTES, .max_depth = MAX_ENTRIES, .max_nodes = 4000000};

static enum wr_err make_request(struct wr_sim_subject *subject, struct wr_draft *draft,
                                const char *text, FILE *err)
{
    static const struct wr_example_bounds example = {.max_entries = MAX_ENTRIES};
    struct wr_descriptor *const descriptor =
        wr_arena_calloc(&subject->arena, 1, sizeof *descriptor);
    struct wr_entry *const entries = wr_arena_calloc(&subject->arena, MAX_ENTRIES, sizeof *entries);

    if (descriptor == NULL || entries == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    descriptor->entries = entries;
    descriptor->n_entries =
        text == NULL ? wr_example_find(draft, &example, &subject->arena, entries)
                     : wr_sim_descriptor_parse(text, &subject->arena, entries, MAX_ENTRIES);
    if (descriptor->n_entries == 0 && text != NULL) {
        wr_shown_printf(err, "weir simulate: --descriptor is KEY=VALUE[,KEY=VALUE...], not %s\n",
                        text);
        return WR_ERR_INVALID;
    }
    subject->request =
        (struct wr_request){.domain = draft->domain, .descriptors = descriptor, .n_descriptors = 1};
    return WR_OK;
}

static bool match(struct wr_sim_subject *subject, struct wr_draft *draft)
{
    const struct wr_descriptor *const descriptor = subject->request.descriptors;

    wr_rules_release(subject->rules);
    subject->rules = NULL;
    if (wr_rules_new(&draft, 1, &subject->rules) != WR_OK) {
        return false;
    }

    const struct wr_domain *const domain = wr_rules_domain(subject->rules, draft->domain);

    subject->node =
        domain == NULL ? NULL : wr_domain_match(domain, descriptor->entries, descriptor->n_entries);
    return subject->node != NULL && subject->node->n_rules > 0 &&
           !subject->node->rules[0].is_unlimited;
}

static void enforce(struct wr_draft_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rules[i].is_shadow = rules[i].is_quota = false;
        enforce(rules[i].children, rules[i].n_children);
    }
}

static bool find_node(struct wr_sim_subject *subject, struct wr_draft *draft)
{
    if (!match(subject, draft)) {
        return false;
    }
    subject->was_on_trial = subject->node->rules[0].is_shadow || subject->node->rules[0].is_quota;
    if (!subject->was_on_trial) {
        return true;
    }
    enforce(draft->rules, draft->n_rules);
    return match(subject, draft);
}

static enum wr_err make(struct wr_sim_subject *subject, const char *path, const char *descriptor,
                        struct wr_draft *draft, FILE *err)
{
    const enum wr_err made = make_request(subject, draft, descriptor, err);

    if (made != WR_OK) {
        return made;
    }
    if (!find_node(subject, draft)) {
        wr_shown_printf(err,
                        "weir simulate: %s: no descriptor with a limit%s%s; "
                        "--descriptor KEY=VALUE says which to ask\n",
                        path, descriptor == NULL ? "" : " fits ",
                        descriptor == NULL ? "" : descriptor);
        return WR_ERR_MALFORMED;
    }
    return WR_OK;
}

enum wr_err wr_sim_subject_init(struct wr_sim_subject *subject, const char *path,
                                const char *descriptor, FILE *err)
{
    struct wr_diag diag;
    struct wr_draft draft = {0};

    *subject = (struct wr_sim_subject){0};
    wr_arena_init(&subject->arena, ARENA_BYTES);
    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err read = wr_draft_file_read(path, &bounds, &subject->arena, &diag, &draft);

    wr_diag_print(&diag, err);
    wr_diag_fini(&diag);
    return read != WR_OK ? read : make(subject, path, descriptor, &draft, err);
}

void wr_sim_subject_fini(struct wr_sim_subject *subject)
{
    wr_rules_release(subject->rules);
    wr_arena_fini(&subject->arena);
}

uint64_t wr_sim_subject_cost(const struct wr_sim_subject *subject)
{
    uint64_t cost = 0;

    for (size_t i = 0; i < subject->node->n_rules; i++) {
        const bool is_log = subject->node->rules[i].limit.algorithm == WR_ALGORITHM_SLIDING_LOG;

        cost += is_log ? LOG_COST : 1;
    }
    return cost;
}

static void describe_limit(const struct wr_limit *limit, FILE *out)
{
    char length[WR_DURATION_TEXT_SIZE];

    if (limit->calendar != NULL) {
        const struct wr_str zone = limit->calendar->zone_name;

        fprintf(out, "%" PRIu64 " in a calendar %s%s%.*s", limit->requests,
                wr_unit_name(limit->calendar->unit), zone.len > 0 ? " of " : "", (int) zone.len,
                zone.ptr);
        return;
    }
    wr_duration_write(limit->length_us, length);
    fprintf(out, "%" PRIu64 " in %s by %s", limit->requests, length,
            wr_algorithm_name(limit->algorithm));
    if (limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
        fprintf(out, " with burst %" PRIu64, limit->burst);
    }
    if (limit->alignment != WR_ALIGN_EPOCH) {
        fprintf(out, " aligned to %s", wr_alignment_name(limit->alignment));
    }
}

void wr_sim_subject_describe(const struct wr_sim_subject *subject, FILE *out)
{
    const struct wr_descriptor *const descriptor = subject->request.descriptors;

    wr_sim_descriptor_write(descriptor->entries, descriptor->n_entries, out);
    for (size_t i = 0; i < subject->node->n_rules; i++) {
        fputs(i == 0 ? ": " : " and ", out);
        describe_limit(&subject->node->rules[i].limit, out);
    }
    fputs(subject->was_on_trial ? ", played as if enforced" : "", out);
}
