/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monotonic clock, and a file descriptor that can be read when it has come so far.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_BENCH_ALARM_H
#define WEIRCTL_BENCH_ALARM_H

#include <stdbool.h>
#include <stdint.h>

struct weirctl_alarm {
    int fd;         /* owned; -1: none */
    uint64_t at_ns; /* when it goes off; UINT64_MAX: it is not set */
};

uint64_t weirctl_now_ns(void);

/* False without a free descriptor; it can be undone all the same. */
bool weirctl_alarm_init(struct weirctl_alarm *alarm);

void weirctl_alarm_fini(struct weirctl_alarm *alarm);

/* Sees to it that it goes off at `at_ns`, which is not 0, at the latest: to set it later costs a
 * system call, and sooner does no harm. */
void weirctl_alarm_set(struct weirctl_alarm *alarm, uint64_t at_ns);

/* After it went off: the next time that it is set to counts, however late. It can be read until
 * then. */
void weirctl_alarm_clear(struct weirctl_alarm *alarm);

#endif
