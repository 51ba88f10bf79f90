/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/file_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "rules/settling.h"

/* A set under construction from one look. */
struct look {
    struct wr_file_set *set;
    int64_t now_us;
    struct wr_diag *diag;
    struct wr_file **files; /* owned; the pointers, not the files */
    size_t n;
    bool has_come; /* a file that was not there */
};

enum wr_err wr_file_set_init(struct wr_file_set *set, const struct wr_file_set_options *options)
{
    *set = (struct wr_file_set){.options = *options};
    return wr_hash_key_draw(&set->key);
}

static void destroy_file(struct wr_file *file)
{
    if (file == NULL) {
        return;
    }
    WR_ASSERT(file->versions == NULL);
    wr_file_text_fini(&file->text);
    free(file->path);
    free(file);
}

void wr_file_set_fini(struct wr_file_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        destroy_file(set->files[i]);
    }
    free(set->files);
    *set = (struct wr_file_set){0};
}

static bool is_same(const struct wr_file_sight *a, const struct wr_file_sight *b)
{
    return a->state == b->state && a->len == b->len && wr_hash_equal(a->hash, b->hash);
}

bool wr_file_is_changed(const struct wr_file *file)
{
    return !is_same(&file->seen, &file->taken);
}

/* Why a file cannot be read, in place of its text. */
static bool keep_reason(const struct wr_diag *diag, struct wr_file_text *out_text)
{
    const struct wr_str reason =
        diag->first == NULL ? wr_str_of("cannot be read") : diag->first->text;
    char *const bytes = malloc(reason.len + 1);

    if (bytes == NULL) {
        return false;
    }
    memcpy(bytes, reason.ptr, reason.len);
    *out_text = (struct wr_file_text){.bytes = bytes, .len = reason.len};
    return true;
}

static bool read_text(const struct wr_file_set *set, const char *path, struct wr_diag *diag,
                      struct wr_file_text *out_text)
{
    const size_t max_len = set->options.max_file_bytes;

    return set->options.choice.has_stdin && strcmp(path, WR_STDIN_PATH) == 0
               ? wr_file_text_read_stdin(max_len, diag, out_text)
               : wr_file_text_read(path, max_len, diag, out_text);
}

/* Reads the file at `path`; false when memory is out. */
static bool see(const struct wr_file_set *set, const char *path, struct wr_file_sight *out_sight,
                struct wr_file_text *out_text)
{
    struct wr_file_sight sight = {.state = WR_FILE_READ};
    struct wr_diag diag;
    bool has_text = true;

    wr_diag_init(&diag, 1);
    if (!read_text(set, path, &diag, out_text)) {
        sight.state = WR_FILE_UNREADABLE;
        has_text = keep_reason(&diag, out_text);
    }
    wr_diag_fini(&diag);
    if (!has_text) {
        return false;
    }
    sight.hash =
        wr_hash_of(&set->key, (struct wr_str){.ptr = out_text->bytes, .len = out_text->len});
    sight.len = out_text->len;
    *out_sight = sight;
    return true;
}

/* One put into place whole is another file, and something was there before. */
static bool may_be_written(const struct look *look, const struct wr_file *file,
                           const struct wr_file_sight *sight)
{
    const struct wr_file_set_options *const options = &look->set->options;
    const struct wr_arrival *const before = &file->seen.arrival;

    if (sight->state != WR_FILE_READ) {
        return false;
    }
    if (before->inode == 0 || sight->len == 0 || sight->len < file->taken.len / 2 ||
        wr_arrival_is_same_file(&sight->arrival, before)) {
        return true;
    }
    return !wr_arrival_is_whole(&sight->arrival, before) &&
           !(options->was_moved_in != NULL && options->was_moved_in(options->context, file->path));
}

/* Takes over `text`. */
static void note_sight(struct look *look, struct wr_file *file, const struct wr_file_sight *sight,
                       struct wr_file_text *text)
{
    look->has_come =
        look->has_come || (file->seen.state == WR_FILE_ABSENT && sight->state != WR_FILE_ABSENT);
    if (!is_same(&file->seen, sight)) {
        const bool was_changed = wr_file_is_changed(file);

        file->may_be_written = may_be_written(look, file, sight);
        file->since_us = look->now_us;
        file->changed_us = was_changed ? file->changed_us : look->now_us;
        look->set->went_us = sight->state == WR_FILE_ABSENT ? look->now_us : look->set->went_us;
        wr_file_text_fini(&file->text);
    }
    file->seen = *sight;
    if (!wr_file_is_changed(file)) {
        wr_file_text_fini(&file->text);
    } else if (file->text.bytes == NULL) {
        file->text = *text;
        *text = (struct wr_file_text){0};
    }
    wr_file_text_fini(text);
}

static struct wr_file *new_file(char **path, size_t root)
{
    struct wr_file *const file = calloc(1, sizeof *file);

    if (file != NULL) {
        file->path = *path;
        file->root = root;
        *path = NULL;
    }
    return file;
}

static void note_absent(struct look *look, struct wr_file *file)
{
    const struct wr_file_sight nothing = {.state = WR_FILE_ABSENT};
    struct wr_file_text no_text = {0};

    note_sight(look, file, &nothing, &no_text);
}

bool wr_file_set_is_stopping(const struct wr_file_set *set)
{
    return set->options.is_stopping != NULL && set->options.is_stopping(set->options.context);
}

/* Looks at a file that is there, known or not. Takes `*path` over when it is not. */
static bool look_at(struct look *look, struct wr_file *known, char **path, size_t root)
{
    struct wr_file_sight sight;
    struct wr_file_text text = {0};

    if (wr_file_set_is_stopping(look->set) || !see(look->set, *path, &sight, &text)) {
        return false;
    }

    struct wr_file *const file = known != NULL ? known : new_file(path, root);

    if (file == NULL) {
        wr_file_text_fini(&text);
        return false;
    }
    sight.arrival = wr_arrival_of(&look->set->key, file->path, &text, &file->seen.arrival);
    note_sight(look, file, &sight, &text);
    look->files[look->n++] = file;
    return true;
}

/* A file that is not among those listed is gone, unless something that is no file, and is not read
 * as a directory either, stands in its place: then it cannot be read. */
static bool look_at_unlisted(struct look *look, struct wr_file *known)
{
    const struct wr_file_set_options *const options = &look->set->options;

    if (strcmp(known->path, options->roots[known->root]) != 0 &&
        wr_file_is_left_out_directory(known->path, &options->choice)) {
        return look_at(look, known, &known->path, known->root);
    }
    note_absent(look, known);
    look->files[look->n++] = known;
    return true;
}

/* The files of one root, known and listed, both in order. `*first` is of the known ones and moves
 * behind them. */
static bool merge(struct look *look, size_t root, size_t *first, struct wr_file_list *list)
{
    struct wr_file_set *const set = look->set;
    size_t k = *first, l = 0;
    bool has_memory = true;

    while ((k < set->n && set->files[k]->root == root) || (l < list->n && has_memory)) {
        struct wr_file *const known =
            k < set->n && set->files[k]->root == root ? set->files[k] : NULL;
        const int order = known == NULL                 ? 1
                          : l == list->n || !has_memory ? -1
                                                        : strcmp(known->path, list->paths[l]);

        if (order < 0 && has_memory) {
            has_memory = look_at_unlisted(look, known);
            k += has_memory;
        } else if (order < 0) {
            look->files[look->n++] = known;
            k++;
        } else {
            has_memory = look_at(look, order == 0 ? known : NULL, &list->paths[l], root);
            if (has_memory) {
                k += order == 0;
                l++;
            }
        }
    }
    *first = k;
    return has_memory;
}

/* Leaves the files of one root as they are; what comes in their place may still be being written.
 */
static void keep(struct look *look, size_t root, size_t *first)
{
    const struct wr_file_set *const set = look->set;

    for (; *first < set->n && set->files[*first]->root == root; (*first)++) {
        set->files[*first]->seen.arrival = (struct wr_arrival){0};
        look->files[look->n++] = set->files[*first];
    }
}

static bool make_room(struct look *look, size_t more)
{
    struct wr_file **const files =
        realloc(look->files, (look->set->n + look->n + more + 1) * sizeof(struct wr_file *));

    if (files == NULL) {
        return false;
    }
    look->files = files;
    return true;
}

static enum wr_err look_at_root(struct look *look, size_t root, size_t *first)
{
    struct wr_file_set *const set = look->set;
    struct wr_file_list list = {0};
    enum wr_err err =
        wr_file_list_add(&list, set->options.roots[root], &set->options.choice, look->diag);

    if (err == WR_ERR_NOT_FOUND || err == WR_ERR_IO) {
        set->n_missing_roots++;
        set->root_err = err;
        keep(look, root, first);
        err = WR_OK;
    } else if (err == WR_OK && (!make_room(look, list.n) || !merge(look, root, first, &list))) {
        err = wr_file_set_is_stopping(set) ? WR_ERR_SYSTEM : WR_ERR_NO_MEMORY;
    }
    wr_file_list_fini(&list);
    return err;
}

/* Drops the files that are gone and of which nothing is in use any more. */
static void forget(struct wr_file_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->n; i++) {
        struct wr_file *const file = set->files[i];

        if (file->versions == NULL && file->seen.state == WR_FILE_ABSENT &&
            file->taken.state == WR_FILE_ABSENT) {
            destroy_file(file);
        } else {
            set->files[n++] = file;
        }
    }
    set->n = n;
}

/* Which directories the roots are. A link in place of one is turned to what is whole. */
static struct wr_hash identity_of(const struct wr_file_set *set)
{
    struct wr_hash identity = {0};

    for (size_t root = 0; root < set->options.n_roots; root++) {
        struct stat status;

        if (lstat(set->options.roots[root], &status) == 0 && S_ISDIR(status.st_mode)) {
            const struct {
                struct wr_hash before;
                uint64_t device, inode;
            } bytes = {identity, status.st_dev, status.st_ino};

            identity = wr_hash_of(
                &set->key, (struct wr_str){.ptr = (const char *) &bytes, .len = sizeof bytes});
        }
    }
    return identity;
}

/* Notes whether a directory is about to be filled again: it was missing or empty, or is another, or
 * was so a moment ago and files still come. */
static void note_refill(struct wr_file_set *set, bool was_missing, const struct look *look)
{
    const struct wr_hash identity = identity_of(set);
    const bool is_another = set->is_identified && !wr_hash_equal(identity, set->identity);
    const bool goes_on = set->is_refilled && look->has_come &&
                         look->now_us < set->refilled_us + WR_FILE_SETTLE_WRITTEN_US;

    if (was_missing || is_another || set->n_present == 0 || goes_on) {
        set->refilled_us = look->now_us;
        set->is_refilled = set->is_identified;
    }
    set->identity = identity;
    set->is_identified = true;
}

static void count_present(struct wr_file_set *set)
{
    set->n_present = 0;
    for (size_t i = 0; i < set->n; i++) {
        set->n_present += set->files[i]->seen.state != WR_FILE_ABSENT;
    }
}

enum wr_err wr_file_set_look(struct wr_file_set *set, int64_t now_us, struct wr_diag *diag)
{
    struct look look = {.set = set, .now_us = now_us, .diag = diag};
    size_t first = 0;
    enum wr_err err = make_room(&look, 0) ? WR_OK : WR_ERR_NO_MEMORY;

    const bool was_missing = set->n_missing_roots > 0;
    const bool was_rooted = set->rooted_us != 0 && set->n_missing_roots == 0;

    set->n_missing_roots = 0;
    for (size_t root = 0; root < set->options.n_roots && err == WR_OK; root++) {
        err = look_at_root(&look, root, &first);
    }
    if (!was_rooted) {
        set->rooted_us = now_us;
    }
    if (look.files == NULL) {
        return err;
    }
    while (first < set->n) {
        look.files[look.n++] = set->files[first++];
    }
    free(set->files);
    set->files = look.files;
    set->n = look.n;
    forget(set);
    count_present(set);
    note_refill(set, was_missing, &look);
    return err;
}

void wr_file_take(struct wr_file *file)
{
    file->taken = file->seen;
    wr_file_text_fini(&file->text);
}
