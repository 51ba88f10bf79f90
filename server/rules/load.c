/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/load.h"

#include <stdlib.h>

#include "base/arena.h"
#include "rules/rule_files.h"

#define FIRST_CHUNK_SIZE 65536

/* The drafts of all files, in the order of the files. */
struct drafts {
    struct wr_draft *all; /* owned by the arena */
    size_t n, n_refused;  /* refused: of those that could not even be read */
};

/* Reads and parses one file; true when it made a draft. */
static bool parse_file(const struct wr_load_options *options, const char *path,
                       struct wr_arena *arena, struct wr_diag *diag, struct wr_draft *out_draft)
{
    struct wr_file_text text;

    if (!wr_file_text_read(path, options->bounds.max_file_bytes, diag, &text)) {
        return false;
    }
    wr_config_yaml_parse((struct wr_str){.ptr = text.bytes, .len = text.len}, wr_str_of(path),
                         &options->bounds, arena, diag, out_draft);
    wr_file_text_fini(&text);
    return true;
}

static bool parse_files(const struct wr_load_options *options, const struct wr_file_list *files,
                        struct wr_arena *arena, struct wr_diag *diag, struct drafts *out_drafts)
{
    struct drafts drafts = {.all = wr_arena_calloc(arena, files->n, sizeof *drafts.all)};

    if (drafts.all == NULL) {
        return false;
    }
    for (size_t i = 0; i < files->n; i++) {
        if (parse_file(options, files->paths[i], arena, diag, &drafts.all[drafts.n])) {
            drafts.n++;
        } else {
            drafts.n_refused++;
        }
    }
    *out_drafts = drafts;
    return true;
}

/* Every warning counts as an error, and refuses the file that it is about. */
static void be_strict(struct drafts *drafts, struct wr_diag *diag)
{
    for (size_t i = 0; i < drafts->n; i++) {
        drafts->all[i].is_refused = drafts->all[i].is_refused || drafts->all[i].has_warning;
    }
    for (struct wr_note *note = diag->first; note != NULL; note = note->next) {
        note->severity = WR_SEVERITY_ERROR;
    }
    diag->n_errors += diag->n_warnings;
    diag->n_warnings = 0;
}

static enum wr_err load_files(const struct wr_load_options *options,
                              const struct wr_file_list *files, struct wr_arena *arena,
                              struct wr_diag *diag, struct wr_load_result *out_result)
{
    struct wr_load_result result = {.n_files = files->n};
    struct drafts drafts;

    if (!parse_files(options, files, arena, diag, &drafts)) {
        return WR_ERR_NO_MEMORY;
    }
    wr_drafts_check(drafts.all, drafts.n, options->merges_domains, diag);
    if (options->is_strict) {
        be_strict(&drafts, diag);
    }
    result.n_refused = drafts.n_refused;
    for (size_t i = 0; i < drafts.n; i++) {
        result.n_refused += drafts.all[i].is_refused;
    }

    const enum wr_err err = wr_rules_new(drafts.all, drafts.n, &result.rules);

    if (err == WR_OK) {
        *out_result = result;
    }
    return err;
}

/* Loads the files that there are even when a path `failed` before, so that all is noted that is
 * wrong; but then there is no result. */
static enum wr_err load_files_after(enum wr_err failed, const struct wr_load_options *options,
                                    struct wr_file_list *files, struct wr_arena *arena,
                                    struct wr_diag *diag, struct wr_load_result *out_result)
{
    struct wr_load_result result = {0};
    const enum wr_err err = load_files(options, files, arena, diag, &result);

    if (err != WR_OK) {
        return err;
    }
    if (failed != WR_OK) {
        wr_rules_release(result.rules);
        return failed;
    }
    *out_result = result;
    return WR_OK;
}

enum wr_err wr_rules_load(const struct wr_load_options *options, struct wr_diag *diag,
                          struct wr_load_result *out_result)
{
    const struct wr_file_choice choice = {.any_name = options->any_name,
                                          .is_recursive = options->is_recursive};
    struct wr_arena arena;
    struct wr_file_list files = {0};
    enum wr_err err = WR_OK;

    wr_arena_init(&arena, FIRST_CHUNK_SIZE);
    for (size_t i = 0; i < options->n_paths && err != WR_ERR_NO_MEMORY; i++) {
        const enum wr_err failed = wr_file_list_add(&files, options->paths[i], &choice, diag);

        err = failed != WR_OK ? failed : err;
    }
    if (err != WR_ERR_NO_MEMORY) {
        err = load_files_after(err, options, &files, &arena, diag, out_result);
    }
    wr_file_list_fini(&files);
    wr_arena_fini(&arena);
    return err;
}
