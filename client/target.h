/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spelling of a target. gRPC takes nearly anything and fails at the first call, or guesses the
 * port of HTTPS; a caller is better told at once.
 *
 * Threads: pure functions.
 */
#ifndef WEIR_TARGET_H
#define WEIR_TARGET_H

#include "weir/client.h"

#define WEIR_TARGET_DEFAULT "127.0.0.1:8081"

/* WEIR_OK, or WEIR_ERR_INVALID with a text that shows how to write it. `error` may be NULL. */
WEIR_MUST_USE enum weir_err weir_target_check(const char *target, struct weir_error *error);

#endif
