/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, read once a call and passed on: wall time that never goes back by less than an hour, and
 * monotonic time. Wall time is monotonic time plus an offset: a step forward is taken over, a step
 * back up to an hour leaves the offset until real time has caught up, a larger one is taken over.
 * So the offset rises, or falls by over an hour.
 *
 * Invariant: two reads in order give wall times in order, save after a step back of over an hour.
 * Threads: any thread may read; init and fini by the owner.
 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct wr_now {
    int64_t wall_us; /* since the Unix epoch, never negative */
    int64_t mono_us; /* since an arbitrary moment, never negative; says which read was first */
};

/* The largest step back that is waited out instead of taken over. */
#define WR_CLOCK_WAIT_US INT64_C(3600000000)

/* Less than that is no step: a thread can lose the processor between the two readings, and of two
 * threads that read at once, one may have the offset that the other has just raised. */
#define WR_CLOCK_JITTER_US INT64_C(500000)

/* Where raw time comes from; tests bring their own. */
typedef struct wr_now (*wr_clock_source_fn)(void *context);

struct wr_clock {
    wr_clock_source_fn source;
    void *context;               /* borrowed; of source */
    _Atomic int64_t offset_us;   /* wall minus monotonic, in force */
    atomic_bool is_ahead;        /* of the system's clock, after a step back; guards one log line */
    _Atomic uint64_t steps_back; /* up to an hour: the offset stayed */
    _Atomic uint64_t steps_taken; /* over an hour: taken over */
};

/* A clock that reads the system's, or `source` where it is not NULL. */
void wr_clock_init(struct wr_clock *clock, wr_clock_source_fn source, void *context);

struct wr_now wr_clock_read(struct wr_clock *clock);

/* The system's monotonic time, for those who wait and need no wall time. */
int64_t wr_clock_mono_us(void);

#endif
