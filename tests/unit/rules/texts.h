/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule files that a test writes as texts: parsed, checked, put together, and what is said about
 * them.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_RULES_TEXTS_H
#define WR_TESTS_UNIT_RULES_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "rules/config_reader.h"
#include "rules/config_yaml.h"
#include "rules/draft.h"
#include "rules/rules.h"

#define TEXTS_MAX 8

struct texts {
    struct wr_arena arena;
    struct wr_diag diag;
    struct wr_config_bounds bounds;
    struct wr_draft drafts[TEXTS_MAX];
    size_t n;
    int64_t min_window_us;
};

/* Bounds that no ordinary text reaches. */
extern const struct wr_config_bounds texts_bounds;

void texts_init(struct texts *texts);

void texts_fini(struct texts *texts);

/* Parses one more text of that name, NUL-terminated or by length. */
void texts_add(struct texts *texts, const char *name, const char *text);
void texts_add_bytes(struct texts *texts, const char *name, struct wr_str text);

/* All notes so far as they are printed, owned by `texts`. */
const char *texts_notes(struct texts *texts);

/* Checks the drafts, each and against each other. */
void texts_check(struct texts *texts, bool merges_domains);

/* Looks at the drafts, all of them new, for doubts, each and with `merges_domains` all together. */
void texts_doubt(struct texts *texts, bool merges_domains);

/* Checks the drafts and builds a snapshot of those that are good; one reference, the caller's. */
struct wr_rules *texts_rules(struct texts *texts, bool merges_domains);

/* A snapshot of one text, which must be accepted without a note. */
struct wr_rules *rules_of(const char *text);

/* What a text parsed and checked alone as f.yaml draws, as printed; the caller frees it. */
char *notes_of(const char *text);

/* A text, or what is in the middle of one, and what it draws, as notes_of has it. */
struct notes_row {
    const char *text, *notes;
};

/* Puts each row's text between `before` and `behind`. */
void expect_notes(const char *before, const struct notes_row *rows, size_t n, const char *behind);

#define EXPECT_NOTES(before, rows, behind)                                                         \
    expect_notes((before), (rows), sizeof(rows) / sizeof((rows)[0]), (behind))

/* What a text that is good, alone as f.yaml, draws in doubts, as printed; the caller frees it. */
char *doubts_of(const char *text);

/* A reader that notes into `texts`. */
struct wr_config_reader texts_reader(struct texts *texts);

/* An entry as a request has it. */
struct wr_entry entry_of(const char *key, const char *value);

#endif
