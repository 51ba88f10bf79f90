/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a stream ended, in C core's words, and what they are known by.
 *
 * Threads: pure functions.
 */
#ifndef WR_XDS_END_H
#define WR_XDS_END_H

#include <stdbool.h>

#include "base/str.h"

struct wr_xds_end {
    int status; /* of gRPC */
    struct wr_str text;
};

/* A response was larger than this side takes. */
bool wr_xds_end_is_too_large(const struct wr_xds_end *end);

/* Nothing could be made of the texts for TLS, of a stream that has it: it is not said of which. */
bool wr_xds_end_has_bad_files(const struct wr_xds_end *end);

#endif
