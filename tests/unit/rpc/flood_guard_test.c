/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/flood_guard.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/connections.h"
#include "tests/support/tcp_pair.h"

#define CHUNK 65536

static struct wr_metrics *metrics;
static struct wr_connections connections;
static struct wr_flood_guard guard;
static struct wr_mutex mutex;
static char bytes[CHUNK];

static void set_up(void)
{
    metrics = wr_metrics_new();
    wr_connections_init(&connections, 100);
    wr_mutex_init(&mutex, WR_LOCK_CONNECTIONS);
    guard = (struct wr_flood_guard){
        .mutex = &mutex, .connections = &connections, .metrics = wr_metrics_block_new(metrics)};
}

static void tear_down(void)
{
    wr_mutex_fini(&mutex);
    wr_connections_fini(&connections);
    wr_metrics_destroy(metrics);
}

TestSuite(flood_guard, .init = set_up, .fini = tear_down);

static struct wr_tcp_pair connect_pair(void)
{
    const struct wr_tcp_pair pair = wr_tcp_pair_open();

    cr_assert(wr_connections_add(&connections, pair.server));
    return pair;
}

/* All but `unread` bytes of it are taken. */
static void send_some(int from, int to, uint64_t len, size_t unread)
{
    for (uint64_t done = 0; done < len; done += CHUNK) {
        cr_assert_eq(write(from, bytes, CHUNK), CHUNK);
        cr_assert_eq(recv(to, bytes, CHUNK - (done == 0 ? unread : 0), MSG_WAITALL),
                     CHUNK - (ssize_t) (done == 0 ? unread : 0));
    }
}

/* As much as a client may send without a pause, and some more. */
static void flood(int from, int to, size_t unread)
{
    send_some(from, to, WR_FLOOD_MAX_BYTES + 2 * CHUNK, unread);
}

static void look(void)
{
    wr_flood_guard_look(&guard, wr_flood_guard_due_us(&guard));
}

static void begin(struct wr_tcp_pair pair)
{
    cr_assert_eq(write(pair.client, bytes, CHUNK), CHUNK);
    cr_assert_eq(recv(pair.server, bytes, CHUNK - 1, MSG_WAITALL), CHUNK - 1);
    look();
}

static uint64_t n_cut_off(void)
{
    return wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_FLOOD);
}

Test(flood_guard, cuts_off_who_is_never_seen_empty)
{
    const struct wr_tcp_pair hostile = connect_pair(), other = connect_pair();

    begin(hostile);
    begin(other);
    flood(hostile.client, hostile.server, 0);
    look();
    cr_assert(wr_tcp_pair_is_cut_off(hostile));
    cr_assert_not(wr_tcp_pair_is_cut_off(other), "it has sent little");
    cr_assert_eq(n_cut_off(), 1);
    look();
    cr_assert_eq(n_cut_off(), 1, "it is gone");
    wr_tcp_pair_close(hostile);
    wr_tcp_pair_close(other);
}

Test(flood_guard, begins_anew_when_it_sees_the_socket_empty)
{
    const struct wr_tcp_pair busy = connect_pair();

    begin(busy);
    flood(busy.client, busy.server, 0);
    cr_assert_eq(recv(busy.server, bytes, 1, 0), 1);
    look();
    begin(busy);
    cr_assert_eq(n_cut_off(), 0);
    wr_tcp_pair_close(busy);
}

Test(flood_guard, is_not_fooled_by_how_much_was_sent_before)
{
    const struct wr_tcp_pair old = connect_pair();

    flood(old.client, old.server, 1);
    look();
    look();
    cr_assert_eq(n_cut_off(), 0, "none of it since the first look");
    wr_tcp_pair_close(old);
}

Test(flood_guard, looks_closer_at_who_may_be_a_flood)
{
    const struct wr_tcp_pair busy = connect_pair();

    begin(busy);

    const int64_t calm_us = wr_flood_guard_due_us(&guard);

    look();
    cr_assert_eq(wr_flood_guard_due_us(&guard), 2 * calm_us);
    send_some(busy.client, busy.server, WR_FLOOD_MAX_BYTES / 2, 0);
    look();
    cr_assert_lt(wr_flood_guard_due_us(&guard), 2 * calm_us + calm_us / 2);
    cr_assert_eq(n_cut_off(), 0);
    wr_tcp_pair_close(busy);
}

Test(flood_guard, looks_when_it_is_due_alone)
{
    const struct wr_tcp_pair hostile = connect_pair();

    begin(hostile);
    flood(hostile.client, hostile.server, 0);
    wr_flood_guard_look(&guard, wr_flood_guard_due_us(&guard) - 1);
    cr_assert_eq(n_cut_off(), 0);
    look();
    cr_assert_eq(n_cut_off(), 1);
    wr_tcp_pair_close(hostile);
}

Test(flood_guard, touches_no_unix_socket_and_no_descriptor_that_came_again)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    cr_assert(wr_connections_add(&connections, ends[1]));
    cr_assert_eq(write(ends[0], "ab", 2), 2);
    look();
    flood(ends[0], ends[1], 1);
    look();

    const struct wr_tcp_pair gone = connect_pair(), other = wr_tcp_pair_open();

    begin(other);
    cr_assert_eq(dup2(other.server, gone.server), gone.server, "the transport closes the first");
    look();
    flood(other.client, other.server, 0);
    look();
    cr_assert_not(wr_tcp_pair_is_cut_off(other), "the guard was not given it");
    cr_assert_eq(n_cut_off(), 0);
    wr_tcp_pair_close(gone);
    wr_tcp_pair_close(other);
    (void) close(ends[0]);
    (void) close(ends[1]);
}
