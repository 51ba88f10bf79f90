/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/cluster.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"
#include "store/redis/loop.h"
#include "store/redis/route.h"
#include "store/redis/slots.h"
#include "store/redis/target.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_redis.h"
#include "tests/support/wait_for.h"

#define N_NODES 3
#define N_SCRIPT 16
#define TEXT_SIZE 1024
#define PATIENCE_US WAIT_FOR_PATIENCE_US
#define HALF (WR_REDIS_SLOTS / 2)

/* What stands for a charge. */
#define CHARGE "*1\r\n$4\r\nINCR\r\n"
#define DONE ":1\r\n"

/* A server, and what it answers to charges: the script line by line, then DONE. */
struct node {
    struct bed *bed;
    struct wr_fake_redis *fake;
    uint16_t port;
    char script[N_SCRIPT][128];
    size_t n_script;
    atomic_size_t n_charges, n_asking, n_maps, n_loads;
    atomic_bool is_silent; /* to charges */
};

struct bed {
    struct node nodes[N_NODES];
    pthread_mutex_t lock;
    char shards[TEXT_SIZE], slots[TEXT_SIZE]; /* guarded by lock: what they answer */
    struct wr_metrics *metrics;
    struct wr_redis_loop *loop;
    struct wr_redis_route *route;
    struct wr_redis_address addresses[N_NODES];
    struct wr_redis_target target;
    struct wr_redis_job job;
    atomic_bool is_ready;
};

/* A charge on its way. */
struct charge {
    struct bed *bed;
    struct wr_redis_job job;
    struct wr_redis_request request;
    enum wr_redis_end end;
    char reply[128];
    sem_t is_over;
};

static bool is(struct wr_str word, const char *text)
{
    return wr_str_equal(word, wr_str_of(text));
}

/* On a fake's thread, which alone uses what this gives out. */
static const char *answer_map(struct node *node, const char *map)
{
    static _Thread_local char text[TEXT_SIZE];

    (void) atomic_fetch_add(&node->n_maps, 1);
    (void) pthread_mutex_lock(&node->bed->lock);
    (void) snprintf(text, sizeof text, "%s", map);
    (void) pthread_mutex_unlock(&node->bed->lock);
    return text;
}

static const char *answer(void *context, const struct wr_str *words, size_t n)
{
    struct node *const node = context;

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

static void set_map(struct bed *bed, const char *shards, const char *slots)
{
    (void) pthread_mutex_lock(&bed->lock);
    (void) snprintf(bed->shards, sizeof bed->shards, "%s", shards);
    (void) snprintf(bed->slots, sizeof bed->slots, "%s", slots);
    (void) pthread_mutex_unlock(&bed->lock);
}

static int write_shard(char *out, size_t size, int first, int last, const char *host, uint16_t port)
{
    return snprintf(out, size,
                    "*4\r\n$5\r\nslots\r\n*2\r\n:%d\r\n:%d\r\n$5\r\nnodes\r\n*1\r\n*8\r\n$8\r\n"
                    "endpoint\r\n$%zu\r\n%s\r\n$4\r\nport\r\n:%u\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
                    "$6\r\nhealth\r\n$6\r\nonline\r\n",
                    first, last, strlen(host), host, port);
}

/* The slots below `border` belong to `low`, up to `end` to `high`; the rest to nobody. */
static void set_owners(struct bed *bed, size_t low, int border, size_t high, int end)
{
    char text[TEXT_SIZE] = "*2\r\n";
    int n = 4;

    n += write_shard(text + n, sizeof text - (size_t) n, 0, border - 1, "127.0.0.1",
                     bed->nodes[low].port);
    n += write_shard(text + n, sizeof text - (size_t) n, border, end - 1, "127.0.0.1",
                     bed->nodes[high].port);
    cr_assert_lt((size_t) n, sizeof text);
    set_map(bed, text, "-ERR no slots\r\n");
}

/* ---- the bed ---- */

static void told_ready(void *context, bool is_ready)
{
    struct bed *const bed = context;

    atomic_store(&bed->is_ready, is_ready);
}

static void start_node(struct bed *bed, size_t i)
{
    struct node *const node = &bed->nodes[i];

    node->bed = bed;
    node->fake = wr_fake_redis_start_tcp(answer, node, node->port);
    node->port = wr_fake_redis_port(node->fake);
}

static void stop_node(struct bed *bed, size_t i)
{
    wr_fake_redis_stop(bed->nodes[i].fake);
    bed->nodes[i].fake = NULL;
}

/* Three nodes, of which the first two have the slots. Nothing is sent before open. */
static void make(struct bed *bed)
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
    bed->metrics = wr_metrics_new();
    cr_assert_not_null(bed->metrics);

    struct wr_metrics_block *const block = wr_metrics_block_new(bed->metrics);

    cr_assert_not_null(block);
    cr_assert_eq(wr_redis_loop_new("test-loop", block, &bed->loop), WR_OK);
}

static void open_on_loop(struct wr_redis_job *job)
{
    const struct bed *const bed = job->context;

    bed->route->ops->open(bed->route);
}

static void open_route(struct bed *bed)
{
    const struct wr_redis_route_frame frame = {
        .link = {.loop = bed->loop,
                 .limits = {.connect_timeout_us = 2000000,
                            .slow_us = 1000000,
                            .pause_min_us = 1000,
                            .pause_max_us = 20000,
                            .breaker_timeouts = 3},
                 .script_load = WR_STR("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$1\r\nx\r\n"),
                 .what = WR_STR("Redis")},
        .on_ready = told_ready,
        .context = bed,
    };

    cr_assert_eq(wr_redis_cluster_new(&frame, &bed->target, &bed->route), WR_OK);
    cr_assert_eq(wr_redis_loop_start(bed->loop), WR_OK);
    bed->job = (struct wr_redis_job){.run = open_on_loop, .context = bed};
    wr_redis_loop_call(bed->loop, &bed->job);
}

/* Ready: one node of the first map at least has been connected to. */
static void open_whole(struct bed *bed)
{
    make(bed);
    open_route(bed);
    WAIT_FOR(atomic_load(&bed->is_ready));
}

static void close_on_loop(struct wr_redis_job *job)
{
    const struct bed *const bed = job->context;

    bed->route->ops->close(bed->route);
}

static void close_route(struct bed *bed)
{
    bed->job = (struct wr_redis_job){.run = close_on_loop, .context = bed};
    wr_redis_loop_call(bed->loop, &bed->job);
}

static void end(struct bed *bed)
{
    close_route(bed);
    wr_redis_loop_stop(bed->loop);
    wr_redis_route_destroy(bed->route);
    wr_redis_loop_destroy(bed->loop);
    wr_metrics_destroy(bed->metrics);
    for (size_t i = 0; i < N_NODES; i++) {
        if (bed->nodes[i].fake != NULL) {
            stop_node(bed, i);
        }
    }
    cr_assert_eq(pthread_mutex_destroy(&bed->lock), 0);
}

/* ---- charges ---- */

static void charge_ended(struct wr_redis_request *request, enum wr_redis_end end,
                         const struct redisReply *reply)
{
    struct charge *const charge = request->context;

    charge->end = end;
    if (reply != NULL) {
        (void) snprintf(charge->reply, sizeof charge->reply, "%s",
                        reply->type == REDIS_REPLY_INTEGER ? "number" : reply->str);
    }
    cr_assert_eq(sem_post(&charge->is_over), 0);
}

static void send_on_loop(struct wr_redis_job *job)
{
    struct charge *const charge = job->context;

    wr_redis_request_start(&charge->request, charge->bed->loop);
    wr_redis_route_send(charge->bed->route, &charge->request);
}

static void begin(struct bed *bed, struct charge *charge, uint16_t slot, int64_t for_us)
{
    *charge = (struct charge){
        .bed = bed,
        .request = {.bytes = WR_STR(CHARGE),
                    .deadline_mono_us = wr_clock_mono_us() + for_us,
                    .slot = slot,
                    .on_end = charge_ended,
                    .context = charge},
    };
    charge->job = (struct wr_redis_job){.run = send_on_loop, .context = charge};
    cr_assert_eq(sem_init(&charge->is_over, 0, 0), 0);
    wr_redis_loop_push(bed->loop, &charge->job);
}

static enum wr_redis_end finish(struct charge *charge)
{
    while (sem_wait(&charge->is_over) != 0) {
    }
    cr_assert_eq(sem_destroy(&charge->is_over), 0);
    return charge->end;
}

static bool is_charged(struct bed *bed, uint16_t slot)
{
    struct charge charge;

    begin(bed, &charge, slot, PATIENCE_US);
    return finish(&charge) == WR_REDIS_REPLIED && strcmp(charge.reply, "number") == 0;
}

static enum wr_redis_end charge_for(struct bed *bed, uint16_t slot, int64_t for_us)
{
    struct charge charge;

    begin(bed, &charge, slot, for_us);
    return finish(&charge);
}

/* Whoever waits for a better moment ends up to a pause before the deadline. On a busy machine the
 * last attempt may come too late for that: then once more. The script of the first node begins
 * anew. */
static void charge_in_time(struct bed *bed, struct charge *charge, uint16_t slot, int64_t for_us)
{
    for (int i = 0; i < 20; i++) {
        atomic_store(&bed->nodes[0].n_charges, 0);
        begin(bed, charge, slot, for_us);
        if (finish(charge) != WR_REDIS_TIMED_OUT) {
            return;
        }
    }
}

static void expect_charges(const struct bed *bed, size_t n0, size_t n1, size_t n2)
{
    cr_assert_eq(atomic_load(&bed->nodes[0].n_charges), n0);
    cr_assert_eq(atomic_load(&bed->nodes[1].n_charges), n1);
    cr_assert_eq(atomic_load(&bed->nodes[2].n_charges), n2);
}

/* `node` answers this to the next charge that it has no answer for. */
#define answer_charge(node, ...)                                                                   \
    (void) snprintf((node)->script[(node)->n_script++], sizeof(node)->script[0], __VA_ARGS__)

/* ---- tests ---- */

Test(redis_cluster, each_slot_goes_to_its_owner)
{
    struct bed bed;

    open_whole(&bed);
    cr_assert(is_charged(&bed, 0));
    cr_assert(is_charged(&bed, HALF - 1));
    cr_assert(is_charged(&bed, HALF));
    cr_assert(is_charged(&bed, HALF + 1));
    cr_assert(is_charged(&bed, WR_REDIS_SLOTS - 1));
    expect_charges(&bed, 2, 3, 0);
    end(&bed);
}

Test(redis_cluster, what_is_sent_before_the_map_is_there_waits_for_it)
{
    struct bed bed;

    make(&bed);
    open_route(&bed);
    cr_assert(is_charged(&bed, HALF));
    end(&bed);
}

Test(redis_cluster, a_moved_slot_is_followed_and_learnt)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    set_owners(&bed, 1, 100, 0, WR_REDIS_SLOTS);
    cr_assert(is_charged(&bed, 7));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 1, 2, 0);
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_REDIS_REDIRECTS), 1);
    end(&bed);
}

Test(redis_cluster, one_moved_slot_has_the_map_asked_for)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);
    cr_assert(is_charged(&bed, 7));
    WAIT_FOR(is_charged(&bed, 8) && atomic_load(&bed.nodes[2].n_charges) > 0);
    end(&bed);
}

Test(redis_cluster, a_slot_may_move_to_a_node_that_is_not_on_the_map)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 1, 0, 1);
    end(&bed);
}

Test(redis_cluster, a_redirection_without_a_host_means_the_same_host)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-MOVED 7 :%u\r\n", bed.nodes[1].port);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 1, 1, 0);
    end(&bed);
}

Test(redis_cluster, asked_elsewhere_this_once)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-ASK 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    open_route(&bed);
    cr_assert(is_charged(&bed, HALF), "the other node is connected");
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 1, 2, 0);
    cr_assert_eq(atomic_load(&bed.nodes[1].n_asking), 1);
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 2, 2, 0);
    end(&bed);
}

/* It takes a while to connect: the owner is asked again meanwhile. */
Test(redis_cluster, asked_at_a_node_that_is_not_on_the_map)
{
    struct bed bed;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-ASK 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    }
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    cr_assert_eq(atomic_load(&bed.nodes[2].n_charges), 1);
    cr_assert_eq(atomic_load(&bed.nodes[2].n_asking), 1);
    end(&bed);
}

Test(redis_cluster, what_cannot_be_done_now_is_tried_again)
{
    static const char *const rows[] = {
        "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
        "-CLUSTERDOWN The cluster is down\r\n",
        "-CLUSTERDOWN Hash slot not served\r\n",
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct bed bed;

        make(&bed);
        answer_charge(&bed.nodes[0], "%s", rows[row]);
        answer_charge(&bed.nodes[0], "%s", rows[row]);
        open_route(&bed);
        WAIT_FOR(atomic_load(&bed.is_ready));
        cr_assert(is_charged(&bed, 7), "%s", rows[row]);
        expect_charges(&bed, 3, 0, 0);
        end(&bed);
    }
}

Test(redis_cluster, what_can_never_be_done_ends_by_its_deadline)
{
    struct bed bed;
    struct charge charge;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-TRYAGAIN now\r\n");
    }
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));

    charge_in_time(&bed, &charge, 7, 120000);
    cr_assert_eq(charge.end, WR_REDIS_REPLIED);
    cr_assert_str_eq(charge.reply, "TRYAGAIN now");
    /* Pauses of 1, 2, 4, 8, 16 and 32 ms; the next would be too long. */
    cr_assert_leq(atomic_load(&bed.nodes[0].n_charges), 7);
    end(&bed);
}

Test(redis_cluster, redirections_in_a_circle_end)
{
    struct bed bed;
    struct charge charge;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
        answer_charge(&bed.nodes[1], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[0].port);
    }
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    begin(&bed, &charge, 7, 3000);
    (void) finish(&charge);
    /* At most six in a row, at once and after each of the pauses of 1 and 2 ms. */
    cr_assert_leq(atomic_load(&bed.nodes[0].n_charges) + atomic_load(&bed.nodes[1].n_charges), 18);
    cr_assert_neq(charge.end, WR_REDIS_LOST);
    end(&bed);
}

/* Neither who says it nor the map knows where: once the map does, it is done. */
Test(redis_cluster, a_redirection_to_nowhere_waits_for_the_map)
{
    struct bed bed;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 ?:%u\r\n", bed.nodes[1].port);
    }
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    set_owners(&bed, 1, HALF, 0, WR_REDIS_SLOTS);
    cr_assert(is_charged(&bed, 7));
    cr_assert_eq(atomic_load(&bed.nodes[1].n_charges), 1);
    end(&bed);
}

Test(redis_cluster, the_script_is_taught_to_each_node)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "-NOSCRIPT No matching script\r\n");
    answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[1].port);
    answer_charge(&bed.nodes[1], "-NOSCRIPT No matching script\r\n");
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 2, 2, 0);
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_REDIS_SCRIPT_LOADS), 2);
    end(&bed);
}

Test(redis_cluster, an_error_that_may_have_charged_is_not_repeated)
{
    struct bed bed;
    struct charge charge;

    make(&bed);
    answer_charge(&bed.nodes[0], "-ERR something\r\n");
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    begin(&bed, &charge, 7, PATIENCE_US);
    cr_assert_eq(finish(&charge), WR_REDIS_REPLIED);
    cr_assert_str_eq(charge.reply, "ERR something");
    expect_charges(&bed, 1, 0, 0);
    end(&bed);
}

Test(redis_cluster, a_lost_reply_is_not_repeated)
{
    struct bed bed;

    make(&bed);
    answer_charge(&bed.nodes[0], "%s", WR_FAKE_HANGS_UP);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_LOST);
    WAIT_FOR(is_charged(&bed, 7));
    expect_charges(&bed, 2, 0, 0);
    end(&bed);
}

Test(redis_cluster, slots_that_nobody_owns_are_away_at_once)
{
    struct bed bed;

    make(&bed);
    set_owners(&bed, 0, 100, 1, 200);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert_eq(charge_for(&bed, 200, PATIENCE_US), WR_REDIS_AWAY);
    cr_assert(is_charged(&bed, 199));
    set_owners(&bed, 0, 100, 1, 300);
    WAIT_FOR(charge_for(&bed, 200, PATIENCE_US) == WR_REDIS_REPLIED);
    end(&bed);
}

Test(redis_cluster, slots_of_a_node_that_is_away_go_where_the_others_say)
{
    struct bed bed;

    open_whole(&bed);
    cr_assert(is_charged(&bed, 7));
    stop_node(&bed, 0);
    WAIT_FOR(charge_for(&bed, 7, PATIENCE_US) == WR_REDIS_AWAY);
    cr_assert(atomic_load(&bed.is_ready), "the other node is there");
    cr_assert(is_charged(&bed, HALF));
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);

    const int64_t begun = wr_clock_mono_us();

    WAIT_FOR(is_charged(&bed, 7));
    cr_assert_lt(wr_clock_mono_us() - begun, 2000000);
    cr_assert_gt(atomic_load(&bed.nodes[2].n_charges), 0);
    end(&bed);
}

/* Its connections stand; it does not answer. */
Test(redis_cluster, slots_of_a_frozen_node_go_where_the_others_say)
{
    struct bed bed;

    open_whole(&bed);
    cr_assert(is_charged(&bed, 7));
    wr_fake_redis_freeze(bed.nodes[0].fake, true);
    set_owners(&bed, 2, HALF, 1, WR_REDIS_SLOTS);
    WAIT_FOR(charge_for(&bed, 7, 20000) == WR_REDIS_REPLIED);
    cr_assert_gt(atomic_load(&bed.nodes[2].n_charges), 0);
    wr_fake_redis_freeze(bed.nodes[0].fake, false);
    end(&bed);
}

Test(redis_cluster, all_nodes_away_and_back)
{
    struct bed bed;

    open_whole(&bed);
    stop_node(&bed, 0);
    stop_node(&bed, 1);
    WAIT_FOR(!atomic_load(&bed.is_ready));
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_AWAY);
    start_node(&bed, 0);
    start_node(&bed, 1);
    WAIT_FOR(atomic_load(&bed.is_ready));
    WAIT_FOR(is_charged(&bed, 7) && is_charged(&bed, HALF));
    end(&bed);
}

Test(redis_cluster, seeds_that_are_away_are_tried_until_one_is_there)
{
    struct bed bed;

    make(&bed);
    stop_node(&bed, 0);
    stop_node(&bed, 1);
    set_owners(&bed, 2, HALF, 2, WR_REDIS_SLOTS);
    open_route(&bed);
    WAIT_FOR(charge_for(&bed, 7, PATIENCE_US) == WR_REDIS_AWAY);
    start_node(&bed, 1);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 0, 0, 1);
    end(&bed);
}

Test(redis_cluster, an_older_server_is_asked_for_slots)
{
    struct bed bed;
    char slots[TEXT_SIZE];

    make(&bed);
    (void) snprintf(slots, sizeof slots,
                    "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n",
                    bed.nodes[2].port);
    set_map(&bed, "-ERR Unknown subcommand or wrong number of arguments for 'SHARDS'\r\n", slots);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 0, 0, 1);
    end(&bed);
}

/* Whatever they say, it is asked again, a few times a second, until it is a map. */
Test(redis_cluster, what_is_no_map_is_asked_again)
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
        struct bed bed;

        make(&bed);
        set_map(&bed, rows[row], rows[row]);
        open_route(&bed);
        WAIT_FOR(atomic_load(&bed.nodes[0].n_maps) + atomic_load(&bed.nodes[1].n_maps) >= 4);
        cr_assert_not(atomic_load(&bed.is_ready), "%s", rows[row]);
        cr_assert_neq(charge_for(&bed, 7, 20000), WR_REDIS_REPLIED, "%s", rows[row]);
        set_owners(&bed, 0, HALF, 1, WR_REDIS_SLOTS);
        WAIT_FOR(atomic_load(&bed.is_ready));
        cr_assert(is_charged(&bed, 7), "%s", rows[row]);
        end(&bed);
    }
}

/* A node that lost its memory knows nothing; what the cluster looked like is still true. */
Test(redis_cluster, an_empty_map_does_not_replace_one)
{
    struct bed bed;

    open_whole(&bed);
    set_map(&bed, "*0\r\n", "*0\r\n");

    const size_t n_maps = atomic_load(&bed.nodes[0].n_maps) + atomic_load(&bed.nodes[1].n_maps);

    stop_node(&bed, 0);
    WAIT_FOR(atomic_load(&bed.nodes[1].n_maps) > n_maps + 2);
    cr_assert(is_charged(&bed, HALF));
    end(&bed);
}

Test(redis_cluster, a_map_without_hosts_means_the_one_that_was_asked)
{
    struct bed bed;
    char text[TEXT_SIZE] = "*1\r\n";

    make(&bed);
    (void) write_shard(text + 4, sizeof text - 4, 0, WR_REDIS_SLOTS - 1, "", bed.nodes[2].port);
    set_map(&bed, text, "");
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    cr_assert(is_charged(&bed, 7));
    expect_charges(&bed, 0, 0, 1);
    end(&bed);
}

/* In flight, waiting for a better moment, and unsent: each ends, once. */
Test(redis_cluster, closed_with_charges_on_their_way)
{
    struct bed bed;
    struct charge in_flight, waiting;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[1], "-CLUSTERDOWN The cluster is down\r\n");
    }
    atomic_store(&bed.nodes[0].is_silent, true);
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    begin(&bed, &in_flight, 7, PATIENCE_US);
    begin(&bed, &waiting, HALF, PATIENCE_US);
    WAIT_FOR(atomic_load(&bed.nodes[0].n_charges) == 1 &&
             atomic_load(&bed.nodes[1].n_charges) >= 2);
    end(&bed);
    cr_assert_eq(finish(&in_flight), WR_REDIS_LOST);
    cr_assert_neq(finish(&waiting), WR_REDIS_TIMED_OUT);
}

Test(redis_cluster, nothing_is_sent_after_the_close)
{
    struct bed bed;

    open_whole(&bed);
    close_route(&bed);
    cr_assert_eq(charge_for(&bed, 7, PATIENCE_US), WR_REDIS_AWAY);
    expect_charges(&bed, 0, 0, 0);
    end(&bed);
}

Test(redis_cluster, without_memory_a_new_node_has_to_wait)
{
    struct bed bed;
    struct charge charge;

    make(&bed);
    for (size_t i = 0; i < N_SCRIPT; i++) {
        answer_charge(&bed.nodes[0], "-MOVED 7 127.0.0.1:%u\r\n", bed.nodes[2].port);
    }
    open_route(&bed);
    WAIT_FOR(atomic_load(&bed.is_ready));
    failing_malloc_start(0);
    charge_in_time(&bed, &charge, 7, 240000);
    failing_malloc_stop();
    cr_assert_neq(charge.end, WR_REDIS_TIMED_OUT);
    cr_assert_eq(atomic_load(&bed.nodes[2].n_charges), 0);
    WAIT_FOR(is_charged(&bed, 7));
    cr_assert_geq(atomic_load(&bed.nodes[2].n_charges), 1);
    end(&bed);
}

Test(redis_cluster, what_could_not_be_made)
{
    const struct wr_redis_route_frame frame = {.on_ready = told_ready};
    const struct wr_redis_target target = {.topology = WR_REDIS_CLUSTER};
    struct wr_redis_route *route = NULL;

    failing_malloc_start(0);

    const enum wr_err err = wr_redis_cluster_new(&frame, &target, &route);

    failing_malloc_stop();
    cr_assert_eq(err, WR_ERR_NO_MEMORY);
    cr_assert_null(route);
}
