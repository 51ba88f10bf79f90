/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for what another thread brings about: looks each millisecond, and ends the test when it has
 * looked in vain for long. For tests with Criterion.
 *
 * Threads: any thread.
 */
#ifndef WR_TESTS_SUPPORT_WAIT_FOR_H
#define WR_TESTS_SUPPORT_WAIT_FOR_H

#include <poll.h>
#include <stdint.h>

#include <criterion/criterion.h>

#include "base/clock.h"

#define WAIT_FOR_PATIENCE_US INT64_C(60000000)

#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        const int64_t wait_for_end_us = wr_clock_mono_us() + WAIT_FOR_PATIENCE_US;                 \
        while (!(condition)) {                                                                     \
            cr_assert_lt(wr_clock_mono_us(), wait_for_end_us, "never: %s", #condition);            \
            (void) poll(NULL, 0, 1);                                                               \
        }                                                                                          \
    } while (0)

#endif
