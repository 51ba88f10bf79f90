/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the variable that a misspelt one was probably meant to be.
 *
 * Threads: pure function.
 */
#ifndef WR_OPTION_NEAR_H
#define WR_OPTION_NEAR_H

#include "base/str.h"

/* `name` begins with WEIR_. The variable a slip or two away from it; NULL when it is a variable
 * itself, or none is near: Kubernetes sets WEIR_PORT, WEIR_SERVICE_HOST and the like for a Service
 * of the name weir. */
const char *wr_option_near(struct wr_str name);

#endif
