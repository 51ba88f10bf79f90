/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files hold rules, and what is in them. Entries of a directory that begin with a dot are
 * left out (a ConfigMap's bookkeeping); only regular files are read, so that nothing hangs.
 *
 * Threads: owner thread only; may block on the file system.
 */
#ifndef WR_RULES_RULE_FILES_H
#define WR_RULES_RULE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"

/* Standard input, where it may be read. */
#define WR_STDIN_PATH "-"

struct wr_file_list {
    char **paths; /* owned, and each of them */
    size_t n, size;
};

/* Which entries of a directory are taken; what is left out draws a warning. */
struct wr_file_choice {
    bool any_name;     /* else *.yaml and *.yml */
    bool is_recursive; /* sub-directories as well, but not through symbolic links */
    /* Of the directory given only the entries of this name, and those whose name begins with it and
     * a dot; the others are passed over. NULL: all entries. */
    const char *name;
    bool has_stdin; /* the path WR_STDIN_PATH is standard input */
};

/*
 * Adds the file `path`, whatever its name, or the files of the directory `path` in sorted order.
 * WR_ERR_NOT_FOUND when there is no such path, WR_ERR_IO when it cannot be read, both noted;
 * WR_ERR_NO_MEMORY. A directory in which `choice->name` is sought and not found is one that is not
 * there. A directory below that cannot be read is noted as an error and left out.
 */
WR_MUST_USE enum wr_err wr_file_list_add(struct wr_file_list *list, const char *path,
                                         const struct wr_file_choice *choice, struct wr_diag *diag);

void wr_file_list_fini(struct wr_file_list *list);

/* True when `path`, of an entry of a directory, is a directory that is left out. */
bool wr_file_is_left_out_directory(const char *path, const struct wr_file_choice *choice);

struct wr_file_text {
    char *bytes; /* owned; not NULL once read */
    size_t len;
    uint64_t device, inode; /* of the file */
    bool is_moved;          /* its ctime is later than its mtime */
};

/* Reads a regular file, one byte more than `max_len` at most, so that a larger one shows. False
 * when it cannot be read, which is noted as an error. */
bool wr_file_text_read(const char *path, size_t max_len, struct wr_diag *diag,
                       struct wr_file_text *out_text);

/* The same of standard input, from where it is to its end, whatever kind of file it is. */
bool wr_file_text_read_stdin(size_t max_len, struct wr_diag *diag, struct wr_file_text *out_text);

void wr_file_text_fini(struct wr_file_text *text);

#endif
