/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers as a person writes them: digits and nothing else.
 *
 * Threads: pure functions.
 */
#ifndef WR_BASE_NUMBER_H
#define WR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* How many digits `text` begins with. */
size_t wr_number_digits(struct wr_str text);

/* False when `text` is something else, or more than `max`. */
bool wr_number_parse(struct wr_str text, uint64_t max, uint64_t *out_number);

#endif
