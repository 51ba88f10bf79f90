/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of weirctl. Each prints its answer to stdout, its trouble to stderr, and returns the
 * exit status.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_COMMANDS_H
#define WEIRCTL_COMMANDS_H

#include "args.h"

/* Exit statuses that scripts rely on. */
enum {
    WEIRCTL_EXIT_OK = 0,
    WEIRCTL_EXIT_NO = 1,        /* over limit, not serving */
    WEIRCTL_EXIT_NO_ANSWER = 2, /* of a bench: of one check or more */
    WEIRCTL_EXIT_USAGE = 64,    /* EX_USAGE of sysexits.h */
    WEIRCTL_EXIT_IO = 74,       /* EX_IOERR */
};

int weirctl_check(const struct weirctl_args *args);

int weirctl_health(const struct weirctl_args *args);

int weirctl_bench(const struct weirctl_args *args);

#endif
