/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/grpc_time.h"

#define SECONDS_MAX (INT64_MAX / 1000000 - 1)

int64_t wr_grpc_time_mono_us(gpr_timespec time)
{
    const gpr_timespec mono = gpr_convert_clock_type(time, GPR_CLOCK_MONOTONIC);

    if (mono.tv_sec > SECONDS_MAX) {
        return INT64_MAX;
    }
    if (mono.tv_sec < 0) {
        return 0;
    }
    return mono.tv_sec * 1000000 + mono.tv_nsec / 1000;
}
