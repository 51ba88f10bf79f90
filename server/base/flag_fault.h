/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a word of a command line that getopt_long refused. Its value is never told: it
 * may be a secret, and belong to a misspelt name.
 *
 * Threads: pure function, but for what getopt_long leaves behind: main thread only.
 */
#ifndef WR_BASE_FLAG_FAULT_H
#define WR_BASE_FLAG_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct option;

/* What the `val` of flags without a letter begins with, so that no letter is taken for one. */
#define WR_FLAG_FIRST 256

#define WR_FLAG_FAULT_SIZE 256

struct wr_flag_fault {
    char text[WR_FLAG_FAULT_SIZE]; /* as in "there is no option --x" */
    struct wr_str unknown; /* the name in `word` that no flag has, without dashes; empty: the
                              fault is another */
};

/* Of `word`, the last that getopt_long went over, with opterr 0, when it returned `got`: '?', or
 * ':', which its options begin with. Beside `flags` it takes letters without a value. */
void wr_flag_fault_of(int got, const char *word, const struct option *flags,
                      struct wr_flag_fault *out_fault);

#endif
