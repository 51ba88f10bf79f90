/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a counter's identity is made of: written where rules match, read where a store
 * names its counters. Every text has its length before it, so that no two identities differ in
 * meaning and agree in bytes. All numbers are little-endian, so that replicas of any kind agree:
 *
 *   u32 length, domain
 *   for each entry: u8 mark, u32 length, key, u32 length, value
 *   u8 WR_IDENTITY_END, i64 window length in microseconds, u8 alignment, u8 algorithm, u32 layer,
 *   u32 length, time zone
 *
 * Threads: pure functions.
 */
#ifndef WR_LIMIT_IDENTITY_H
#define WR_LIMIT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum wr_identity_mark {
    WR_IDENTITY_LITERAL = 0, /* key and value of the request */
    WR_IDENTITY_PATTERN = 1, /* key and value as the rule writes them */
    WR_IDENTITY_END = 0xff,
};

#define WR_IDENTITY_HEAD_SIZE 4
#define WR_IDENTITY_ENTRY_SIZE (1 + 4 + 4)
#define WR_IDENTITY_TAIL_SIZE (1 + 8 + 1 + 1 + 4 + 4)

/* Beside the algorithm of a limit that warms up: its counters have states of another layout. */
#define WR_IDENTITY_WARM_UP 0x80

/* What tells counters of one path apart. */
struct wr_identity_tail {
    int64_t length_us; /* of the window */
    uint8_t alignment, algorithm;
    uint32_t layer;     /* place among layers of one node that are equal in the rest */
    struct wr_str zone; /* name of the calendar's; empty: UTC, or no calendar */
};

/* Each writes at `at`, which has room for the size above and its texts, and returns what comes
 * behind. */
char *wr_identity_put_domain(char *at, struct wr_str domain);

char *wr_identity_put_entry(char *at, bool is_pattern, struct wr_str key, struct wr_str value);

char *wr_identity_put_tail(char *at, const struct wr_identity_tail *tail);

struct wr_identity_entry {
    bool is_pattern;
    struct wr_str key, value; /* borrowed from the identity */
};

/* Goes over a well-formed identity from its beginning. */
struct wr_identity_reader {
    struct wr_str rest;
};

/* Begins: what is read first is the domain. */
struct wr_identity_reader wr_identity_read(struct wr_str identity, struct wr_str *out_domain);

/* The next entry; false when there is none left and the tail comes. */
bool wr_identity_read_entry(struct wr_identity_reader *reader, struct wr_identity_entry *out_entry);

/* After the last entry; the zone is borrowed from the identity. */
struct wr_identity_tail wr_identity_read_tail(const struct wr_identity_reader *reader);

#endif
