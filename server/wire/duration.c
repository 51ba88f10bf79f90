/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/duration.h"

#include "google/protobuf/duration.pb-c.h"

#define US_PER_S INT64_C(1000000)
#define NS_PER_US 1000

void wr_duration_set(struct Google__Protobuf__Duration *message, int64_t length_us)
{
    google__protobuf__duration__init(message);
    message->seconds = length_us / US_PER_S;
    message->nanos = (int32_t) (length_us % US_PER_S) * NS_PER_US;
}
