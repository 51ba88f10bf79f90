/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that a command line asks for.
 *
 * Threads: pure functions on the caller's storage.
 */
#ifndef WEIRCTL_ASK_H
#define WEIRCTL_ASK_H

#include "args.h"

/* Borrows the texts of `args`. Errors stick to the request, and the check reports them. */
void weirctl_ask_build(const struct weirctl_args *args, struct weir_request *request);

#endif
