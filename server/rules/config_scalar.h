/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an unquoted word of YAML is, by the rules of the incumbent's library (YAML 1.1 as yaml.v2
 * reads it): nothing, a boolean, a whole number, a fraction or just text.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_CONFIG_SCALAR_H
#define WR_RULES_CONFIG_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/config_tree.h"

enum wr_scalar_kind {
    WR_SCALAR_NULL,
    WR_SCALAR_BOOL,
    WR_SCALAR_INT,   /* fits 64 bits with a sign */
    WR_SCALAR_BIG,   /* a whole number that fits 64 bits only without a sign */
    WR_SCALAR_FLOAT, /* also a whole number that is larger still */
    WR_SCALAR_TEXT,
    WR_SCALAR_BAD, /* it is not what its tag says */
};

struct wr_scalar {
    enum wr_scalar_kind kind;
    bool boolean;
    bool is_negative;     /* of a whole number */
    uint64_t magnitude;   /* of a whole number */
    bool is_plain_digits; /* a whole number as people write it: 0|-?[1-9][0-9]* */
};

/* What scalar `node` is. */
struct wr_scalar wr_scalar_of(const struct wr_config_node *node);

#endif
