/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_set.h"

#include <stdlib.h>

#include "base/arena.h"
#include "rules/conflicts.h"
#include "rules/doubts.h"
#include "rules/draft_copy.h"
#include "rules/settling.h"
#include "rules/versions.h"

#define FIRST_CHUNK_SIZE 4096
#define PARSE_CHUNK_SIZE 65536

/* Files being taken. */
struct take {
    struct wr_rule_set *set;
    int64_t now_us;
    bool takes_all;
    struct wr_diag *diag;
    /* all of as many as there are files; owned */
    struct wr_draft **drafts;
    struct wr_versions **versions;
};

enum wr_err wr_rule_set_init(struct wr_rule_set *set, const struct wr_load_options *options,
                             const struct wr_rule_set_hooks *hooks)
{
    static const struct wr_rule_set_hooks no_hooks;
    const struct wr_rule_set_hooks *const known = hooks == NULL ? &no_hooks : hooks;
    const struct wr_file_set_options files = {
        .roots = options->paths,
        .n_roots = options->n_paths,
        .choice = {.any_name = options->any_name,
                   .is_recursive = options->is_recursive,
                   .name = options->name,
                   .has_stdin = options->has_stdin},
        .max_file_bytes = options->bounds.max_file_bytes,
        .was_moved_in = known->was_moved_in,
        .is_stopping = known->is_stopping,
        .context = known->context,
    };

    *set = (struct wr_rule_set){.options = options};
    return wr_file_set_init(&set->files, &files);
}

static void destroy_version(struct wr_version *version)
{
    if (version != NULL) {
        wr_arena_fini(&version->arena);
        free(version);
    }
}

static void destroy_versions(struct wr_file *file)
{
    if (file->versions != NULL) {
        destroy_version(file->versions->in_force);
        destroy_version(file->versions->waiting);
        destroy_version(file->versions->parsed);
        free(file->versions);
        file->versions = NULL;
    }
}

void wr_rule_set_fini(struct wr_rule_set *set)
{
    for (size_t i = 0; i < set->files.n; i++) {
        destroy_versions(set->files.files[i]);
    }
    wr_file_set_fini(&set->files);
}

static void note_unreadable(const struct wr_file *file, struct wr_diag *diag)
{
    wr_diag_add(diag, WR_SEVERITY_ERROR, (struct wr_place){.file = wr_str_of(file->path)},
                (struct wr_str){0}, NULL, "%.*s", (int) file->text.len, file->text.bytes);
}

/* A version with a copy of `draft`; NULL when memory is out. */
static struct wr_version *new_version(const struct wr_draft *draft)
{
    struct wr_version *const version = calloc(1, sizeof *version);

    if (version == NULL) {
        return NULL;
    }
    wr_arena_init(&version->arena, FIRST_CHUNK_SIZE);
    if (!wr_draft_copy(&version->arena, draft, &version->draft)) {
        destroy_version(version);
        return NULL;
    }
    return version;
}

/* Parses the text of a file. False when memory is out; a text that is not good makes no version. */
static bool parse(const struct take *take, const struct wr_file *file,
                  struct wr_version **out_version)
{
    const struct wr_load_options *const options = take->set->options;
    struct wr_arena arena;
    struct wr_draft draft;

    wr_arena_init(&arena, PARSE_CHUNK_SIZE);
    wr_config_yaml_parse((struct wr_str){.ptr = file->text.bytes, .len = file->text.len},
                         wr_str_of(file->path), &options->bounds, &arena, take->diag, &draft);
    wr_draft_check(&draft, options->min_window_us, take->diag);

    bool has_memory =
        !draft.lacks_memory &&
        (draft.is_refused || wr_draft_doubt(&draft, options->merges_domains, take->diag));
    const bool is_good = !draft.is_refused && !(options->is_strict && draft.has_warning);

    if (has_memory && is_good) {
        *out_version = new_version(&draft);
        has_memory = *out_version != NULL;
    }
    wr_arena_fini(&arena);
    return has_memory;
}

static struct wr_versions *versions_of(struct wr_file *file)
{
    if (file->versions == NULL) {
        file->versions = calloc(1, sizeof *file->versions);
    }
    return file->versions;
}

/* The first choice for a file, before it is held against others. */
static enum wr_version_choice choose(const struct wr_file *file)
{
    const struct wr_versions *const versions = file->versions;
    const enum wr_file_state state = versions->is_taken ? file->seen.state : file->taken.state;

    if (state == WR_FILE_ABSENT) {
        return WR_CHOICE_NONE;
    }
    if (wr_versions_candidate(versions) != NULL) {
        return WR_CHOICE_CANDIDATE;
    }
    return versions->in_force != NULL ? WR_CHOICE_IN_FORCE : WR_CHOICE_NONE;
}

/* Parses what is to be taken, and makes the first choices. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. */
static enum wr_err begin(const struct take *take)
{
    struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_file *const file = files->files[i];
        struct wr_versions *const versions = versions_of(file);

        if (versions == NULL) {
            return WR_ERR_NO_MEMORY;
        }
        if (wr_file_set_is_stopping(files)) {
            return WR_ERR_SYSTEM;
        }
        versions->is_taken = take->takes_all ? wr_file_is_changed(file)
                                             : wr_file_is_settled(files, file, take->now_us);
        if (versions->is_taken && file->seen.state == WR_FILE_UNREADABLE) {
            note_unreadable(file, take->diag);
        } else if (versions->is_taken && file->seen.state == WR_FILE_READ &&
                   !parse(take, file, &versions->parsed)) {
            return WR_ERR_NO_MEMORY;
        }
        versions->choice = choose(file);
    }
    return WR_OK;
}

/* Holds the files against each other. */
static bool settle_conflicts(const struct take *take)
{
    const struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        take->versions[i] = files->files[i]->versions;
    }
    return wr_conflicts_settle(&(struct wr_conflicts){
        .versions = take->versions,
        .n = files->n,
        .drafts = take->drafts,
        .merges_domains = take->set->options->merges_domains,
        .diag = take->diag,
    });
}

/* Warns of what is hardly meant in what comes into force, where several files make it so. It
 * refuses nothing: the same files have the same rules whichever came first. False when memory is
 * out. */
static bool doubt(const struct take *take)
{
    const struct wr_file_set *const files = &take->set->files;
    size_t n = 0;

    if (!take->set->options->merges_domains) {
        return true;
    }
    for (size_t i = 0; i < files->n; i++) {
        const struct wr_versions *const versions = files->files[i]->versions;
        struct wr_draft *const draft = wr_versions_chosen(versions);

        if (draft != NULL) {
            draft->is_fresh = versions->choice == WR_CHOICE_CANDIDATE;
            take->drafts[n++] = draft;
        }
    }
    return wr_drafts_doubt(take->drafts, n, take->diag);
}

/* All drafts that were chosen, in the order of the files. */
static size_t gather_all(const struct take *take)
{
    size_t n = 0;

    for (size_t i = 0; i < take->set->files.n; i++) {
        struct wr_draft *const draft = wr_versions_chosen(take->versions[i]);

        if (draft != NULL) {
            take->drafts[n++] = draft;
        }
    }
    return n;
}

/* True when what was chosen is not what is in force. */
static bool is_another(const struct take *take)
{
    const struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        const struct wr_versions *const versions = files->files[i]->versions;
        const enum wr_version_choice same =
            versions->in_force != NULL ? WR_CHOICE_IN_FORCE : WR_CHOICE_NONE;

        if (versions->choice != same) {
            return true;
        }
    }
    return !take->set->is_in_force;
}

/* Puts the version that was parsed now in its place, or drops it. */
static void commit_file(struct wr_file *file, bool is_in_force)
{
    struct wr_versions *const versions = file->versions;
    const bool is_candidate = is_in_force && versions->choice == WR_CHOICE_CANDIDATE;

    if (versions->is_taken) {
        destroy_version(versions->waiting);
        versions->waiting = versions->parsed;
        versions->parsed = NULL;
        wr_file_take(file);
        versions->is_refused = file->seen.state != WR_FILE_ABSENT && !is_candidate;
    }
    if (is_candidate || (is_in_force && versions->choice == WR_CHOICE_NONE)) {
        destroy_version(versions->in_force);
        versions->in_force = NULL;
    }
    if (is_candidate) {
        versions->in_force = versions->waiting;
        versions->waiting = NULL;
        versions->is_refused = false;
    }
}

static void commit(const struct take *take, bool is_in_force, struct wr_rule_set_change *change)
{
    struct wr_file_set *const files = &take->set->files;

    change->n_files = files->n_present;
    for (size_t i = 0; i < files->n; i++) {
        struct wr_file *const file = files->files[i];
        const bool is_taken = file->versions->is_taken;

        commit_file(file, is_in_force);
        change->n_refused += file->versions->is_refused;
        change->n_newly_refused += is_taken && file->versions->is_refused;
        if (file->taken.state == WR_FILE_ABSENT && file->versions->in_force == NULL) {
            destroy_versions(file);
        }
    }
}

/* Gives up what was parsed. */
static void abandon(const struct take *take)
{
    const struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_versions *const versions = files->files[i]->versions;

        if (versions != NULL) {
            destroy_version(versions->parsed);
            versions->parsed = NULL;
        }
    }
}

/* An empty directory is a configuration, one that is missing is not. */
static bool is_empty(const struct wr_file_set *files)
{
    return files->n_present == 0 && files->n_missing_roots == 0;
}

static enum wr_err run(const struct take *take, struct wr_rule_set_change *out_change)
{
    struct wr_rule_set_change change = {0};

    enum wr_err err = begin(take);

    if (err == WR_OK && !settle_conflicts(take)) {
        err = WR_ERR_NO_MEMORY;
    }
    if (take->set->options->is_strict) {
        wr_diag_make_errors(take->diag); /* what comes behind refuses nothing */
    }
    if (err == WR_OK && wr_file_set_is_stopping(&take->set->files)) {
        err = WR_ERR_SYSTEM;
    }
    if (err != WR_OK) {
        return err;
    }

    if (!doubt(take)) {
        return WR_ERR_NO_MEMORY;
    }

    const size_t n = gather_all(take);
    const bool has_any = n > 0 || is_empty(&take->set->files);

    if (has_any && is_another(take)) {
        err = wr_rules_new(take->drafts, n, &change.rules);
        if (err != WR_OK) {
            return err;
        }
        take->set->is_in_force = true;
    }
    commit(take, has_any, &change);
    *out_change = change;
    return WR_OK;
}

enum wr_err wr_rule_set_take(struct wr_rule_set *set, int64_t now_us, bool takes_all,
                             struct wr_diag *diag, struct wr_rule_set_change *out_change)
{
    const struct take take = {
        .set = set,
        .now_us = now_us,
        .takes_all = takes_all,
        .diag = diag,
        .drafts = malloc((set->files.n + 1) * sizeof(struct wr_draft *)),
        .versions = malloc((set->files.n + 1) * sizeof(struct wr_versions *)),
    };
    const bool has_memory = take.drafts != NULL && take.versions != NULL;
    const enum wr_err err = has_memory ? run(&take, out_change) : WR_ERR_NO_MEMORY;

    if (err != WR_OK) {
        abandon(&take);
    }
    free(take.drafts);
    free(take.versions);
    return err;
}
