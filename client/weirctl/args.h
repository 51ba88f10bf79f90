/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of weirctl: what was asked for, whole and consistent, or an error that says what
 * to type instead. The options are one table, which the help prints from, too.
 *
 * Threads: pure functions on the caller's storage.
 */
#ifndef WEIRCTL_ARGS_H
#define WEIRCTL_ARGS_H

#include "values.h"

#include <stdio.h>

enum weirctl_command {
    WEIRCTL_HELP,
    WEIRCTL_VERSION,
    WEIRCTL_CHECK,
    WEIRCTL_HEALTH,
    WEIRCTL_BENCH,
};

enum weirctl_charge {
    WEIRCTL_CHARGE_DEFAULT, /* one hit */
    WEIRCTL_CHARGE_HITS,
    WEIRCTL_CHARGE_PEEK,
    WEIRCTL_CHARGE_REFUND,
};

struct weirctl_args {
    enum weirctl_command command;
    const char *target;
    uint32_t timeout_ms; /* 0: not given */
    bool json;
    bool watch;
    enum weirctl_charge charge;
    uint64_t hits; /* of HITS and REFUND */
    bool has_limit;
    struct weirctl_limit limit;
    uint64_t connections; /* of bench, these and the next; 0: not given */
    uint64_t in_flight;
    uint64_t rate;
    uint64_t requests;
    uint64_t keys;
    uint32_t duration_ms;
    const char *domain;  /* of check and bench */
    const char *service; /* of health; "" for the server as a whole */
    size_t descriptor_count;
    struct weirctl_descriptor descriptors[WEIR_DESCRIPTORS_MAX];
};

/* Reads `argv`, whose descriptors are rewritten in place and borrowed. On failure `error` tells why
 * and `out` must not be used. */
WEIR_MUST_USE enum weir_err weirctl_args_parse(int argc, char **argv, struct weirctl_args *out,
                                               struct weir_error *error);

void weirctl_args_print_help(FILE *stream);

#endif
