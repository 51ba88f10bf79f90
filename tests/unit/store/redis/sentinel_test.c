/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/sentinel.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/target.h"
#include "tests/support/capture.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_redis.h"
#include "tests/unit/store/redis/route_bed.h"

#define N 3 /* sentinels, and servers */
#define NEWS                                                                                       \
    "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$31\r\nm 127.0.0.1 9999 127.0.0.1 9998\r\n"

/* One sentinel, or one server. */
struct peer {
    struct wr_fake_redis *fake;
    uint16_t port;
    /* of a sentinel: the server that it names, -1: it does not know the name; and by which epoch */
    atomic_int names, epoch;
    atomic_size_t n_asked;
    const char *address_error, *epoch_error, *login; /* in place of the answers; NULL: none */
    char address[64], master[96];                    /* of the fake's thread */
    char auth[64];
    /* of a server */
    atomic_bool is_replica, is_silent;
    atomic_size_t n_charges;
};

struct bed {
    struct route_bed base;
    struct peer sentinels[N], servers[N];
    struct wr_redis_address addresses[N];
    struct wr_redis_target target;
    struct wr_redis_route_frame frame;
    struct capture capture;
};

static struct bed bed;

static bool is(struct wr_str word, const char *text)
{
    return wr_str_equal_nocase(word, wr_str_of(text));
}

/* ---- the fakes, on their threads ---- */

static const char *note_auth(struct peer *peer, const struct wr_str *words, size_t n)
{
    (void) snprintf(peer->auth, sizeof peer->auth, "%.*s %.*s", (int) words[1].len, words[1].ptr,
                    n > 2 ? (int) words[2].len : 0, n > 2 ? words[2].ptr : "");
    return peer->login;
}

static const char *say_address(struct peer *peer)
{
    const int server = atomic_load(&peer->names);
    char port[8];

    (void) atomic_fetch_add(&peer->n_asked, 1);
    if (peer->address_error != NULL) {
        return peer->address_error;
    }
    if (server < 0) {
        return "*-1\r\n";
    }
    (void) snprintf(port, sizeof port, "%u", bed.servers[server].port);
    (void) snprintf(peer->address, sizeof peer->address, "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n",
                    strlen(port), port);
    return peer->address;
}

static const char *say_master(struct peer *peer)
{
    char epoch[16];

    if (peer->epoch_error != NULL) {
        return peer->epoch_error;
    }
    if (atomic_load(&peer->names) < 0) {
        return "-ERR No such master with that name\r\n";
    }
    (void) snprintf(epoch, sizeof epoch, "%d", atomic_load(&peer->epoch));
    (void) snprintf(peer->master, sizeof peer->master,
                    "*4\r\n$4\r\nname\r\n$1\r\nm\r\n$12\r\nconfig-epoch\r\n$%zu\r\n%s\r\n",
                    strlen(epoch), epoch);
    return peer->master;
}

static const char *sentinel_answer(void *context, const struct wr_str *words, size_t n)
{
    struct peer *const peer = context;

    if (is(words[0], "AUTH")) {
        return note_auth(peer, words, n);
    }
    if (is(words[0], "TIME")) {
        return "-ERR unknown command 'TIME'\r\n";
    }
    if (is(words[0], "SUBSCRIBE")) {
        return "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:"
               "2\r\n";
    }
    if (!is(words[0], "SENTINEL")) {
        return NULL;
    }
    if (is(words[1], "MASTERS")) {
        return "*2\r\n*2\r\n$4\r\nname\r\n$5\r\nalpha\r\n*2\r\n$4\r\nname\r\n$4\r\nbeta\r\n";
    }
    return is(words[1], "MASTER") ? say_master(peer) : say_address(peer);
}

static const char *server_answer(void *context, const struct wr_str *words, size_t n)
{
    struct peer *const peer = context;
    const bool is_replica = atomic_load(&peer->is_replica);

    if (is(words[0], "AUTH")) {
        return note_auth(peer, words, n);
    }
    if (is(words[0], "ROLE") && is_replica) {
        return "*5\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n$9\r\nconnected\r\n:0\r\n";
    }
    if (!is(words[0], "INCR")) {
        return NULL;
    }
    (void) atomic_fetch_add(&peer->n_charges, 1);
    if (atomic_load(&peer->is_silent)) {
        return WR_FAKE_SAYS_NOTHING;
    }
    return is_replica ? "-READONLY You can't write against a read only replica.\r\n" : ":1\r\n";
}

/* ---- the bed ---- */

static void start(struct peer *peer, wr_fake_answer_fn answer)
{
    peer->fake = wr_fake_redis_start_tcp(answer, peer, peer->port);
    peer->port = wr_fake_redis_port(peer->fake);
}

static void stop(struct peer *peer)
{
    if (peer->fake != NULL) {
        wr_fake_redis_stop(peer->fake);
    }
    peer->fake = NULL;
}

/* Three sentinels that name the first server, by epoch 5. The route is not open yet; target and
 * frame may be changed. */
static void make(void)
{
    memset(&bed, 0, sizeof bed);
    for (size_t i = 0; i < N; i++) {
        start(&bed.servers[i], server_answer);
        atomic_store(&bed.sentinels[i].epoch, 5);
        start(&bed.sentinels[i], sentinel_answer);
        bed.addresses[i] =
            (struct wr_redis_address){.host = "127.0.0.1", .port = bed.sentinels[i].port};
    }
    bed.target = (struct wr_redis_target){
        .topology = WR_REDIS_SENTINEL,
        .addresses = bed.addresses,
        .n_addresses = N,
        .primary_name = "m",
    };
    route_bed_init(&bed.base);
    bed.frame = (struct wr_redis_route_frame){
        .link = {.loop = bed.base.loop,
                 .limits = {.connect_timeout_us = PATIENCE_US,
                            .slow_us = PATIENCE_US,
                            .pause_min_us = 1000,
                            .pause_max_us = 10000,
                            .breaker_timeouts = 1000}},
        .on_ready = route_bed_told_ready,
        .context = &bed.base,
    };
}

static void begin(void)
{
    cr_assert_eq(wr_redis_sentinel_new(&bed.frame, &bed.target, &bed.base.route), WR_OK);
    route_bed_open(&bed.base);
}

static void begin_and_wait(void)
{
    begin();
    WAIT_FOR(atomic_load(&bed.base.is_ready));
}

static void clear(void)
{
    route_bed_close(&bed.base);
    cr_assert_not(atomic_load(&bed.base.is_ready));
    route_bed_fini(&bed.base);
    for (size_t i = 0; i < N; i++) {
        stop(&bed.sentinels[i]);
        stop(&bed.servers[i]);
    }
}

static void name(size_t sentinel, int server, int epoch)
{
    atomic_store(&bed.sentinels[sentinel].names, server);
    atomic_store(&bed.sentinels[sentinel].epoch, epoch);
}

static void name_all(int server, int epoch)
{
    for (size_t i = 0; i < N; i++) {
        name(i, server, epoch);
    }
}

/* Until a sentinel has been asked twice after this moment, and so once as a whole. */
static void wait_for_look(size_t sentinel)
{
    const size_t n = atomic_load(&bed.sentinels[sentinel].n_asked);

    for (size_t i = 1; i <= 2; i++) {
        wr_fake_redis_publish(bed.sentinels[sentinel].fake, NEWS);
        WAIT_FOR(atomic_load(&bed.sentinels[sentinel].n_asked) >= n + i);
    }
}

/* ---- charges ---- */

static bool counts(void)
{
    return route_bed_is_charged(&bed.base, 0);
}

static bool counts_at(size_t server)
{
    const size_t n = atomic_load(&bed.servers[server].n_charges);

    return counts() && atomic_load(&bed.servers[server].n_charges) == n + 1;
}

static size_t connections(size_t server)
{
    return wr_fake_redis_connections(bed.servers[server].fake);
}

static uint64_t n_changes(void)
{
    return wr_metrics_sum(bed.base.metrics, WR_METRIC_REDIS_PRIMARY_CHANGES);
}

/* ---- tests ---- */

Test(redis_sentinel, requests_go_to_the_primary_that_is_named, .timeout = 300)
{
    make();
    begin_and_wait();
    cr_assert(counts_at(0));
    cr_assert_eq(connections(1), 0);
    cr_assert_eq(n_changes(), 0, "the first is no change");
    clear();
}

Test(redis_sentinel, the_newest_epoch_counts_not_the_most_voices, .timeout = 300)
{
    make();
    name(2, 1, 6);
    begin_and_wait();
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, follows_a_message_to_another_primary, .timeout = 300)
{
    make();
    begin_and_wait();
    cr_assert(counts_at(0));
    wait_for_look(1);
    name_all(1, 6);
    wr_fake_redis_publish(bed.sentinels[1].fake, NEWS);
    WAIT_FOR(counts_at(1));
    cr_assert_eq(n_changes(), 1);
    clear();
}

Test(redis_sentinel, a_message_about_another_primary_is_none, .timeout = 300)
{
    static const char other[] =
        "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$31\r\nn 127.0.0.1 9999 127.0.0.1 9998\r\n";

    make();
    begin_and_wait();
    wait_for_look(1);

    const size_t n = atomic_load(&bed.sentinels[0].n_asked);

    wr_fake_redis_publish(bed.sentinels[1].fake, other);
    cr_assert(counts_at(0));
    wait_for_look(1);
    cr_assert_leq(atomic_load(&bed.sentinels[0].n_asked), n + 3, "looked for what was news alone");
    clear();
}

Test(redis_sentinel, a_refused_charge_is_counted_at_the_next_primary, .timeout = 300)
{
    make();
    begin_and_wait();
    cr_assert(counts_at(0));
    name_all(1, 6);
    atomic_store(&bed.servers[0].is_replica, true);
    cr_assert(counts(), "by the same request");
    cr_assert_eq(atomic_load(&bed.servers[0].n_charges), 2);
    cr_assert_eq(atomic_load(&bed.servers[1].n_charges), 1);
    clear();
}

Test(redis_sentinel, a_refused_charge_ends_when_nobody_takes_over, .timeout = 300)
{
    struct route_charge charge;

    make();
    begin_and_wait();
    /* On a busy machine that may be seen too late: then once more. */
    for (int i = 0; i < 20; i++) {
        atomic_store(&bed.servers[0].is_replica, false);
        WAIT_FOR(counts_at(0));
        atomic_store(&bed.servers[0].n_charges, 0);
        atomic_store(&bed.servers[0].is_replica, true);
        route_charge_begin(&charge, &bed.base, 0, 100000);
        if (route_charge_finish(&charge) != WR_REDIS_TIMED_OUT) {
            break;
        }
    }
    cr_assert_eq(charge.end, WR_REDIS_AWAY, "as soon as waiting is of no use");
    cr_assert_eq(atomic_load(&bed.servers[0].n_charges), 1);
    WAIT_FOR(!atomic_load(&bed.base.is_ready));
    atomic_store(&bed.servers[0].is_replica, false);
    WAIT_FOR(counts_at(0));
    clear();
}

Test(redis_sentinel, a_replica_gets_no_requests_whoever_names_it, .timeout = 300)
{
    make();
    name(0, 2, 9);
    atomic_store(&bed.servers[2].is_replica, true);
    begin_and_wait();
    cr_assert(counts_at(0), "those of the older epoch name a primary");
    cr_assert_eq(atomic_load(&bed.servers[2].n_charges), 0);
    clear();
}

Test(redis_sentinel, is_asked_again_while_the_primary_is_a_replica, .timeout = 300)
{
    make();
    atomic_store(&bed.servers[0].is_replica, true);
    begin();
    WAIT_FOR(atomic_load(&bed.sentinels[0].n_asked) > 3);
    cr_assert_not(atomic_load(&bed.base.is_ready));
    name_all(1, 6);
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, the_primary_stays_in_use_while_no_sentinel_can_be_asked, .timeout = 300)
{
    make();
    begin_and_wait();
    for (size_t i = 0; i < N; i++) {
        stop(&bed.sentinels[i]);
    }
    for (size_t i = 0; i < 100; i++) {
        cr_assert(counts_at(0));
    }
    name(1, 1, 6);
    start(&bed.sentinels[1], sentinel_answer);
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, a_primary_that_dies_is_looked_for, .timeout = 300)
{
    make();
    begin_and_wait();
    stop(&bed.servers[0]);
    name_all(1, 6);
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, a_stale_sentinel_is_not_followed_while_the_primary_works, .timeout = 300)
{
    make();
    name(2, 1, 4);
    begin_and_wait();
    WAIT_FOR(counts_at(0));
    stop(&bed.sentinels[0]);
    stop(&bed.sentinels[1]);
    wait_for_look(2);
    wait_for_look(2);
    cr_assert(counts_at(0));
    cr_assert_eq(connections(1), 0);
    clear();
}

Test(redis_sentinel, most_of_them_are_followed_to_an_older_epoch, .timeout = 300)
{
    make();
    begin_and_wait();
    cr_assert(counts_at(0));
    name(0, 1, 0);
    name(1, 1, 0);
    stop(&bed.sentinels[2]);
    wait_for_look(0);
    cr_assert(counts_at(0), "not at once: there may be a fail-over that they do not know of");
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, an_older_epoch_is_better_than_nothing, .timeout = 300)
{
    make();
    name(2, 1, 4);
    begin_and_wait();
    WAIT_FOR(counts_at(0));
    stop(&bed.sentinels[0]);
    stop(&bed.sentinels[1]);
    stop(&bed.servers[0]);
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, one_that_does_not_answer_is_not_waited_for, .timeout = 300)
{
    make();
    wr_fake_redis_freeze(bed.sentinels[0].fake, true);
    begin_and_wait();
    cr_assert(counts_at(0));
    clear();
}

Test(redis_sentinel, one_that_may_not_tell_the_epoch_is_believed, .timeout = 300)
{
    make();
    for (size_t i = 0; i < N; i++) {
        bed.sentinels[i].epoch_error = "-NOPERM User weir has no permissions\r\n";
    }
    begin_and_wait();
    cr_assert(counts_at(0));
    name_all(1, 0);
    wr_fake_redis_publish(bed.sentinels[0].fake, NEWS);
    WAIT_FOR(counts_at(1));
    clear();
}

Test(redis_sentinel, each_has_a_login_of_its_own, .timeout = 300)
{
    make();
    bed.target.sentinel_login = (struct wr_redis_login){.user = "sam", .password = "of-sentinel"};
    bed.frame.link.password = (struct wr_str) WR_STR("of-server");
    begin_and_wait();
    cr_assert_str_eq(bed.sentinels[0].auth, "sam of-sentinel");
    cr_assert_str_eq(bed.servers[0].auth, "of-server ");
    clear();
}

/* With each row: what a sentinel says, and what of it is in the log. */
Test(redis_sentinel, says_what_is_wrong, .timeout = 300)
{
    static const struct {
        const char *login, *address_error, *text;
        bool is_nameless;
    } rows[] = {
        {.is_nameless = true,
         .text = "knows no primary of the name that --redis-url begins with, but alpha, beta"},
        {.login = "-WRONGPASS invalid username-password pair\r\n",
         .text = "answers WRONGPASS to AUTH or SELECT: user or password is wrong"},
        {.login = "-ERR AUTH <password> called without any password configured\r\n",
         .text = "--redis-sentinel-auth"},
        {.address_error = "-NOPERM User weir has no permissions\r\n",
         .text = "allow it +sentinel|get-master-addr-by-name"},
        {.address_error = "-ERR unknown command 'SENTINEL'\r\n",
         .text = "does not know the command SENTINEL"},
        {.address_error = "*2\r\n$1\r\na\r\n$1\r\n0\r\n", .text = "answers what is no address"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char place[64];

        make();
        bed.target.n_addresses = 1;
        bed.target.sentinel_login.password = "swordfish";
        bed.sentinels[0].login = rows[i].login;
        bed.sentinels[0].address_error = rows[i].address_error;
        atomic_store(&bed.sentinels[0].names, rows[i].is_nameless ? -1 : 0);
        capture_start(&bed.capture);
        begin();
        if (rows[i].login == NULL) {
            WAIT_FOR(atomic_load(&bed.sentinels[0].n_asked) >= 3);
        } else {
            WAIT_FOR(wr_fake_redis_connections(bed.sentinels[0].fake) >= 3);
        }
        route_bed_close(&bed.base);
        capture_stop(&bed.capture);
        (void) snprintf(place, sizeof place,
                        "Redis sentinel at 127.0.0.1:%u: ", bed.sentinels[0].port);
        cr_assert_not_null(strstr(bed.capture.text, place), "row %zu: %s", i, bed.capture.text);

        const char *const first = strstr(bed.capture.text, rows[i].text);

        cr_assert_not_null(first, "row %zu: %s", i, bed.capture.text);
        cr_assert_null(strstr(first + 1, rows[i].text), "row %zu: told again: %s", i,
                       bed.capture.text);
        cr_assert_null(strstr(bed.capture.text, "swordfish"), "row %zu", i);
        clear();
    }
}

Test(redis_sentinel, without_any_sentinel_requests_end_at_once, .timeout = 300)
{
    struct route_charge charge;

    make();
    for (size_t i = 0; i < N; i++) {
        stop(&bed.sentinels[i]);
    }
    begin();
    route_charge_begin(&charge, &bed.base, 0, PATIENCE_US);
    cr_assert_eq(route_charge_finish(&charge), WR_REDIS_AWAY);
    clear();
}

Test(redis_sentinel, closing_ends_what_is_on_its_way, .timeout = 300)
{
    struct route_charge charge;

    make();
    begin_and_wait();
    atomic_store(&bed.servers[0].is_silent, true);
    route_charge_begin(&charge, &bed.base, 0, PATIENCE_US);
    WAIT_FOR(atomic_load(&bed.servers[0].n_charges) == 1);
    for (size_t i = 0; i < N; i++) {
        wr_fake_redis_freeze(bed.sentinels[i].fake, true);
    }
    clear();
    cr_assert_eq(route_charge_finish(&charge), WR_REDIS_LOST);
}

Test(redis_sentinel, without_memory_there_is_none, .timeout = 300)
{
    enum wr_err err = WR_ERR_NO_MEMORY;
    size_t n = 0;

    make();
    for (; err != WR_OK; n++) {
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        failing_malloc_start(n);
        err = wr_redis_sentinel_new(&bed.frame, &bed.target, &bed.base.route);
        failing_malloc_stop();
    }
    cr_assert_gt(n, (size_t) 10);
    cr_assert_eq(wr_redis_loop_start(bed.base.loop), WR_OK);
    clear();
}
