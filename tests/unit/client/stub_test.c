/* SPDX-License-Identifier: Apache-2.0 */
/* What a stub does when nobody listens; its calls of servers are in tests/e2e/test_client.py. */
#include "client/stub.h"

#include <criterion/criterion.h>

#define STATUS_UNAVAILABLE 14

/* Nobody listens in a folder that is not there. */
static const char *const nowhere = "unix:/nonexistent/weir.sock";

static bool count_reply(void *arg, const uint8_t *bytes, size_t len)
{
    (void) bytes;
    (void) len;
    ++*(int *) arg;
    return true;
}

Test(stub, refuses_a_target_that_cannot_be)
{
    struct weir_stub *stub = NULL;
    struct weir_error error;

    cr_assert_eq(weir_stub_new("weir", &stub, &error), WEIR_ERR_INVALID);
    cr_assert_eq(stub, NULL);
    cr_assert_eq(error.code, WEIR_ERR_INVALID);
    weir_stub_destroy(stub);
}

Test(stub, fails_at_once_again_and_again_when_nobody_listens)
{
    struct weir_stub *stub = NULL;
    int replies = 0;
    int status = 0;
    const struct weir_call call = {.method = WEIR_METHOD_CHECK,
                                   .deadline_ms = 10000,
                                   .on_reply = count_reply,
                                   .arg = &replies,
                                   .out_status = &status};

    cr_assert_eq(weir_stub_new(nowhere, &stub, NULL), WEIR_OK);
    for (int i = 0; i < 100; i++) {
        struct weir_error error;

        cr_assert_eq(weir_stub_unary(stub, &call, &error), WEIR_ERR_CONNECT, "%s", error.text);
        cr_assert_neq(strstr(error.text, nowhere), NULL, "%s", error.text);
        cr_assert_eq(status, STATUS_UNAVAILABLE);
    }
    cr_assert_eq(replies, 0);
    weir_stub_destroy(stub);
}

Test(stub, ends_a_stream_that_never_began)
{
    struct weir_stub *stub = NULL;
    struct weir_error error;
    int replies = 0;
    const struct weir_call call = {.method = WEIR_METHOD_HEALTH_WATCH,
                                   .deadline_ms = WEIR_NO_DEADLINE,
                                   .on_reply = count_reply,
                                   .arg = &replies};

    cr_assert_eq(weir_stub_new(nowhere, &stub, NULL), WEIR_OK);
    cr_assert_eq(weir_stub_stream(stub, &call, &error), WEIR_ERR_CONNECT, "%s", error.text);
    cr_assert_eq(replies, 0);
    weir_stub_destroy(stub);
}
