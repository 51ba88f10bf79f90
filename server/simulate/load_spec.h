/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load that a simulation plays, as a person writes it: KIND[,NAME=VALUE…].
 *
 *   steady,rate=20/s[,for=5m]             evenly
 *   poisson,rate=20/s[,for=5m][,seed=1]   at random, independently of one another
 *   boundary[,hits=100][,gap=1ms]         so many just before a window's end, and as many after it
 *   adversary[,for=3m]                    whatever gets the most through in any trailing window
 *   csv:FILE                              a recorded trace, see simulate/trace.h
 *
 * Threads: pure functions.
 */
#ifndef WR_SIMULATE_LOAD_SPEC_H
#define WR_SIMULATE_LOAD_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum wr_load_kind {
    WR_LOAD_STEADY,
    WR_LOAD_POISSON,
    WR_LOAD_BOUNDARY,
    WR_LOAD_ADVERSARY,
    WR_LOAD_CSV,
};

/* So many hits in so long. */
struct wr_rate {
    uint64_t hits;
    int64_t per_us;
};

/* 0 where nothing was said: then what is measured against has a say. */
struct wr_load_spec {
    enum wr_load_kind kind;
    struct wr_rate rate;
    int64_t duration_us;
    int64_t gap_us; /* from the last hit before the boundary to it */
    uint64_t hits;
    uint64_t seed;
    const char *path; /* of a trace; borrowed */
};

#define WR_LOAD_MESSAGE_SIZE 160

/* The most in its unit, as much as the number of a rule can be: 2^32 - 1. */
#define WR_RATE_MAX 4294967295

/* NUMBER/LENGTH, where a unit alone is one of it: 20/s, 600/minute, 1/100ms. False: `message` says
 * what is wrong and what is allowed. */
bool wr_rate_parse(const char *text, struct wr_rate *out_rate, char message[WR_LOAD_MESSAGE_SIZE]);

/* False: `message` says what is wrong and what is allowed. */
bool wr_load_spec_parse(const char *text, struct wr_load_spec *out_spec,
                        char message[WR_LOAD_MESSAGE_SIZE]);

#endif
