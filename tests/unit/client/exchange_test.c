/* SPDX-License-Identifier: Apache-2.0 */
/* When an exchange may be tried again; the rest needs a server and is in tests/e2e/test_client.py.
 */
#include "client/exchange.h"

#include <criterion/criterion.h>
#include <grpc/support/time.h>

static const struct {
    uint32_t attempts_max;
    bool retries_sent;
    unsigned int attempts;
    enum weir_err err;
    bool want;
} rows[] = {
    {0, false, 1, WEIR_ERR_CONNECT, false},     {1, false, 1, WEIR_ERR_CONNECT, false},
    {2, false, 1, WEIR_ERR_CONNECT, true},      {2, false, 2, WEIR_ERR_CONNECT, false},
    {2, false, 1, WEIR_ERR_UNAVAILABLE, false}, {2, true, 1, WEIR_ERR_UNAVAILABLE, true},
    {2, true, 2, WEIR_ERR_UNAVAILABLE, false},  {3, true, 1, WEIR_ERR_CONNECT, true},
    {1, true, 1, WEIR_ERR_UNAVAILABLE, false},  {9, true, 1, WEIR_OK, false},
    {9, true, 1, WEIR_ERR_TIMEOUT, false},      {9, true, 1, WEIR_ERR_INVALID, false},
    {9, true, 1, WEIR_ERR_PROTOCOL, false},     {9, true, 1, WEIR_ERR_SERVER, false},
    {9, true, 1, WEIR_ERR_TOO_LARGE, false},    {9, true, 1, WEIR_ERR_MEMORY, false},
};

static struct weir_exchange exchange_of(size_t i, int64_t ms_left)
{
    return (struct weir_exchange){
        .call = {.attempts_max = rows[i].attempts_max, .retries_sent = rows[i].retries_sent},
        .deadline =
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms_left, GPR_TIMESPAN)),
        .attempts = rows[i].attempts,
    };
}

Test(exchange, is_tried_again_only_where_its_caller_allows_it)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_exchange exchange = exchange_of(i, 60000);

        cr_assert_eq(weir_exchange_is_retriable(&exchange, rows[i].err), rows[i].want, "row %zu",
                     i);
    }
}

Test(exchange, is_never_tried_again_after_its_deadline)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_exchange exchange = exchange_of(i, 0);

        cr_assert_not(weir_exchange_is_retriable(&exchange, rows[i].err), "row %zu", i);
    }
}
