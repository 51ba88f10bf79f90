/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/subject.h"

#include <string.h>

#include "base/diag.h"
#include "rules/config_yaml.h"
#include "rules/load.h"

#define MAX_NOTES 100
#define MAX_FILE_BYTES (32 << 20)
#define ARENA_BYTES 4096

static const struct wr_config_bounds bounds = {
    .max_file_bytes = MAX_FILE_BYTES, .max_depth = 64, .max_nodes = 4000000};

static bool load(struct wr_sim_subject *subject, const char *path, struct wr_diag *diag, FILE *err)
{
    const struct wr_load_options options = {.paths = &path, .n_paths = 1, .bounds = bounds};
    struct wr_load_result result = {0};
    const enum wr_err failed = wr_rules_load(&options, diag, &result);

    wr_diag_print(diag, err);
    subject->rules = result.rules;
    if (failed != WR_OK && failed != WR_ERR_NOT_FOUND) {
        fprintf(err, "weir simulate: %s: %s\n", path, wr_err_text(failed));
    }
    return failed == WR_OK && result.n_refused == 0;
}

static bool read_text(struct wr_sim_subject *subject, const char *path, struct wr_str *out_text)
{
    FILE *const file = fopen(path, "rb");
    char *const bytes = file == NULL ? NULL : wr_arena_alloc(&subject->arena, MAX_FILE_BYTES);

    if (bytes != NULL) {
        *out_text = (struct wr_str){.ptr = bytes, .len = fread(bytes, 1, MAX_FILE_BYTES, file)};
    }
    if (file != NULL) {
        (void) fclose(file);
    }
    return bytes != NULL;
}

/* A value that the pattern matches: `*` stands for nothing at all; any value for a rule of any. */
static struct wr_str value_for(struct wr_sim_subject *subject, struct wr_str pattern)
{
    static const struct wr_str any = WR_STR("x");
    char *const value = pattern.len == 0 ? NULL : wr_arena_alloc(&subject->arena, pattern.len);
    size_t n = 0;

    if (value == NULL) {
        return any;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] != '*') {
            value[n++] = pattern.ptr[i];
        }
    }
    return n == 0 ? any : (struct wr_str){.ptr = value, .len = n};
}

/* The path to the first limit, in order of the file, into `entries`; its length, 0 for none. */
static size_t find_limit(struct wr_sim_subject *subject, const struct wr_draft_rule *rules,
                         size_t n, struct wr_entry *entries, size_t depth)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_draft_limits limits = wr_draft_limits_of(&rules[i]);

        entries[depth] = (struct wr_entry){.key = value_for(subject, rules[i].key),
                                           .value = value_for(subject, rules[i].value)};
        if (limits.n > 0 && !limits.all[0].is_unlimited) {
            return depth + 1;
        }

        const size_t found =
            find_limit(subject, rules[i].children, rules[i].n_children, entries, depth + 1);

        if (found > 0) {
            return found;
        }
    }
    return 0;
}

static bool make_request(struct wr_sim_subject *subject, const char *path, FILE *err)
{
    struct wr_str text;
    struct wr_diag diag;
    struct wr_draft draft;
    struct wr_descriptor *const descriptor =
        wr_arena_calloc(&subject->arena, 1, sizeof *descriptor);
    struct wr_entry *const entries =
        wr_arena_calloc(&subject->arena, bounds.max_depth + 1, sizeof *entries);

    if (descriptor == NULL || entries == NULL || !read_text(subject, path, &text)) {
        fprintf(err, "weir simulate: %s cannot be read; name one rule file\n", path);
        return false;
    }
    wr_diag_init(&diag, MAX_NOTES);
    wr_config_yaml_parse(text, wr_str_of(path), &bounds, &subject->arena, &diag, &draft);
    wr_diag_fini(&diag);
    *descriptor = (struct wr_descriptor){
        .entries = entries,
        .n_entries = find_limit(subject, draft.rules, draft.n_rules, entries, 0),
    };
    subject->request =
        (struct wr_request){.domain = draft.domain, .descriptors = descriptor, .n_descriptors = 1};

    const struct wr_domain *const domain = wr_rules_domain(subject->rules, draft.domain);

    if (domain != NULL) {
        subject->node = wr_domain_match(domain, entries, descriptor->n_entries);
    }
    if (subject->node == NULL || subject->node->n_rules == 0) {
        fprintf(err, "weir simulate: %s has no descriptor with a limit\n", path);
        return false;
    }
    return true;
}

bool wr_sim_subject_init(struct wr_sim_subject *subject, const char *path, FILE *err)
{
    struct wr_diag diag;

    *subject = (struct wr_sim_subject){0};
    wr_arena_init(&subject->arena, ARENA_BYTES);
    wr_diag_init(&diag, MAX_NOTES);

    const bool is_good = load(subject, path, &diag, err) && make_request(subject, path, err);

    wr_diag_fini(&diag);
    return is_good;
}

void wr_sim_subject_fini(struct wr_sim_subject *subject)
{
    wr_rules_release(subject->rules);
    wr_arena_fini(&subject->arena);
}
