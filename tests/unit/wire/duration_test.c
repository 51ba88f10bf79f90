/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/duration.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "google/protobuf/duration.pb-c.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(duration, has_seconds_and_nanoseconds_of_one_sign)
{
    static const struct {
        int64_t length_us, seconds;
        int32_t nanos;
    } rows[] = {
        {0, 0, 0},
        {1, 0, 1000},
        {999999, 0, 999999000},
        {30000000, 30, 0},
        {INT64_MAX, INT64_MAX / 1000000, 775807000},
        {-1, 0, -1000},
        {-1500000, -1, -500000000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Google__Protobuf__Duration message;

        wr_duration_set(&message, rows[i].length_us);
        cr_assert_eq(message.seconds, rows[i].seconds, "row %zu: %" PRId64 " s", i,
                     message.seconds);
        cr_assert_eq(message.nanos, rows[i].nanos, "row %zu: %" PRId32 " ns", i, message.nanos);
    }
}
