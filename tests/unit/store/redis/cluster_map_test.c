/* SPDX-License-Identifier: Apache-2.0 */
/* Which node of a cluster has which slots: where that is learnt, and what is done without. */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "tests/unit/store/redis/cluster_bed.h"

Test(redis_cluster_map, one_moved_slot_has_the_map_asked_for)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    WAIT_FOR(route_bed_is_charged(&bed.base, 8) && atomic_load(&bed.nodes[2].n_charges) > 0);
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, slots_that_nobody_owns_are_away_at_once)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    set_owners(&bed, 0, 100, 1, 200);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert_eq(charge_for(&bed, 200, PATIENCE_US), WR_REDIS_AWAY);
    cr_assert(route_bed_is_charged(&bed.base, 199));
    set_owners(&bed, 0, 100, 1, 300);
    WAIT_FOR(charge_for(&bed, 200, PATIENCE_US) == WR_REDIS_REPLIED);
    cluster_bed_end(&bed);
}

/* How long it takes until the slots of a node that has ended are found elsewhere. */
static int64_t look_elsewhere(void)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    stop_node(&bed, 0);
    WAIT_FOR(charge_for(&bed, 7, PATIENCE_US) == WR_REDIS_AWAY);
    cr_assert(atomic_load(&bed.base.is_ready), "the other node is there");
    cr_assert(route_bed_is_charged(&bed.base, HALF));
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);

    const int64_t begun_us = wr_clock_mono_us();

    WAIT_FOR(route_bed_is_charged(&bed.base, 7));

    const int64_t took_us = wr_clock_mono_us() - begun_us;

    cr_assert_gt(atomic_load(&bed.nodes[2].n_charges), 0);
    cluster_bed_end(&bed);
    return took_us;
}

/* Soon, as five seconds pass between two looks when all is well; a busy machine gets more chances.
 */
Test(redis_cluster_map, slots_of_a_node_that_is_away_go_where_the_others_say)
{
    int64_t took_us = INT64_MAX;

    for (int i = 0; i < 20 && took_us >= 2000000; i++) {
        took_us = look_elsewhere();
    }
    cr_assert_lt(took_us, 2000000);
}

Test(redis_cluster_map, slots_of_a_frozen_node_go_where_the_others_say)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    cr_assert(route_bed_is_charged(&bed.base, 7));
    wr_fake_redis_freeze(bed.nodes[0].fake, true);
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);
    WAIT_FOR(charge_for(&bed, 7, 20000) == WR_REDIS_REPLIED);
    cr_assert_gt(atomic_load(&bed.nodes[2].n_charges), 0);
    wr_fake_redis_freeze(bed.nodes[0].fake, false);
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, all_nodes_away_and_back)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    stop_node(&bed, 0);
    stop_node(&bed, 1);
    WAIT_FOR(!atomic_load(&bed.base.is_ready));
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_AWAY);
    start_node(&bed, 0);
    start_node(&bed, 1);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    WAIT_FOR(route_bed_is_charged(&bed.base, 7) && route_bed_is_charged(&bed.base, HALF));
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, seeds_that_are_away_are_tried_until_one_is_there)
{
    struct cluster_bed bed;

    cluster_bed_make(&bed);
    stop_node(&bed, 0);
    stop_node(&bed, 1);
    set_owners(&bed, 2, HALF, 2, WR_REDIS_SLOTS);
    cluster_bed_open(&bed);
    WAIT_FOR(charge_for(&bed, 7, PATIENCE_US) == WR_REDIS_AWAY);
    start_node(&bed, 1);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 0, 0, 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, an_older_server_is_asked_for_slots)
{
    struct cluster_bed bed;
    char slots[MAP_SIZE];

    cluster_bed_make(&bed);
    (void) snprintf(slots, sizeof slots,
                    "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n",
                    bed.nodes[2].port);
    set_map(&bed, "-ERR Unknown subcommand or wrong number of arguments for 'SHARDS'\r\n", slots);
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 0, 0, 1);
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, what_is_no_map_is_asked_again)
{
    static const char *const rows[] = {
        "*0\r\n",
        "+OK\r\n",
        "*1\r\n:5\r\n",
        "-ERR This instance has cluster support disabled\r\n",
        "-NOPERM this user has no permissions\r\n",
        "-LOADING Redis is loading the dataset in memory\r\n",
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct cluster_bed bed;

        cluster_bed_make(&bed);
        set_map(&bed, rows[row], rows[row]);
        cluster_bed_open(&bed);
        WAIT_FOR(atomic_load(&bed.nodes[0].n_maps) + atomic_load(&bed.nodes[1].n_maps) >= 4);
        cr_assert_not(atomic_load(&bed.base.is_ready), "%s", rows[row]);
        cr_assert_neq(charge_for(&bed, 7, 20000), WR_REDIS_REPLIED, "%s", rows[row]);
        set_owners(&bed, 0, HALF, 1, WR_REDIS_SLOTS);
        WAIT_FOR(atomic_load(&bed.base.is_ready));
        cr_assert(route_bed_is_charged(&bed.base, 7), "%s", rows[row]);
        cluster_bed_end(&bed);
    }
}

Test(redis_cluster_map, an_empty_map_does_not_replace_one)
{
    struct cluster_bed bed;

    cluster_bed_open_whole(&bed);
    set_map(&bed, "*0\r\n", "*0\r\n");

    const size_t n_maps = atomic_load(&bed.nodes[0].n_maps) + atomic_load(&bed.nodes[1].n_maps);

    stop_node(&bed, 0);
    WAIT_FOR(atomic_load(&bed.nodes[1].n_maps) > n_maps + 2);
    cr_assert(route_bed_is_charged(&bed.base, HALF));
    cluster_bed_end(&bed);
}

Test(redis_cluster_map, a_map_without_hosts_means_the_one_that_was_asked)
{
    struct cluster_bed bed;
    char text[MAP_SIZE] = "*1\r\n";

    cluster_bed_make(&bed);
    (void) write_shard(text + 4, sizeof text - 4, 0, WR_REDIS_SLOTS - 1, "", bed.nodes[2].port);
    set_map(&bed, text, "");
    cluster_bed_open(&bed);
    WAIT_FOR(atomic_load(&bed.base.is_ready));
    cr_assert(route_bed_is_charged(&bed.base, 7));
    expect_charges(&bed, 0, 0, 1);
    cluster_bed_end(&bed);
}
