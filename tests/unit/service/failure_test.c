/* SPDX-License-Identifier: Apache-2.0 */
#include "service/failure.h"

#include <criterion/criterion.h>

Test(failure, no_memory_is_the_servers_fault_and_says_so)
{
    struct wr_failure failure = {.status = WR_STATUS_OK};

    cr_assert_eq(wr_fail_no_memory(&failure), WR_ERR_NO_MEMORY);
    cr_assert_eq(failure.status, WR_STATUS_RESOURCE_EXHAUSTED);
    cr_assert_gt(failure.message.len, 0);
    cr_assert_eq(failure.field.len, 0);
}
