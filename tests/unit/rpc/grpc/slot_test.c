/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/slot.h"

#include <criterion/criterion.h>
#include <grpc/compression.h>
#include <grpc/slice.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/wait_for.h"
#include "tests/unit/rpc/grpc/bed.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
#define MIB ((size_t) 1 << 20)

static struct bed bed;

static void open_bed(void)
{
    bed_open(&bed);
}

static void close_bed(void)
{
    bed_close(&bed);
}

TestSuite(slot, .init = open_bed, .fini = close_bed);

/* A unary call from beginning to end. */
static struct wr_grpc_client_call *call(const char *path, struct wr_str message)
{
    struct wr_grpc_client_call *const made =
        wr_grpc_client_call_new(&bed.client, path, WR_GRPC_CLIENT_FOREVER);

    (void) wr_grpc_client_call_send(made, message);
    wr_grpc_client_call_half_close(made);
    return made;
}

static void expect_reply(struct wr_grpc_client_call *made, struct wr_str want)
{
    struct wr_str got = {0};

    cr_assert(wr_grpc_client_call_receive(made, &got));
    cr_assert(wr_str_equal(got, want), "%zu bytes came, not %zu", got.len, want.len);
    cr_assert_eq(wr_grpc_client_call_end(made), GRPC_STATUS_OK);
    wr_grpc_client_call_free(made);
}

static void expect_status(struct wr_grpc_client_call *made, grpc_status_code want)
{
    cr_assert_eq(wr_grpc_client_call_end(made), want, "status is %d", (int) made->status);
    wr_grpc_client_call_free(made);
}

Test(slot, answers_inline)
{
    expect_reply(call(ECHO, S("hello")), S("hello"));
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(atomic_load(&bed.n_closed), 1);
    cr_assert_eq(atomic_load(&bed.n_cancelled), 0);
}

Test(slot, is_used_again_and_again)
{
    for (int i = 0; i < 3000; i++) {
        expect_reply(call(ECHO, S("again")), S("again"));
    }
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(atomic_load(&bed.n_closed), 3000);
}

Test(slot, tells_an_empty_message_from_none)
{
    expect_reply(call(ECHO, S("")), S(""));

    struct wr_grpc_client_call *const none =
        wr_grpc_client_call_new(&bed.client, ECHO, WR_GRPC_CLIENT_FOREVER);

    wr_grpc_client_call_half_close(none);
    expect_status(none, GRPC_STATUS_INVALID_ARGUMENT);
}

Test(slot, passes_a_message_of_many_slices_whole)
{
    const size_t len = 3 * MIB;
    char *const bytes = malloc(len);

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (char) (i * 7 + i / 4096);
    }
    expect_reply(call(ECHO, (struct wr_str){.ptr = bytes, .len = len}),
                 (struct wr_str){.ptr = bytes, .len = len});
    free(bytes);
}

Test(slot, takes_a_message_of_4_MiB_and_refuses_one_byte_more)
{
    char *const bytes = calloc(1, 4 * MIB + 1);

    cr_assert_not_null(bytes);
    expect_reply(call(ECHO, (struct wr_str){.ptr = bytes, .len = 4 * MIB}),
                 (struct wr_str){.ptr = bytes, .len = 4 * MIB});
    expect_status(call(ECHO, (struct wr_str){.ptr = bytes, .len = 4 * MIB + 1}),
                  GRPC_STATUS_RESOURCE_EXHAUSTED);
    expect_reply(call(ECHO, S("next")), S("next"));
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    free(bytes);
}

static struct wr_grpc_client_call *call_gzip(struct wr_str message)
{
    const grpc_metadata gzip = {
        .key = grpc_slice_from_static_string(GRPC_COMPRESSION_REQUEST_ALGORITHM_MD_KEY),
        .value = grpc_slice_from_static_string("gzip"),
    };
    struct wr_grpc_client_call *const made =
        wr_grpc_client_call_new_with(&bed.client, ECHO, WR_GRPC_CLIENT_FOREVER, &gzip);

    (void) wr_grpc_client_call_send(made, message);
    wr_grpc_client_call_half_close(made);
    return made;
}

Test(slot, unpacks_gzip_up_to_the_bound)
{
    char *const bytes = calloc(1, 4 * MIB + 1);

    cr_assert_not_null(bytes);
    expect_reply(call_gzip((struct wr_str){.ptr = bytes, .len = 4 * MIB}),
                 (struct wr_str){.ptr = bytes, .len = 4 * MIB});
    expect_status(call_gzip((struct wr_str){.ptr = bytes, .len = 4 * MIB + 1}),
                  GRPC_STATUS_RESOURCE_EXHAUSTED);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    free(bytes);
}

Test(slot, fails_with_text_and_details)
{
    struct wr_grpc_client_call *const made = call(FAIL, S("x"));

    cr_assert_eq(wr_grpc_client_call_end(made), GRPC_STATUS_NOT_FOUND);
    cr_assert(wr_str_equal(wr_grpc_client_call_text(made), S("nothing here: 100 % \xc3\xa4")));
    cr_assert(
        wr_str_equal(wr_grpc_client_call_trailer(made, "grpc-status-details-bin"), S("\0\1\xff")));
    wr_grpc_client_call_free(made);
}

Test(slot, knows_the_deadline)
{
    struct wr_grpc_client_call *const made = wr_grpc_client_call_new(&bed.client, LEFT, 60000);
    struct wr_str left = {0};

    cr_assert(wr_grpc_client_call_send(made, S("x")));
    cr_assert(wr_grpc_client_call_receive(made, &left));

    char text[32] = "";

    memcpy(text, left.ptr, left.len);
    cr_assert_leq(atoll(text), 62000000, "what travels is rounded up: %s", text);
    cr_assert_gt(atoll(text), 30000000);
    cr_assert_eq(wr_grpc_client_call_end(made), GRPC_STATUS_OK);
    wr_grpc_client_call_free(made);
    expect_reply(call(LEFT, S("x")), S("9223372036854775807"));
}

Test(slot, knows_who_calls)
{
    struct wr_grpc_client_call *const made = call(PEER, S("x"));
    struct wr_str got = {0};

    cr_assert(wr_grpc_client_call_receive(made, &got));
    cr_assert(wr_str_has_prefix(got, S("127.0.0.1:")), "%.*s", (int) got.len, got.ptr);
    cr_assert_gt(got.len, sizeof "127.0.0.1:");
    cr_assert_eq(wr_grpc_client_call_end(made), GRPC_STATUS_OK);
    wr_grpc_client_call_free(made);
}

Test(slot, answers_a_method_that_is_not_served)
{
    expect_status(call("/test.Test/Nothing", S("x")), GRPC_STATUS_UNIMPLEMENTED);
    expect_status(call("/\x01 odd", S("x")), GRPC_STATUS_UNIMPLEMENTED);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_CALLS_UNIMPLEMENTED), 2);
}

Test(slot, answers_after_a_wake_from_another_thread)
{
    struct wr_grpc_client_call *const made = call(WAIT, S("later"));

    WAIT_FOR(bed_n_waiting(&bed) == 1);
    WAIT_FOR(bed_n_in_use(&bed) == 1);
    bed_wake_all(&bed);
    expect_reply(made, S("later"));
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(atomic_load(&bed.n_closed), 1);
}

Test(slot, sees_a_cancel_while_it_waits_and_stays_until_woken)
{
    struct wr_grpc_client_call *const made = call(WAIT, S("never"));

    WAIT_FOR(bed_n_waiting(&bed) == 1);
    wr_grpc_client_call_cancel(made);
    expect_status(made, GRPC_STATUS_CANCELLED);
    WAIT_FOR(atomic_load(&bed.n_cancelled) >= 1);
    WAIT_FOR(bed_n_in_use(&bed) == 1); /* the store still has its reference */
    bed_wake_all(&bed);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_eq(atomic_load(&bed.n_woken), 1);
    cr_assert_eq(atomic_load(&bed.n_closed), 0);
}

Test(slot, ends_a_call_whose_deadline_passes_while_it_waits)
{
    struct wr_grpc_client_call *const made = wr_grpc_client_call_new(&bed.client, WAIT, 300);

    cr_assert(wr_grpc_client_call_send(made, S("late")));
    WAIT_FOR(bed_n_waiting(&bed) == 1);
    expect_status(made, GRPC_STATUS_DEADLINE_EXCEEDED);
    WAIT_FOR(atomic_load(&bed.n_cancelled) >= 1);
    bed_wake_all(&bed);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}

Test(slot, leaves_nothing_behind_when_wakes_and_cancels_race)
{
    struct wr_grpc_client_call *made[200];
    const size_t n = sizeof made / sizeof made[0];

    for (size_t round = 0; round < 10; round++) {
        for (size_t i = 0; i < n / 2; i++) {
            made[i] = call(WAIT, S("race"));
        }
        WAIT_FOR(bed_n_waiting(&bed) == n / 2);
        for (size_t i = 0; i < n / 2; i++) {
            wr_grpc_client_call_cancel(made[i]);
            if (i == round * 10) {
                bed_wake_all(&bed);
            }
        }
        for (size_t i = 0; i < n / 2; i++) {
            (void) wr_grpc_client_call_end(made[i]);
            wr_grpc_client_call_free(made[i]);
        }
        WAIT_FOR(bed_n_in_use(&bed) == 0);
    }
    cr_assert_eq(atomic_load(&bed.n_woken), 10 * n / 2);
    cr_assert_eq(atomic_load(&bed.n_closed) + atomic_load(&bed.n_cancelled), 10 * n / 2);
}

Test(slot, gives_back_what_a_giant_took)
{
    expect_reply(call(HUGE_ARENA, S("small")), S("small"));
    WAIT_FOR(bed_n_in_use(&bed) == 0);

    const size_t first = bed_arena_bytes(&bed);

    expect_reply(call(HUGE_ARENA, S("small")), S("small"));
    WAIT_FOR(bed_n_in_use(&bed) == 0);
    cr_assert_lt(bed_arena_bytes(&bed), 64 * 1024, "%zu then %zu bytes", first,
                 bed_arena_bytes(&bed));
}
