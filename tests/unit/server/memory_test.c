/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <criterion/criterion.h>

Test(memory, that_is_usable_holds_this_process)
{
    const uint64_t bytes = wr_memory_usable();

    cr_assert_gt(bytes, UINT64_C(1) << 20);
    cr_assert_lt(bytes, UINT64_C(1) << 60, "there is no such machine");
}
