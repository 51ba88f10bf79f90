/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the variable, or the flag, that a misspelt one was probably meant to be.
 *
 * Threads: pure functions.
 */
#ifndef WR_OPTION_NEAR_H
#define WR_OPTION_NEAR_H

#include "base/str.h"

/* `name` begins with WEIR_. The variable a slip or two away from it; NULL when it is a variable
 * itself, or none is near: Kubernetes sets WEIR_PORT, WEIR_SERVICE_HOST and the like for a Service
 * of the name weir. */
const char *wr_option_near(struct wr_str name);

/* The flag, without its dashes, a slip or two away from `name`, or that ends in it as in a word:
 * `listen` is `grpc-listen`. NULL when none does. */
const char *wr_option_near_flag(struct wr_str name);

#endif
