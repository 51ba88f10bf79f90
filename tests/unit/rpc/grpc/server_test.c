/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/server.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "tests/support/wait_for.h"
#include "tests/unit/rpc/grpc/bed.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
#define SECOND INT64_C(1000000)

static struct bed bed, other;

static void expect_echo(struct wr_grpc_client *client)
{
    struct wr_grpc_client_call *const call =
        wr_grpc_client_call_new(client, ECHO, WR_GRPC_CLIENT_FOREVER);
    struct wr_str got = {0};

    cr_assert(wr_grpc_client_call_send(call, S("ping")));
    cr_assert(wr_grpc_client_call_receive(call, &got));
    cr_assert(wr_str_equal(got, S("ping")));
    cr_assert_eq(wr_grpc_client_call_end(call), GRPC_STATUS_OK);
    wr_grpc_client_call_free(call);
}

static struct wr_grpc_client_call *begin_wait(struct bed *on)
{
    struct wr_grpc_client_call *const call =
        wr_grpc_client_call_new(&on->client, WAIT, WR_GRPC_CLIENT_FOREVER);

    cr_assert(wr_grpc_client_call_send(call, S("in flight")));
    wr_grpc_client_call_half_close(call);
    return call;
}

Test(server, refuses_two_rows_of_one_path)
{
    const struct wr_method rows[] = {{.path = "/a.B/C"}, {.path = "/a.B/C"}};
    struct wr_metrics *const metrics = wr_metrics_new();
    const struct wr_grpc_options options = {.table = {.methods = rows, .n_methods = 2},
                                            .metrics = metrics};
    struct wr_grpc_server *server = NULL;

    cr_assert_eq(wr_grpc_server_new(&options, &server), WR_ERR_INVALID);
    cr_assert_null(server);
    wr_metrics_destroy(metrics);
}

Test(server, can_be_destroyed_before_it_starts)
{
    const struct wr_method row = {.path = "/a.B/C"};
    struct wr_metrics *const metrics = wr_metrics_new();
    const struct wr_grpc_options options = {
        .table = {.methods = &row, .n_methods = 1}, .metrics = metrics, .n_workers = 3};
    struct wr_grpc_server *server = NULL;

    cr_assert_eq(wr_grpc_server_new(&options, &server), WR_OK);
    wr_grpc_server_destroy(server);
    wr_grpc_server_destroy(NULL);
    wr_metrics_destroy(metrics);
}

Test(server, lives_beside_another_in_one_process)
{
    bed_open(&bed);
    bed_open(&other);
    expect_echo(&bed.client);
    expect_echo(&other.client);
    bed_close(&bed);
    expect_echo(&other.client);
    bed_close(&other);
    cr_assert_eq(atomic_load(&bed.n_closed), 1);
    cr_assert_eq(atomic_load(&other.n_closed), 2);
}

Test(server, answers_on_several_workers)
{
    struct wr_grpc_client clients[8];

    bed.options.n_workers = 3;
    bed_open(&bed);
    for (size_t i = 0; i < 8; i++) {
        wr_grpc_client_open(&clients[i], bed.target);
    }
    for (size_t i = 0; i < 800; i++) {
        expect_echo(&clients[i % 8]);
    }
    for (size_t i = 0; i < 8; i++) {
        wr_grpc_client_close(&clients[i]);
    }
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_CONNECTIONS), 8);
    bed_close(&bed);
    cr_assert_eq(atomic_load(&bed.n_closed), 800);
}

Test(server, lets_calls_wait_for_a_slot)
{
    struct wr_grpc_client_call *calls[10];

    bed.options.rare_slots = 4;
    bed_open(&bed);
    for (size_t i = 0; i < 10; i++) {
        calls[i] = begin_wait(&bed);
    }
    for (size_t n_answered = 0; n_answered < 10;) {
        const size_t n = 10 - n_answered < 4 ? 10 - n_answered : 4;

        WAIT_FOR(bed_n_waiting(&bed) == n); /* never more than there are slots */
        bed_wake_all(&bed);
        n_answered += n;
    }
    for (size_t i = 0; i < 10; i++) {
        cr_assert_eq(wr_grpc_client_call_end(calls[i]), GRPC_STATUS_OK);
        wr_grpc_client_call_free(calls[i]);
    }
    bed_close(&bed);
}

static void stop_with_grace(void *context)
{
    (void) context;
    wr_grpc_server_stop(bed.server, 60 * SECOND);
}

Test(server, answers_what_is_in_flight_within_the_grace)
{
    struct wr_thread stopper;

    bed_open(&bed);

    struct wr_grpc_client_call *const call = begin_wait(&bed);

    WAIT_FOR(bed_n_waiting(&bed) == 1);
    cr_assert_eq(wr_thread_start(&stopper, "stopper", stop_with_grace, NULL), WR_OK);
    bed_wake_all(&bed);
    cr_assert_eq(wr_grpc_client_call_end(call), GRPC_STATUS_OK);
    wr_grpc_client_call_free(call);
    wr_thread_join(&stopper);
    bed_close(&bed);
    cr_assert_eq(atomic_load(&bed.n_closed), 1);
}

Test(server, ends_idle_streams_when_it_stops)
{
    struct wr_thread stopper;
    struct wr_str got = {0};

    bed_open(&bed);

    struct wr_grpc_client_call *const stream =
        wr_grpc_client_call_new(&bed.client, ECHO_STREAM, WR_GRPC_CLIENT_FOREVER);

    cr_assert(wr_grpc_client_call_send(stream, S("still there?")));
    cr_assert(wr_grpc_client_call_receive(stream, &got));
    cr_assert_eq(wr_thread_start(&stopper, "stopper", stop_with_grace, NULL), WR_OK);
    cr_assert_eq(wr_grpc_client_call_end(stream), GRPC_STATUS_UNAVAILABLE);
    cr_assert(wr_str_equal(wr_grpc_client_call_text(stream), S("the server is shutting down")));
    wr_grpc_client_call_free(stream);
    wr_thread_join(&stopper);
    bed_close(&bed);
}

Test(server, ends_idle_streams_that_hold_every_slot, .timeout = 30)
{
    struct wr_thread stopper;
    struct wr_grpc_client_call *streams[8];

    bed.options.n_workers = 2;
    bed.options.rare_slots = 2;
    bed_open(&bed);
    for (size_t i = 0; i < 8; i++) {
        streams[i] = wr_grpc_client_call_new(&bed.client, ECHO_STREAM, WR_GRPC_CLIENT_FOREVER);
    }
    WAIT_FOR(bed_n_in_use(&bed) == 4); /* as many as there are slots; the others wait */
    cr_assert_eq(wr_thread_start(&stopper, "stopper", stop_with_grace, NULL), WR_OK);
    for (size_t i = 0; i < 8; i++) {
        cr_assert_neq(wr_grpc_client_call_end(streams[i]), GRPC_STATUS_OK);
        wr_grpc_client_call_free(streams[i]);
    }
    wr_thread_join(&stopper);
    bed_close(&bed);
}

static void stop_at_once(void *context)
{
    (void) context;
    wr_grpc_server_stop(bed.server, 1000);
}

Test(server, cancels_what_outlasts_the_grace_and_waits_for_the_store)
{
    struct wr_thread stopper;

    bed_open(&bed);

    struct wr_grpc_client_call *const call = begin_wait(&bed);
    struct wr_grpc_client_call *const stream =
        wr_grpc_client_call_new(&bed.client, ECHO_STREAM, WR_GRPC_CLIENT_FOREVER);

    WAIT_FOR(bed_n_waiting(&bed) == 1);
    WAIT_FOR(bed_n_in_use(&bed) == 2);
    cr_assert_eq(wr_thread_start(&stopper, "stopper", stop_at_once, NULL), WR_OK);
    cr_assert_neq(wr_grpc_client_call_end(call), GRPC_STATUS_OK);
    cr_assert_neq(wr_grpc_client_call_end(stream), GRPC_STATUS_OK);
    wr_grpc_client_call_free(call);
    wr_grpc_client_call_free(stream);
    WAIT_FOR(atomic_load(&bed.n_cancelled) >= 1);
    WAIT_FOR(bed_n_in_use(&bed) == 1);
    bed_wake_all(&bed);
    wr_thread_join(&stopper);
    bed_close(&bed);
}

Test(server, does_not_wait_for_a_caller_who_does_not_react)
{
    struct timespec before, after;
    char byte = 0;

    bed_open(&bed);

    const int deaf = bed_connect_by_hand(&bed);

    cr_assert_eq(read(deaf, &byte, 1), 1, "the server has begun");
    cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    wr_grpc_server_stop(bed.server, 60 * SECOND);
    cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    cr_assert_leq(after.tv_sec - before.tv_sec, 45);
    (void) close(deaf);
    bed_close(&bed);
}

Test(server, only_closes_a_connection_that_comes_after_the_stop)
{
    int pair[2];
    char byte = 0;

    bed_open(&bed);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    wr_grpc_server_stop(bed.server, 0);
    wr_grpc_server_adopt(bed.server, pair[0]);
    cr_assert_eq(read(pair[1], &byte, 1), 0);
    (void) close(pair[1]);
    bed_close(&bed);
}
