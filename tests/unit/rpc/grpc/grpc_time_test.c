/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/grpc_time.h"

#include <criterion/criterion.h>

#include "base/clock.h"

#define SECOND INT64_C(1000000)

Test(grpc_time, that_never_comes_is_the_largest)
{
    const gpr_timespec far = {.tv_sec = INT64_MAX / 1000000, .clock_type = GPR_CLOCK_MONOTONIC};

    cr_assert_eq(wr_grpc_time_mono_us(gpr_inf_future(GPR_CLOCK_MONOTONIC)), INT64_MAX);
    cr_assert_eq(wr_grpc_time_mono_us(gpr_inf_future(GPR_CLOCK_REALTIME)), INT64_MAX);
    cr_assert_eq(wr_grpc_time_mono_us(far), INT64_MAX);
    cr_assert_eq(wr_grpc_time_mono_us(gpr_inf_past(GPR_CLOCK_MONOTONIC)), 0);
}

Test(grpc_time, has_the_start_of_our_clock)
{
    const int64_t before_us = wr_clock_mono_us();
    const int64_t there_us = wr_grpc_time_mono_us(gpr_now(GPR_CLOCK_MONOTONIC));
    const int64_t after_us = wr_clock_mono_us();

    cr_assert_leq(before_us, there_us);
    cr_assert_leq(there_us, after_us);
}

Test(grpc_time, of_the_wall_clock_is_converted)
{
    const gpr_timespec wall =
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(100, GPR_TIMESPAN));
    const int64_t left_us = wr_grpc_time_mono_us(wall) - wr_clock_mono_us();

    cr_assert_gt(left_us, 50 * SECOND);
    cr_assert_leq(left_us, 101 * SECOND);
}
