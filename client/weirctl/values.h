/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that a person types: numbers, durations, limits, descriptors. Nothing is guessed: what
 * is not wholly understood is refused.
 *
 * Threads: pure functions on the caller's storage.
 */
#ifndef WEIRCTL_VALUES_H
#define WEIRCTL_VALUES_H

#include "weir/client.h"

/* Decimal digits only, 1 to `max`. */
WEIR_MUST_USE bool weirctl_parse_number(const char *text, uint64_t max, uint64_t *out_number);

/* "20ms", "2s", "1m"; at least a millisecond, at most a day. */
WEIR_MUST_USE bool weirctl_parse_duration(const char *text, uint32_t *out_ms);

struct weirctl_limit {
    uint32_t requests;
    enum weir_unit unit;
};

/* "10/minute": a number from 0, the name of a unit in any case. */
WEIR_MUST_USE bool weirctl_parse_limit(const char *text, struct weirctl_limit *out_limit);

struct weirctl_descriptor {
    size_t entry_count;
    struct weir_entry entries[WEIR_ENTRIES_MAX]; /* borrowed from the text */
};

/*
 * "key=value,key=value": an entry is split at its first '='. A backslash takes the meaning from a
 * comma, a '=' or another backslash that follows; before anything else it is just itself. The text
 * is rewritten in place and must outlive the descriptor.
 *
 * On failure `error` tells what is wrong, and the descriptor must not be used.
 */
WEIR_MUST_USE enum weir_err weirctl_parse_descriptor(char *text, struct weirctl_descriptor *out,
                                                     struct weir_error *error);

#endif
