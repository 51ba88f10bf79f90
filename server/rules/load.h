/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and directories of rules into one snapshot, once: read in sorted order, dot entries left
 * out, a bad file reported and left out, the good ones in force. A server that goes on looking at
 * them does the same by way of rules/reload.h.
 *
 * Threads: any thread, no state; reading files may block.
 */
#ifndef WR_RULES_LOAD_H
#define WR_RULES_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "rules/config_yaml.h"
#include "rules/option_doubts.h"
#include "rules/rules.h"

struct wr_load_options {
    const char *const *paths; /* files, and directories which are read without descending unless
                                 `is_recursive` */
    size_t n_paths;
    bool any_name;       /* every file of a directory is read, else *.yaml and *.yml only, and each
                            other file draws one warning */
    bool is_recursive;   /* sub-directories of a directory are read too (symbolic links to
                            directories are not followed) */
    bool has_stdin;      /* the path `-` is standard input, which can be read once */
    const char *name;    /* of a directory of `paths` only the entries of this name, or that begin
                            with it and a dot; NULL: all */
    bool merges_domains; /* a domain may be spread over files */
    bool is_strict;      /* a warning refuses its file as an error does */
    struct wr_doubtful_options doubtful; /* for those who publish what was loaded */
    int64_t min_window_us; /* the shortest window that the store counts in; a shorter is an error */
    struct wr_config_bounds bounds;
};

struct wr_load_result {
    struct wr_rules *rules; /* one reference, the caller's; without the refused files */
    size_t n_files, n_refused;
};

/*
 * Loads what `options` names. Notes about the content go to `diag`. WR_ERR_NOT_FOUND when a path
 * does not exist and WR_ERR_IO when a directory of `paths` cannot be read (a note names it),
 * WR_ERR_NO_MEMORY, WR_ERR_SYSTEM; on an error there is no result. A file that cannot be read or is
 * refused is no error here: it is counted, and noted as an error.
 */
WR_MUST_USE enum wr_err wr_rules_load(const struct wr_load_options *options, struct wr_diag *diag,
                                      struct wr_load_result *out_result);

#endif
