/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/reflection.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/fake_transport.h"
#include "wire/reflection.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
/* ServerReflectionRequest: list_services "*"; file_containing_symbol "no.such". */
#define LIST_SERVICES S("\x3a\x01*")
#define NO_SUCH_SYMBOL S("\x22\x07no.such")

static struct wr_metrics *metrics;
static struct wr_fake_transport *transport;
static struct wr_descriptor_pool *pool;
static struct wr_method methods[WR_REFLECTION_METHODS];

static void set_up(void)
{
    metrics = wr_metrics_new();
    transport = wr_fake_transport_new(metrics);
    cr_assert_eq(wr_descriptor_pool_new(&pool), WR_OK);
    wr_reflection_methods(pool, methods);
}

static void tear_down(void)
{
    wr_fake_transport_destroy(transport);
    wr_descriptor_pool_destroy(pool);
    wr_metrics_destroy(metrics);
}

TestSuite(reflection, .init = set_up, .fini = tear_down);

static bool contains(struct wr_str text, const char *part)
{
    const size_t len = strlen(part);

    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.ptr + i, part, len) == 0) {
            return true;
        }
    }
    return false;
}

Test(reflection, lists_the_services_in_both_versions)
{
    for (size_t i = 0; i < WR_REFLECTION_METHODS; i++) {
        struct wr_fake_call *const call = wr_fake_call_new(transport, &methods[i], INT64_MAX);

        cr_assert_eq(methods[i].kind, WR_METHOD_STREAM);
        wr_fake_call_message(call, LIST_SERVICES);
        cr_assert_eq(call->n_replies, 1);
        cr_assert(contains(call->replies[0], "envoy.service.ratelimit.v3.RateLimitService"));
        wr_fake_call_half_close(call);
        cr_assert(call->is_finished);
        cr_assert_eq(call->status, WR_STATUS_OK);
        wr_fake_call_free(call);
    }
    cr_assert_str_eq(methods[0].path, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
    cr_assert_str_eq(methods[1].path,
                     "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
}

Test(reflection, answers_many_questions_without_growing)
{
    struct wr_fake_call *const call = wr_fake_call_new(transport, &methods[0], INT64_MAX);

    for (int i = 0; i < 100; i++) {
        wr_fake_call_message(call, i % 2 == 0 ? LIST_SERVICES : NO_SUCH_SYMBOL);
    }
    cr_assert_eq(call->n_replies, 100, "what is not found does not end the stream");
    cr_assert_eq(call->arena.total_size, 0);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_REFLECTION_CALLS), 1);
    wr_fake_call_half_close(call);
    wr_fake_call_free(call);
}

Test(reflection, refuses_what_is_no_request)
{
    struct wr_fake_call *const call = wr_fake_call_new(transport, &methods[1], INT64_MAX);

    wr_fake_call_message(call, S("\x3a\x7f*"));
    cr_assert_eq(call->status, WR_STATUS_INVALID_ARGUMENT);
    wr_fake_call_free(call);
}

Test(reflection, lets_the_caller_leave_at_any_time)
{
    struct wr_fake_call *const call = wr_fake_call_new(transport, &methods[0], INT64_MAX);

    wr_fake_call_message(call, LIST_SERVICES);
    wr_fake_call_cancel(call);
    wr_fake_call_free(call);
}
