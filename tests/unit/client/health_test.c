/* SPDX-License-Identifier: Apache-2.0 */
/* Without a server; the answers of one are in tests/e2e/test_client.py. */
#include "client/health.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static void count_change(void *arg, enum weir_health health)
{
    (void) health;
    ++*(int *) arg;
}

static struct weir_stub *stub_to_nobody(void)
{
    struct weir_stub *stub = NULL;

    cr_assert_eq(weir_stub_new("unix:/nonexistent/weir.sock", &stub, NULL), WEIR_OK);
    return stub;
}

Test(health, of_nobody_is_no_answer)
{
    struct weir_stub *stub = stub_to_nobody();
    enum weir_health health = WEIR_HEALTH_NOT_SERVING;
    struct weir_error error;

    cr_assert_eq(weir_health_check(stub, weir_str("ratelimit"), 10000, &health, &error),
                 WEIR_ERR_CONNECT);
    cr_assert_eq(health, WEIR_HEALTH_NOT_SERVING, "an output that must stay untouched");
    weir_stub_destroy(stub);
}

Test(health, of_nobody_cannot_be_watched)
{
    struct weir_stub *stub = stub_to_nobody();
    struct weir_error error;
    int changes = 0;

    cr_assert_eq(weir_health_watch(stub, weir_str(""), count_change, &changes, &error),
                 WEIR_ERR_CONNECT);
    cr_assert_eq(changes, 0);
    weir_stub_destroy(stub);
}

Test(health, is_no_answer_without_memory)
{
    struct weir_stub *stub = stub_to_nobody();
    enum weir_health health = WEIR_HEALTH_UNKNOWN;
    struct weir_error error;
    int changes = 0;

    failing_malloc_start(0);

    const enum weir_err checked = weir_health_check(stub, weir_str("x"), 10000, &health, &error);
    const enum weir_err watched =
        weir_health_watch(stub, weir_str("x"), count_change, &changes, &error);

    failing_malloc_stop();
    cr_assert_eq(checked, WEIR_ERR_MEMORY);
    cr_assert_eq(watched, WEIR_ERR_MEMORY);
    weir_stub_destroy(stub);
}
