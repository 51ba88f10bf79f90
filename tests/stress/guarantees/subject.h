/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is promised of each algorithm: the table of docs/algorithms.md, whose words these are.
 *
 * Threads: immutable.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_SUBJECT_H
#define WR_TESTS_STRESS_GUARANTEES_SUBJECT_H

#include "limit/limit.h"
#include "tests/stress/guarantees/record.h"

struct wr_subject {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    const char *window_text, *instant_text;
    wr_bound_fn window_bound, instant_bound;
    double reached;   /* at least that part of the bound in a window */
    uint32_t n_words; /* of a counter's state; 0: it grows */
};

#define WR_SUBJECTS 7

extern const struct wr_subject wr_subjects[WR_SUBJECTS];

#endif
