/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <criterion/criterion.h>
#include <string.h>

static const enum wr_err all[] = {
#define WR_ERR_ITEM(name, text) name,
    WR_ERR_TABLE(WR_ERR_ITEM)
#undef WR_ERR_ITEM
};

#define N_ALL (sizeof all / sizeof all[0])

Test(err, success_is_zero)
{
    cr_assert_eq((int) WR_OK, 0);
}

Test(err, every_code_has_a_text_of_its_own)
{
    for (size_t i = 0; i < N_ALL; i++) {
        cr_assert_gt(strlen(wr_err_text(all[i])), 0u);
        for (size_t k = 0; k < i; k++) {
            cr_assert_str_neq(wr_err_text(all[i]), wr_err_text(all[k]));
        }
    }
}

Test(err, another_number_is_an_unknown_error)
{
    const int numbers[] = {(int) N_ALL, 1 << 20};

    for (size_t i = 0; i < 2; i++) {
        cr_assert_str_eq(wr_err_text((enum wr_err) numbers[i]), "unknown error");
    }
}
