/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weirctl prints: text for people in output.c, one line of JSON for programs in json.c. Texts
 * from outside (names, values, a server's words) never carry what acts on a terminal to one.
 *
 * Threads: owner thread only; writes to `stream`.
 */
#ifndef WEIRCTL_OUTPUT_H
#define WEIRCTL_OUTPUT_H

#include "../codec.h"
#include "args.h"
#include "bench/load.h"

#include <stdio.h>

/* Enough for the longest duration that weirctl_format_duration writes. */
#define WEIRCTL_DURATION_MAX 32

/* "350ms", "30s", "12m05s", "3d04h"; parts of a millisecond count as a whole one. */
void weirctl_format_duration(int64_t us, char out[WEIRCTL_DURATION_MAX]);

/* An answer as a table, one line a descriptor. Without an answer nothing. */
void weirctl_print_result(FILE *stream, const struct weirctl_args *args,
                          const struct weir_result *result);

void weirctl_print_health(FILE *stream, const char *service, enum weir_health health);

/* The same and more for programs; all keys are always there. False: out of memory. */
WEIR_MUST_USE bool weirctl_json_result(FILE *stream, const struct weir_result *result);

WEIR_MUST_USE bool weirctl_json_health(FILE *stream, const char *service, enum weir_health health);

/* The lack of an answer about a service's health. */
WEIR_MUST_USE bool weirctl_json_health_error(FILE *stream, const char *service,
                                             const struct weir_error *error);

/* A load; times in microseconds, rounded up. */
WEIR_MUST_USE bool weirctl_json_bench(FILE *stream, const struct weirctl_load_plan *plan,
                                      const struct weirctl_load_report *report);

#endif
