/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of header fields that a response may have besides those that HTTP and gRPC set.
 *
 * Threads: pure functions.
 */
#ifndef WR_HEADER_NAME_H
#define WR_HEADER_NAME_H

#include <stdbool.h>

#include "base/str.h"

/* True for a token, RFC 9110 section 5.6.2, that is short enough for any proxy, and no field that
 * HTTP or gRPC set themselves. */
bool wr_header_name_is_free(struct wr_str name);

#endif
