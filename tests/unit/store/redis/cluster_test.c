/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/cluster.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/store/redis/cluster_bed.h"

/* Whoever waits for a better moment ends up to a pause before the deadline. On a busy machine the
 * last attempt may come too late for that: then once more. The script of the first node begins
 * anew. */
static void charge_in_time(struct cluster_bed *bed, struct route_charge *charge, uint16_t slot,
                           int64_t for_us)
{
    for (int i = 0; i < 20; i++) {
        atomic_store(&bed->nodes[0].n_charges, 0);
        route_charge_begin(charge, &bed->base, slot, for_us);
        if (route_charge_finish(charge) != WR_REDIS_TIMED_OUT) {
            return;
        }
    }
}

Test(redis_cluster, each_slot_goes_to_its_owner)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    cr_assert(route_bed_is_charged(&bed.base, 0));
    cr_assert(route_bed_is_charged(&bed.base, HALF - 1));
    cr_assert(route_bed_is_charged(&bed.base, HALF));
    cr_assert(route_bed_is_charged(&bed.base, HALF + 1));
    cr_assert(route_bed_is_charged(&bed.base, WR_REDIS_SLOTS - 1));
    expect_charges(&bed, 2, 3, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, what_is_sent_before_the_map_is_there_waits_for_it)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    cluster_bed_open(&bed);
    cr_assert(route_bed_is_charged(&bed.base, HALF));
    cluster_bed_end(&bed);
}

Test(redis_cluster, a_moved_slot_is_followed_and_learnt)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    set_owners(&bed, 1, 100, 0, WR_REDIS_SLOTS);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 1, 2, 0);
    cr_assert_eq(wr_metrics_sum(bed.base.metrics, WR_METRIC_REDIS_REDIRECTS), 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster, a_slot_may_move_to_a_node_that_is_not_on_the_map)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 1, 0, 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster, a_redirection_without_a_host_means_the_same_host)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 :%u\r\n", bed.nodes[1].port);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 1, 1, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, asked_elsewhere_this_once)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-ASK 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    cluster_bed_open(&bed);
    cr_assert(route_bed_is_charged(&bed.base, HALF), "the other node is connected");
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 1, 2, 0);
    cr_assert_eq(atomic_load(&bed.nodes[1].n_asking), 1);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 2, 2, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, asked_at_a_node_that_is_not_on_the_map)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-ASK 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    }
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    cr_assert_eq(atomic_load(&bed.nodes[2].n_charges), 1);
    cr_assert_eq(atomic_load(&bed.nodes[2].n_asking), 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster, what_cannot_be_done_now_is_tried_again)
{
    static const char *const rows[] = {
        "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
        "-CLUSTERDOWN The cluster is down\r\n",
        "-CLUSTERDOWN Hash slot not served\r\n",
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct cluster_bed bed;

        cluster_bed_make(&bed);
        answer_charge(&bed.nodes[0], "%s", rows[row]);
        answer_charge(&bed.nodes[0], "%s", rows[row]);
        cluster_bed_open(&bed);
        WAIT_FOR(atomic_load(&bed.base.is_ready));
        cr_assert(route_bed_is_charged(&bed.base, 7), "%s", rows[row]);
        expect_charges(&bed, 3, 0, 0);
        cluster_bed_end(&bed);
    }
}

Test(redis_cluster, what_can_never_be_done_ends_by_its_deadline)
{
    struct cluster_bed bed;
    struct route_charge charge;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-TRYAGAIN now\r\n");
    }
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));

    charge_in_time(&bed, &charge, 7, 120000);
    cr_assert_eq(charge.end, WR_REDIS_REPLIED);
    cr_assert_str_eq(charge.reply, "TRYAGAIN now");
    /* Pauses of 1, 2, 4, 8, 16 and 32 ms; the next would be too long. */
    cr_assert_leq(atomic_load(&bed.nodes[0].n_charges), 7);
    cluster_bed_end(&bed);
}

Test(redis_cluster, redirections_in_a_circle_end)
{
    struct cluster_bed bed;
    struct route_charge charge;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
        answer_charge(&bed.nodes[1], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[0].port);
    }
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    route_charge_begin(&charge, &bed.base, 7, 3000);
    (void) route_charge_finish(&charge);
    /* At most six in a row, at once and after each of the pauses of 1 and 2 ms. */
    cr_assert_leq(atomic_load(&bed.nodes[0].n_charges) + atomic_load(&bed.nodes[1].n_charges), 18);
    cr_assert_neq(charge.end, WR_REDIS_LOST);
    cluster_bed_end(&bed);
}

Test(redis_cluster, a_redirection_to_nowhere_waits_for_the_map)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 ?:%u\r\n", bed.nodes[1].port);
    }
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    set_owners(&bed, 1, HALF, 0, WR_REDIS_SLOTS);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    cr_assert_eq(atomic_load(&bed.nodes[1].n_charges), 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster, the_script_is_taught_to_each_node)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-NOSCRIPT No matching script\r\n");
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    answer_charge(&bed.nodes[1], "-NOSCRIPT No matching script\r\n");
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 2, 2, 0);
    cr_assert_eq(wr_metrics_sum(bed.base.metrics, WR_METRIC_REDIS_SCRIPT_LOADS), 2);
    cluster_bed_end(&bed);
}

Test(redis_cluster, an_error_that_may_have_charged_is_not_repeated)
{
    struct cluster_bed bed;
    struct route_charge charge;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-ERR something\r\n");
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    route_charge_begin(&charge, &bed.base, 7, PATIENCE_US);
    cr_assert_eq(route_charge_finish(&charge), WR_REDIS_REPLIED);
    cr_assert_str_eq(charge.reply, "ERR something");
    expect_charges(&bed, 1, 0, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, a_lost_reply_is_not_repeated)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "%s", WR_FAKE_HANGS_UP);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_LOST);
    WAIT_FOR(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 2, 0, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, closed_with_charges_on_their_way)
{
    struct cluster_bed bed;
    struct route_charge in_flight, waiting;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[1], "-CLUSTERDOWN The cluster is down\r\n");
    }
    atomic_store(&bed.nodes[0].is_silent, true);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    route_charge_begin(&in_flight, &bed.base, 7, PATIENCE_US);
    route_charge_begin(&waiting, &bed.base, HALF, PATIENCE_US);
    WAIT_FOR(atomic_load(&bed.nodes[0].n_charges) == 1 &&
             atomic_load(&bed.nodes[1].n_charges) >= 2);
    cluster_bed_end(&bed);
    cr_assert_eq(route_charge_finish(&in_flight), WR_REDIS_LOST);
    cr_assert_neq(route_charge_finish(&waiting), WR_REDIS_TIMED_OUT);
}

Test(redis_cluster, nothing_is_sent_after_the_close)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    route_bed_close(&bed.base);
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_AWAY);
    expect_charges(&bed, 0, 0, 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster, without_memory_a_new_node_has_to_wait)
{
    struct cluster_bed bed;
    struct route_charge charge;

    cluster_bed_make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    }
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    failing_malloc_start(0);
    charge_in_time(&bed, &charge, 7, 240000);
    failing_malloc_stop();
    cr_assert_neq(charge.end, WR_REDIS_TIMED_OUT);
    cr_assert_eq(atomic_load(&bed.nodes[2].n_charges), 0);
    WAIT_FOR(route_bed_is_charged(&bed.base, 7));
    cr_assert_geq(atomic_load(&bed.nodes[2].n_charges), 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster, what_could_not_be_made)
{
    const struct wr_redis_route_frame frame = {.on_ready = route_bed_told_ready};
    const struct wr_redis_target target = {.topology = WR_REDIS_CLUSTER};
    struct wr_redis_route *route = NULL;

    failing_malloc_start(0);

    const enum wr_err err = wr_redis_cluster_new(&frame, &target, &route);

    failing_malloc_stop();
    cr_assert_eq(err, WR_ERR_NO_MEMORY);
    cr_assert_null(route);
}
