/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/rules/texts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/doubts.h"

const struct wr_config_bounds texts_bounds = {
    .max_file_bytes = 1 << 20, .max_depth = 64, .max_nodes = 100000};

void texts_init(struct texts *texts)
{
    *texts = (struct texts){.bounds = texts_bounds};
    wr_arena_init(&texts->arena, 4096);
    wr_diag_init(&texts->diag, 1000);
}

void texts_fini(struct texts *texts)
{
    wr_diag_fini(&texts->diag);
    wr_arena_fini(&texts->arena);
}

void texts_add_bytes(struct texts *texts, const char *name, struct wr_str text)
{
    cr_assert_lt(texts->n, (size_t) TEXTS_MAX);
    wr_config_yaml_parse(text, wr_str_of(name), &texts->bounds, &texts->arena, &texts->diag,
                         &texts->drafts[texts->n++]);
}

void texts_add(struct texts *texts, const char *name, const char *text)
{
    texts_add_bytes(texts, name, wr_str_of(text));
}

static char *print_notes(struct wr_diag *diag)
{
    char *text = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&text, &len);

    cr_assert_not_null(out);
    wr_diag_print(diag, out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

const char *texts_notes(struct texts *texts)
{
    char *const notes = print_notes(&texts->diag);
    struct wr_str copy;

    /* With the NUL. */
    cr_assert(wr_arena_copy(&texts->arena,
                            (struct wr_str){.ptr = notes, .len = wr_str_of(notes).len + 1}, &copy));
    free(notes);
    return copy.ptr;
}

/* Pointers to the drafts. */
static void point(struct texts *texts, struct wr_draft *drafts[TEXTS_MAX])
{
    for (size_t i = 0; i < texts->n; i++) {
        drafts[i] = &texts->drafts[i];
    }
}

void texts_check(struct texts *texts, bool merges_domains)
{
    struct wr_draft *drafts[TEXTS_MAX];

    point(texts, drafts);
    for (size_t i = 0; i < texts->n; i++) {
        wr_draft_check(drafts[i], texts->min_window_us, &texts->diag);
    }
    wr_drafts_compare(drafts, texts->n, merges_domains, &texts->diag);
}

void texts_doubt(struct texts *texts, bool merges_domains)
{
    struct wr_draft *drafts[TEXTS_MAX];

    point(texts, drafts);
    for (size_t i = 0; i < texts->n; i++) {
        texts->drafts[i].is_fresh = true;
        cr_assert(wr_draft_doubt(drafts[i], merges_domains, &texts->diag));
    }
    cr_assert(!merges_domains || wr_drafts_doubt(drafts, texts->n, &texts->diag));
}

struct wr_rules *texts_rules(struct texts *texts, bool merges_domains)
{
    struct wr_rules *rules = NULL;
    struct wr_draft *drafts[TEXTS_MAX];

    point(texts, drafts);

    texts_check(texts, merges_domains);
    cr_assert_eq(wr_rules_new(drafts, texts->n, &rules), WR_OK);
    return rules;
}

struct wr_rules *rules_of(const char *text)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);

    struct wr_rules *const rules = texts_rules(&texts, false);

    cr_assert_str_eq(texts_notes(&texts), "");
    texts_fini(&texts);
    return rules;
}

char *notes_of(const char *text)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_check(&texts, false);

    char *const notes = print_notes(&texts.diag);

    cr_assert_eq(texts.drafts[0].is_refused, texts.diag.n_errors > 0, "%s", notes);
    cr_assert_eq(texts.drafts[0].has_warning, texts.diag.n_warnings > 0, "%s", notes);
    texts_fini(&texts);
    return notes;
}

void expect_notes(const char *before, const struct notes_row *rows, size_t n, const char *behind)
{
    for (size_t i = 0; i < n; i++) {
        char text[2048];
        const int len = snprintf(text, sizeof text, "%s%s%s", before, rows[i].text, behind);

        cr_assert_lt((size_t) len, sizeof text);

        char *const notes = notes_of(text);

        cr_assert_str_eq(notes, rows[i].notes, "%s\n%s", text, notes);
        free(notes);
    }
}

char *doubts_of(const char *text)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_check(&texts, false);
    cr_assert_str_eq(texts_notes(&texts), "", "%s", text);
    texts_doubt(&texts, false);

    char *const notes = print_notes(&texts.diag);

    cr_assert_eq(texts.drafts[0].has_warning, texts.diag.n_warnings > 0, "%s", notes);
    texts_fini(&texts);
    return notes;
}

struct wr_config_reader texts_reader(struct texts *texts)
{
    return (struct wr_config_reader){.arena = &texts->arena,
                                     .diag = &texts->diag,
                                     .source = WR_STR("f.yaml"),
                                     .bounds = &texts->bounds};
}

struct wr_entry entry_of(const char *key, const char *value)
{
    return (struct wr_entry){.key = wr_str_of(key), .value = wr_str_of(value)};
}
