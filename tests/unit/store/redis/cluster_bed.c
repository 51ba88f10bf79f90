/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/redis/cluster_bed.h"

#include <criterion/criterion.h>
#include <string.h>

#include "store/redis/cluster.h"

#define DONE ":1\r\n"

static bool is(struct wr_str word, const char *text)
{
    return wr_str_equal(word, wr_str_of(text));
}

/* On a fake's thread, which alone uses what this gives out. */
static const char *answer_map(struct cluster_node *node, const char *map)
{
    static _Thread_local char text[MAP_SIZE];

    (void) atomic_fetch_add(&node->n_maps, 1);
    (void) pthread_mutex_lock(&node->bed->lock);
    (void) snprintf(text, sizeof text, "%s", map);
    (void) pthread_mutex_unlock(&node->bed->lock);
    return text;
}

static const char *answer(void *context, const struct wr_str *words, size_t n)
{
    struct cluster_node *const node = context;

    if (is(words[0], "CLUSTER") && n == 2) {
        return answer_map(node, is(words[1], "SHARDS") ? node->bed->shards : node->bed->slots);
    }
    if (is(words[0], "ASKING")) {
        (void) atomic_fetch_add(&node->n_asking, 1);
    }
    if (is(words[0], "SCRIPT")) {
        (void) atomic_fetch_add(&node->n_loads, 1);
    }
    if (!is(words[0], "INCR")) {
        return NULL;
    }

    const size_t i = atomic_fetch_add(&node->n_charges, 1);

    if (atomic_load(&node->is_silent)) {
        return WR_FAKE_SAYS_NOTHING;
    }
    return i < node->n_script ? node->script[i] : DONE;
}

/* ---- the map ---- */

void set_map(struct cluster_bed *bed, const char *shards, const char *slots)
{
    (void) pthread_mutex_lock(&bed->lock);
    (void) snprintf(bed->shards, sizeof bed->shards, "%s", shards);
    (void) snprintf(bed->slots, sizeof bed->slots, "%s", slots);
    (void) pthread_mutex_unlock(&bed->lock);
}

int write_shard(char *out, size_t size, int first, int last, const char *host, uint16_t port)
{
    return snprintf(out, size,
                    "*4\r\n$5\r\nslots\r\n*2\r\n:%d\r\n:%d\r\n$5\r\nnodes\r\n*1\r\n*8\r\n$8\r\n"
                    "endpoint\r\n$%zu\r\n%s\r\n$4\r\nport\r\n:%u\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
                    "$6\r\nhealth\r\n$6\r\nonline\r\n",
                    first, last, strlen(host), host, port);
}

void set_owners(struct cluster_bed *bed, size_t low, int border, size_t high, int end)
{
    char text[MAP_SIZE] = "*2\r\n";
    int n = 4;

    n += write_shard(text + n, sizeof text - (size_t) n, 0, border - 1, "127.0.0.1",
                     bed->nodes[low].port);
    n += write_shard(text + n, sizeof text - (size_t) n, border, end - 1, "127.0.0.1",
                     bed->nodes[high].port);
    cr_assert_lt((size_t) n, sizeof text);
    set_map(bed, text, "-ERR no slots\r\n");
}

/* ---- the bed ---- */

void start_node(struct cluster_bed *bed, size_t i)
{
    struct cluster_node *const node = &bed->nodes[i];

    node->bed = bed;
    node->fake = wr_fake_redis_start_tcp(answer, node, node->port);
    node->port = wr_fake_redis_port(node->fake);
}

void stop_node(struct cluster_bed *bed, size_t i)
{
    wr_fake_redis_stop(bed->nodes[i].fake);
    bed->nodes[i].fake = NULL;
}

void cluster_bed_make(struct cluster_bed *bed)
{
    memset(bed, 0, sizeof *bed);
    cr_assert_eq(pthread_mutex_init(&bed->lock, NULL), 0);
    for (size_t i = 0; i < N_NODES; i++) {
        start_node(bed, i);
        bed->addresses[i] =
            (struct wr_redis_address){.host = "127.0.0.1", .port = bed->nodes[i].port};
    }
    bed->target = (struct wr_redis_target){
        .topology = WR_REDIS_CLUSTER,
        .addresses = bed->addresses,
        .n_addresses = 2,
    };
    set_owners(bed, 0, HALF, 1, WR_REDIS_SLOTS);
    route_bed_init(&bed->base);
}

void cluster_bed_open(struct cluster_bed *bed)
{
    const struct wr_redis_route_frame frame = {
        .link = {.loop = bed->base.loop,
                 .limits = {.connect_timeout_us = PATIENCE_US,
                            .slow_us = PATIENCE_US,
                            .pause_min_us = 1000,
                            .pause_max_us = 20000,
                            .breaker_timeouts = 3},
                 .script_load = WR_STR("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$1\r\nx\r\n"),
                 .what = WR_STR("Redis")},
        .on_ready = route_bed_told_ready,
        .context = &bed->base,
    };

    cr_assert_eq(wr_redis_cluster_new(&frame, &bed->target, &bed->base.route), WR_OK);
    route_bed_open(&bed->base);
}

void cluster_bed_open_whole(struct cluster_bed *bed)
{
    cluster_bed_make(bed);
    cluster_bed_open(bed);
    WAIT_FOR(atomic_load(&bed->base.is_ready));
}

void cluster_bed_end(struct cluster_bed *bed)
{
    route_bed_close(&bed->base);
    route_bed_fini(&bed->base);
    for (size_t i = 0; i < N_NODES; i++) {
        if (bed->nodes[i].fake != NULL) {
            stop_node(bed, i);
        }
    }
    cr_assert_eq(pthread_mutex_destroy(&bed->lock), 0);
}

/* ---- charges ---- */

enum wr_redis_end charge_for(struct cluster_bed *bed, uint16_t slot, int64_t for_us)
{
    struct route_charge charge;

    route_charge_begin(&charge, &bed->base, slot, for_us);
    return route_charge_finish(&charge);
}

void expect_charges(const struct cluster_bed *bed, size_t n0, size_t n1, size_t n2)
{
    cr_assert_eq(atomic_load(&bed->nodes[0].n_charges), n0);
    cr_assert_eq(atomic_load(&bed->nodes[1].n_charges), n1);
    cr_assert_eq(atomic_load(&bed->nodes[2].n_charges), n2);
}
