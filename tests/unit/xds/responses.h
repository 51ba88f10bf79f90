/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a control plane sends, written by hand for tests: rules messages of one limit, and responses
 * of several.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_XDS_RESPONSES_H
#define WR_TESTS_UNIT_XDS_RESPONSES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "rules/load.h"

/* A rule for any value of key `k`, so many a `unit` (1: a second; 0 makes an error). */
struct resource_row {
    const char *name, *domain;
    unsigned unit, requests;
};

/* Bounds that nothing here reaches. */
extern const struct wr_load_options responses_load;

struct wr_str responses_message(struct wr_arena *arena, const struct resource_row *row);

/* A response with the `n` rows as resources of type `type_url`. */
struct wr_str responses_bytes(struct wr_arena *arena, const char *version, const char *nonce,
                              const char *type_url, const struct resource_row *rows, size_t n);

#endif
