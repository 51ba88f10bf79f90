/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rpc/grpc/slot.h"
#include "tests/support/wait_for.h"
#include "tests/unit/rpc/grpc/bed.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
#define N_STREAMS 1100

static struct bed bed;

static void open_bed(void)
{
    bed.options.rare_slots = N_STREAMS + 100;
    bed.options.max_concurrent_streams = N_STREAMS + 100;
    bed_open(&bed);
}

static void close_bed(void)
{
    bed_close(&bed);
}

TestSuite(stream, .init = open_bed, .fini = close_bed);

static struct wr_grpc_client_call *begin(const char *path)
{
    return wr_grpc_client_call_new(&bed.client, path, WR_GRPC_CLIENT_FOREVER);
}

static void expect_echo(struct wr_grpc_client_call *stream, struct wr_str text)
{
    struct wr_str got = {0};

    cr_assert(wr_grpc_client_call_send(stream, text));
    cr_assert(wr_grpc_client_call_receive(stream, &got));
    cr_assert(wr_str_equal(got, text));
}

Test(stream, echoes_until_the_half_close)
{
    struct wr_grpc_client_call *const stream = begin(ECHO_STREAM);

    for (int i = 0; i < 200; i++) {
        expect_echo(stream, i % 2 == 0 ? S("even") : S(""));
    }
    WAIT_FOR(bed_n_in_use(&bed) == 1);
    wr_grpc_client_call_half_close(stream);
    cr_assert_eq(wr_grpc_client_call_end(stream), GRPC_STATUS_OK);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(atomic_load(&bed.n_closed), 1);
}

Test(stream, sends_what_was_queued_before_the_end)
{
    struct wr_grpc_client_call *const stream = begin(SHORT_STREAM);
    struct wr_str got = {0};

    cr_assert(wr_grpc_client_call_send(stream, S("last words")));
    cr_assert(wr_grpc_client_call_receive(stream, &got));
    cr_assert(wr_str_equal(got, S("last words")));
    cr_assert_eq(wr_grpc_client_call_end(stream), GRPC_STATUS_UNAVAILABLE);
    cr_assert(wr_str_equal(wr_grpc_client_call_text(stream), S("enough")));
    wr_grpc_client_call_free(stream);
    WAIT_FOR(bed_n_in_use(&bed) == 0); /* though the caller never half-closed */
}

Test(stream, ends_when_more_is_queued_than_the_bound)
{
    struct wr_grpc_client_call *const stream = begin(FLOOD_STREAM);
    char *const large = calloc(1, 100000); /* flow control holds them back */
    size_t n_received = 0;
    struct wr_str got = {0};

    cr_assert_not_null(large);
    cr_assert(wr_grpc_client_call_send(stream, (struct wr_str){.ptr = large, .len = 100000}));
    while (wr_grpc_client_call_receive(stream, &got)) {
        n_received++;
    }
    cr_assert_eq(wr_grpc_client_call_end(stream), GRPC_STATUS_RESOURCE_EXHAUSTED);
    cr_assert_eq(n_received, WR_GRPC_OUTBOX_MAX + 1, "%zu came", n_received);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    free(large);
}

Test(stream, cancelled_before_a_message_leaves_nothing)
{
    struct wr_grpc_client_call *const stream = begin(ECHO_STREAM);

    WAIT_FOR(bed_n_in_use(&bed) == 1);
    wr_grpc_client_call_cancel(stream);
    cr_assert_eq(wr_grpc_client_call_end(stream), GRPC_STATUS_CANCELLED);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    /* The cancel may look like a half-close, which is a message. */
    cr_assert_leq(atomic_load(&bed.n_cancelled) + atomic_load(&bed.n_closed), 1);
}

Test(stream, cancelled_between_messages_is_closed)
{
    struct wr_grpc_client_call *const stream = begin(ECHO_STREAM);

    expect_echo(stream, S("one"));
    wr_grpc_client_call_cancel(stream);
    (void) wr_grpc_client_call_end(stream);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(atomic_load(&bed.n_cancelled) >= 1);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}

Test(stream, cancelled_with_a_full_queue_leaves_nothing)
{
    struct wr_grpc_client_call *const stream = begin(FLOOD_STREAM);
    char *const large = calloc(1, 100000);
    struct wr_str got = {0};

    cr_assert_not_null(large);
    cr_assert(wr_grpc_client_call_send(stream, (struct wr_str){.ptr = large, .len = 100000}));
    cr_assert(wr_grpc_client_call_receive(stream, &got));
    wr_grpc_client_call_cancel(stream);
    (void) wr_grpc_client_call_end(stream);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    free(large);
}

Test(stream, of_which_1100_live_on_one_connection)
{
    static struct wr_grpc_client_call *streams[N_STREAMS];

    for (size_t i = 0; i < N_STREAMS; i++) {
        streams[i] = begin(ECHO_STREAM);
    }
    for (size_t i = 0; i < N_STREAMS; i++) {
        expect_echo(streams[i], S("here"));
    }
    WAIT_FOR(bed_n_in_use(&bed) == N_STREAMS);
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_CONNECTIONS), 1);
    for (size_t i = 0; i < N_STREAMS; i++) {
        wr_grpc_client_call_half_close(streams[i]);
        cr_assert_eq(wr_grpc_client_call_end(streams[i]), GRPC_STATUS_OK);
        wr_grpc_client_call_free(streams[i]);
    }
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}
