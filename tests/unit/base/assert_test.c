/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"

#include <criterion/criterion.h>
#include <signal.h>

Test(assert, goes_on_when_it_holds_and_evaluates_once)
{
    int n = 0;

    WR_ASSERT(++n == 1);
    cr_assert_eq(n, 1);
}

Test(assert, aborts_when_it_does_not_hold, .signal = SIGABRT)
{
    const int one = 1;

    WR_ASSERT(one == 2);
}
