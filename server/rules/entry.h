/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One key and value of a request's descriptor, as matching takes it.
 *
 * Threads: plain values.
 */
#ifndef WR_RULES_ENTRY_H
#define WR_RULES_ENTRY_H

#include "base/str.h"

struct wr_entry {
    struct wr_str key;
    struct wr_str value; /* may be empty */
};

#endif
