/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule files as they are on disk, compared with what was taken from them. Only content counts:
 * a file is changed when its bytes are, whatever its times and size say. When it is good to be
 * taken is a matter of rules/settling.h.
 *
 * Invariant: a file stays in the set while it is there, and while something was made of it.
 * Threads: owner thread only; may block on the file system. Time is an argument.
 */
#ifndef WR_RULES_FILE_SET_H
#define WR_RULES_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/hash.h"
#include "rules/arrival.h"
#include "rules/rule_files.h"

struct wr_versions;

enum wr_file_state {
    WR_FILE_ABSENT,
    WR_FILE_READ,
    WR_FILE_UNREADABLE,
};

/* What one look at a file saw. */
struct wr_file_sight {
    enum wr_file_state state;
    struct wr_hash hash; /* of the bytes, or of why they cannot be read */
    size_t len;
    struct wr_arrival arrival; /* tells writing in place from replacing, nothing else */
};

struct wr_file {
    char *path;                       /* owned */
    size_t root;                      /* which of the paths it was found by */
    struct wr_file_sight seen, taken; /* at the last look; when it was last taken */
    int64_t since_us;                 /* since when it has looked like this */
    int64_t changed_us;               /* since when it has not been as taken, if it is changed */
    bool may_be_written;              /* somebody may still be writing it */
    struct wr_file_text text;     /* owned: the bytes, or why not, while `seen` is not `taken` */
    struct wr_versions *versions; /* what was made of it; of whoever takes it, NULL at first */
};

struct wr_file_set_options {
    const char *const *roots; /* borrowed: files, and directories */
    size_t n_roots;
    struct wr_file_choice choice;
    size_t max_file_bytes;
    /* Whether the file at the path is known to have been put there whole since the last look, in
     * place of the one that was there; it is asked once it has been read. NULL: never known. */
    bool (*was_moved_in)(void *context, const char *path);
    /* Whether to end early. NULL: never. */
    bool (*is_stopping)(void *context);
    void *context; /* borrowed; of both */
};

struct wr_file_set {
    struct wr_file_set_options options;
    struct wr_hash_key key;
    struct wr_file **files; /* owned, and each; by root, then by path */
    size_t n;
    /* of the last look */
    size_t n_present; /* files that are there */
    size_t n_missing_roots;
    enum wr_err root_err; /* why one of them is: WR_ERR_NOT_FOUND or WR_ERR_IO */
    int64_t went_us;      /* when a file was last found gone */
    int64_t rooted_us;    /* since when no root is missing */
    int64_t refilled_us;  /* when a root was last about to be filled again, if `is_refilled` */
    bool is_refilled, is_identified;
    struct wr_hash identity; /* of the roots, if `is_identified` */
};

/* WR_ERR_SYSTEM when no random key is to be had. */
WR_MUST_USE enum wr_err wr_file_set_init(struct wr_file_set *set,
                                         const struct wr_file_set_options *options);

/* What was made of the files must be gone by then. */
void wr_file_set_fini(struct wr_file_set *set);

/*
 * Looks at all files. What is left out, or missing, is noted. The files of a root that is missing
 * or cannot be read stay as they were, since that is no way to take rules away. WR_ERR_NO_MEMORY:
 * so do those that were not reached. WR_ERR_SYSTEM: likewise, as it is to end early.
 */
WR_MUST_USE enum wr_err wr_file_set_look(struct wr_file_set *set, int64_t now_us,
                                         struct wr_diag *diag);

/* True when work on the set is to end early. */
bool wr_file_set_is_stopping(const struct wr_file_set *set);

/* True when the file is not as it was taken. */
bool wr_file_is_changed(const struct wr_file *file);

/* Calls it taken as it was seen, and lets its text go. */
void wr_file_take(struct wr_file *file);
#endif
