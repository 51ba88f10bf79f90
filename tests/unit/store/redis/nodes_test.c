/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/nodes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "metrics/metrics.h"
#include "store/redis/loop.h"
#include "tests/support/failing_malloc.h"

#define LONG_AGO INT64_C(3600000000)

/* A loop that does not run: links begin to connect and come no further. */
struct bed {
    struct wr_metrics *metrics;
    struct wr_redis_loop *loop;
    struct wr_redis_nodes *nodes;
};

static struct bed make(void)
{
    struct bed bed = {.metrics = wr_metrics_new(), .nodes = malloc(sizeof *bed.nodes)};

    cr_assert_not_null(bed.metrics);
    cr_assert_not_null(bed.nodes);

    struct wr_metrics_block *const block = wr_metrics_block_new(bed.metrics);

    cr_assert_not_null(block);
    cr_assert_eq(wr_redis_loop_new("test", block, &bed.loop), WR_OK);

    const struct wr_redis_link_options options = {
        .loop = bed.loop,
        .limits = {.connect_timeout_us = 1000000,
                   .pause_min_us = 1000,
                   .pause_max_us = 1000,
                   .breaker_timeouts = 1},
        .what = WR_STR("Redis"),
    };

    wr_redis_nodes_init(bed.nodes, &options);
    return bed;
}

static void end(struct bed *bed)
{
    wr_redis_nodes_close(bed->nodes);
    wr_redis_nodes_fini(bed->nodes);
    free(bed->nodes);
    wr_redis_loop_destroy(bed->loop);
    wr_metrics_destroy(bed->metrics);
}

static struct wr_redis_node *get(struct bed *bed, const char *host, const char *alias,
                                 uint16_t port)
{
    const struct wr_redis_primary names = {
        .names = {wr_str_of(host), wr_str_of(alias)},
        .n_names = *alias != '\0' ? 2 : 1,
        .port = port,
    };

    return wr_redis_nodes_get(bed->nodes, &names);
}

static struct wr_redis_node *find(struct bed *bed, const char *name, uint16_t port)
{
    return wr_redis_nodes_find(bed->nodes, wr_str_of(name), port);
}

Test(redis_nodes, one_of_a_name_and_port)
{
    struct bed bed = make();
    struct wr_redis_node *const node = get(&bed, "127.0.0.1", "", 1);

    cr_assert_not_null(node);
    cr_assert_eq(get(&bed, "127.0.0.1", "", 1), node);
    cr_assert_neq(get(&bed, "127.0.0.1", "", 2), node);
    cr_assert_neq(get(&bed, "127.0.0.2", "", 1), node);
    cr_assert_eq(bed.nodes->n, 3);
    end(&bed);
}

Test(redis_nodes, found_by_each_of_its_names)
{
    struct bed bed = make();
    struct wr_redis_node *const one = get(&bed, "127.0.0.1", "a.example", 1);
    struct wr_redis_node *const other = get(&bed, "127.0.0.2", "b.example", 1);

    cr_assert_eq(find(&bed, "127.0.0.1", 1), one);
    cr_assert_eq(find(&bed, "a.example", 1), one);
    cr_assert_eq(find(&bed, "b.example", 1), other);
    cr_assert_null(find(&bed, "b.example", 2));
    cr_assert_null(find(&bed, "c.example", 1));
    end(&bed);
}

Test(redis_nodes, other_names_may_change)
{
    struct bed bed = make();
    struct wr_redis_node *const node = get(&bed, "127.0.0.1", "a.example", 1);

    cr_assert_eq(get(&bed, "127.0.0.1", "b.example", 1), node);
    cr_assert_null(find(&bed, "a.example", 1));
    cr_assert_eq(find(&bed, "b.example", 1), node);
    cr_assert_eq(get(&bed, "127.0.0.1", "", 1), node);
    cr_assert_null(find(&bed, "b.example", 1));
    end(&bed);
}

/* A name by which one is connected to goes before what another is called, too. */
Test(redis_nodes, an_address_that_has_changed_hands)
{
    struct bed bed = make();

    cr_assert_not_null(get(&bed, "127.0.0.1", "127.0.0.2", 1));

    struct wr_redis_node *const node = get(&bed, "127.0.0.2", "", 1);

    cr_assert_eq(find(&bed, "127.0.0.2", 1), node);
    end(&bed);
}

Test(redis_nodes, who_is_not_named_any_more_is_dropped_after_a_while)
{
    struct bed bed = make();
    struct wr_redis_node *const nodes[] = {
        get(&bed, "127.0.0.1", "", 1),
        get(&bed, "127.0.0.1", "", 2),
        get(&bed, "127.0.0.1", "", 3),
    };

    for (size_t i = 0; i < 3; i++) {
        nodes[i]->named_us -= i < 2 ? LONG_AGO : 0;
    }
    nodes[0]->is_on_map = true;
    wr_redis_nodes_tidy(bed.nodes);
    cr_assert_eq(bed.nodes->n, 2);
    cr_assert_eq(find(&bed, "127.0.0.1", 1), nodes[0], "on the map");
    cr_assert_null(find(&bed, "127.0.0.1", 2));
    cr_assert_eq(find(&bed, "127.0.0.1", 3), nodes[2], "named a moment ago");
    end(&bed);
}

Test(redis_nodes, none_is_ready_at_first)
{
    struct bed bed = make();

    cr_assert_null(wr_redis_nodes_next(bed.nodes));
    cr_assert_not(wr_redis_nodes_any_ready(bed.nodes));
    get(&bed, "127.0.0.1", "", 1)->is_on_map = true;
    cr_assert_null(wr_redis_nodes_next(bed.nodes));
    cr_assert_not(wr_redis_nodes_any_ready(bed.nodes));
    cr_assert_not(wr_redis_nodes_all_ready(bed.nodes));
    end(&bed);
}

Test(redis_nodes, there_is_an_end_to_them)
{
    struct bed bed = make();

    for (size_t i = 0; i < WR_REDIS_NODES; i++) {
        /* No address, and nobody to look it up: no descriptor is used. */
        cr_assert_not_null(get(&bed, "a.example", "", (uint16_t) (i + 1)));
    }
    cr_assert_null(get(&bed, "a.example", "", WR_REDIS_NODES + 1));
    cr_assert_not_null(get(&bed, "a.example", "", 1));
    end(&bed);
}

Test(redis_nodes, what_could_not_be_made_leaves_nothing_behind)
{
    struct bed bed = make();
    struct wr_redis_node *node = NULL;
    size_t n = 0;

    while (node == NULL) {
        failing_malloc_start(n++);
        node = get(&bed, "127.0.0.1", "a.example", 1);
        failing_malloc_stop();
        cr_assert_eq(bed.nodes->n, node != NULL);
    }
    cr_assert_gt(n, 3);
    failing_malloc_start(0);
    cr_assert_null(get(&bed, "127.0.0.1", "b.example", 1));
    failing_malloc_stop();
    cr_assert_eq(find(&bed, "a.example", 1), node, "it keeps its names");
    end(&bed);
}
