/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A length of time as google.protobuf.Duration.
 *
 * Threads: pure function.
 */
#ifndef WR_WIRE_DURATION_H
#define WR_WIRE_DURATION_H

#include <stdint.h>

struct Google__Protobuf__Duration;

/* Sets all of `message`; `length_us` may be negative, then so are both its parts. */
void wr_duration_set(struct Google__Protobuf__Duration *message, int64_t length_us);

#endif
