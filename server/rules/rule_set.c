/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_set.h"

#include <stdlib.h>

#include "base/arena.h"
#include "rules/draft_copy.h"

#define FIRST_CHUNK_SIZE 4096
#define PARSE_CHUNK_SIZE 65536

/* One text of a file, parsed. */
struct version {
    struct wr_arena arena; /* of the draft */
    struct wr_draft draft;
};

/* Which version a file goes on with. */
enum choice {
    CHOICE_NONE,
    CHOICE_IN_FORCE,
    CHOICE_CANDIDATE,
};

struct wr_versions {
    struct version *in_force; /* owned; NULL: none */
    /* Owned; good in itself, and at odds with other files; NULL: none. May do once they change. */
    struct version *waiting;
    bool is_refused; /* the text that was taken is not in force */
    /* while files are taken */
    bool is_taken;
    enum choice choice;
    struct version *parsed; /* owned; of the text that is taken now, when it is good in itself */
};

/* Files being taken. */
struct take {
    struct wr_rule_set *set;
    int64_t now_us;
    bool takes_all;
    struct wr_diag *diag;
    /* all of as many as there are files; owned */
    struct wr_draft **drafts;
};

enum wr_err wr_rule_set_init(struct wr_rule_set *set, const struct wr_load_options *options)
{
    const struct wr_file_set_options files = {
        .roots = options->paths,
        .n_roots = options->n_paths,
        .choice = {.any_name = options->any_name,
                   .is_recursive = options->is_recursive,
                   .name = options->name},
        .max_file_bytes = options->bounds.max_file_bytes,
    };

    *set = (struct wr_rule_set){.options = options};
    return wr_file_set_init(&set->files, &files);
}

static void destroy_version(struct version *version)
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

/* Every warning counts as an error. */
static void make_errors(struct wr_diag *diag)
{
    for (struct wr_note *note = diag->first; note != NULL; note = note->next) {
        note->severity = WR_SEVERITY_ERROR;
    }
    diag->n_errors += diag->n_warnings;
    diag->n_warnings = 0;
}

/* A version with a copy of `draft`; NULL when memory is out. */
static struct version *new_version(const struct wr_draft *draft)
{
    struct version *const version = calloc(1, sizeof *version);

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
static bool parse(const struct take *take, const struct wr_file *file, struct version **out_version)
{
    const struct wr_load_options *const options = take->set->options;
    struct wr_arena arena;
    struct wr_draft draft;

    wr_arena_init(&arena, PARSE_CHUNK_SIZE);
    wr_config_yaml_parse((struct wr_str){.ptr = file->text.bytes, .len = file->text.len},
                         wr_str_of(file->path), &options->bounds, &arena, take->diag, &draft);
    wr_draft_check(&draft, take->diag);

    const bool is_good = !draft.is_refused && !(options->is_strict && draft.has_warning);
    bool has_memory = !draft.lacks_memory;

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

/* What `versions` has that is not in force and could be. */
static struct version *candidate_of(const struct wr_versions *versions)
{
    return versions->is_taken ? versions->parsed : versions->waiting;
}

/* The first choice for a file, before it is held against others. */
static enum choice choose(const struct wr_file *file)
{
    const struct wr_versions *const versions = file->versions;
    const enum wr_file_state state = versions->is_taken ? file->seen.state : file->taken.state;

    if (state == WR_FILE_ABSENT) {
        return CHOICE_NONE;
    }
    if (candidate_of(versions) != NULL) {
        return CHOICE_CANDIDATE;
    }
    return versions->in_force != NULL ? CHOICE_IN_FORCE : CHOICE_NONE;
}

/* Parses what is to be taken, and makes the first choices. */
static bool begin(const struct take *take)
{
    struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_file *const file = files->files[i];
        struct wr_versions *const versions = versions_of(file);

        if (versions == NULL) {
            return false;
        }
        versions->is_taken = take->takes_all ? wr_file_is_changed(file)
                                             : wr_file_is_settled(files, file, take->now_us);
        if (versions->is_taken && file->seen.state == WR_FILE_UNREADABLE) {
            note_unreadable(file, take->diag);
        } else if (versions->is_taken && file->seen.state == WR_FILE_READ &&
                   !parse(take, file, &versions->parsed)) {
            return false;
        }
        versions->choice = choose(file);
    }
    return true;
}

/* Gathers the drafts of the files that go on with `choice`, in order, behind those `n` there. */
static size_t gather(const struct take *take, enum choice choice, size_t n)
{
    const struct wr_file_set *const files = &take->set->files;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_versions *const versions = files->files[i]->versions;

        if (versions->choice != choice) {
            continue;
        }
        if (choice == CHOICE_IN_FORCE) {
            take->drafts[n++] = &versions->in_force->draft;
        } else {
            struct wr_draft *const draft = &candidate_of(versions)->draft;

            draft->is_told = !versions->is_taken;
            take->drafts[n++] = draft;
        }
    }
    return n;
}

/* Whoever was refused goes on with what it had. Returns whether anybody was, and sets
 * `*lacks_memory` when that is why. */
static bool give_way(const struct take *take, bool *lacks_memory)
{
    const struct wr_file_set *const files = &take->set->files;
    bool has_changed = false;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_versions *const versions = files->files[i]->versions;
        struct version *const candidate = candidate_of(versions);

        if (versions->choice == CHOICE_CANDIDATE && candidate->draft.is_refused) {
            *lacks_memory = *lacks_memory || candidate->draft.lacks_memory;
            candidate->draft.is_refused = false; /* for itself it is good */
            candidate->draft.lacks_memory = false;
            versions->choice = versions->in_force != NULL ? CHOICE_IN_FORCE : CHOICE_NONE;
            has_changed = true;
        }
    }
    return has_changed;
}

/* Holds the files against each other until they agree: each round at least one gives way. */
static bool settle_conflicts(const struct take *take)
{
    bool lacks_memory = false;

    do {
        const size_t n_in_force = gather(take, CHOICE_IN_FORCE, 0);
        const size_t n = gather(take, CHOICE_CANDIDATE, n_in_force);

        wr_drafts_compare(take->drafts, n, take->set->options->merges_domains, take->diag);
        for (size_t i = 0; i < n_in_force; i++) {
            lacks_memory = lacks_memory || take->drafts[i]->lacks_memory;
            take->drafts[i]->lacks_memory = take->drafts[i]->is_refused = false;
        }
    } while (give_way(take, &lacks_memory) && !lacks_memory);
    return !lacks_memory;
}

/* All drafts that were chosen, in the order of the files. */
static size_t gather_all(const struct take *take)
{
    const struct wr_file_set *const files = &take->set->files;
    size_t n = 0;

    for (size_t i = 0; i < files->n; i++) {
        struct wr_versions *const versions = files->files[i]->versions;

        if (versions->choice != CHOICE_NONE) {
            take->drafts[n++] = versions->choice == CHOICE_IN_FORCE
                                    ? &versions->in_force->draft
                                    : &candidate_of(versions)->draft;
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
        const enum choice same = versions->in_force != NULL ? CHOICE_IN_FORCE : CHOICE_NONE;

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
    const bool is_candidate = is_in_force && versions->choice == CHOICE_CANDIDATE;

    if (versions->is_taken) {
        destroy_version(versions->waiting);
        versions->waiting = versions->parsed;
        versions->parsed = NULL;
        wr_file_take(file);
        versions->is_refused = file->seen.state != WR_FILE_ABSENT && !is_candidate;
    }
    if (is_candidate || (is_in_force && versions->choice == CHOICE_NONE)) {
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

    if (!begin(take) || !settle_conflicts(take)) {
        return WR_ERR_NO_MEMORY;
    }

    const size_t n = gather_all(take);
    const bool has_any = n > 0 || is_empty(&take->set->files);

    if (has_any && is_another(take)) {
        const enum wr_err err = wr_rules_new(take->drafts, n, &change.rules);

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
    };
    const enum wr_err err = take.drafts == NULL ? WR_ERR_NO_MEMORY : run(&take, out_change);

    if (err != WR_OK) {
        abandon(&take);
    }
    free(take.drafts);
    if (set->options->is_strict) {
        make_errors(diag);
    }
    return err;
}
