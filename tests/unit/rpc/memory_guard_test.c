/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/memory_guard.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/connections.h"
#include "tests/support/tcp_pair.h"

#define KIB 1024

static const struct {
    uint64_t received, answered, expected;
} debts[] = {
    {0, 0, 0},
    {1000, 0, 1000},
    {1000, 10, 840},
    {1000, 61, 24},
    {1000, 62, 0},
    {65 * 16, 65, 0},
    {0, 1000, 0},
    {UINT64_MAX, 0, UINT64_MAX},
    {UINT64_MAX, UINT64_MAX, 0},
};

Test(memory_guard, knows_what_is_owed)
{
    for (size_t i = 0; i < sizeof debts / sizeof debts[0]; i++) {
        cr_assert_eq(wr_memory_guard_debt(debts[i].received, debts[i].answered), debts[i].expected,
                     "row %zu", i);
    }
}

static struct wr_metrics *metrics;
static struct wr_connections connections;
static struct wr_memory_guard guard;
static struct wr_mutex mutex;

static void init_guard(uint64_t max_bytes)
{
    wr_memory_guard_init(&guard, max_bytes, &connections, &mutex, wr_metrics_block_new(metrics));
}

static void set_up(void)
{
    metrics = wr_metrics_new();
    wr_connections_init(&connections, 100);
    wr_mutex_init(&mutex, WR_LOCK_CONNECTIONS);
    init_guard(1); /* always above */
}

static void tear_down(void)
{
    wr_memory_guard_fini(&guard);
    wr_mutex_fini(&mutex);
    wr_connections_fini(&connections);
    wr_metrics_destroy(metrics);
}

TestSuite(memory_guard, .init = set_up, .fini = tear_down);

/* Whether new connections have to wait after a look. */
static bool look_holds(int64_t mono_us)
{
    wr_memory_guard_look(&guard, mono_us);
    return wr_memory_guard_holds(&guard);
}

/* Remembered as the server's. */
static struct wr_tcp_pair connect_pair(void)
{
    const struct wr_tcp_pair pair = wr_tcp_pair_open();

    cr_assert(wr_connections_add(&connections, pair.server));
    return pair;
}

/* All of it has arrived, and been confirmed, once it has been read. */
static void send_all(int from, int to, size_t len)
{
    static const char bytes[KIB];
    char got[KIB];

    for (size_t done = 0; done < len; done += KIB) {
        cr_assert_eq(write(from, bytes, KIB), KIB);
        for (size_t n = 0; n < KIB;) {
            const ssize_t more = read(to, got, KIB - n);

            cr_assert_gt(more, 0);
            n += (size_t) more;
        }
    }
}

static uint64_t n_cut_off(void)
{
    return wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_MEMORY);
}

Test(memory_guard, cuts_off_who_sends_without_an_answer)
{
    const struct wr_tcp_pair hostile = connect_pair(), silent = connect_pair(),
                             caller = connect_pair();

    send_all(hostile.client, hostile.server, 64 * KIB);
    send_all(caller.client, caller.server, 64 * KIB);
    send_all(caller.server, caller.client, 8 * KIB);
    cr_assert(look_holds(1), "new connections wait");
    cr_assert(wr_tcp_pair_is_cut_off(hostile));
    cr_assert_not(wr_tcp_pair_is_cut_off(silent));
    cr_assert_not(wr_tcp_pair_is_cut_off(caller));
    cr_assert_eq(n_cut_off(), 1);
    cr_assert(look_holds(wr_memory_guard_due_us(&guard)));
    cr_assert_eq(n_cut_off(), 1, "it owes nothing any more");
    wr_tcp_pair_close(hostile);
    wr_tcp_pair_close(silent);
    wr_tcp_pair_close(caller);
}

Test(memory_guard, drops_what_the_transport_has_not_read)
{
    const struct wr_tcp_pair hostile = connect_pair();
    char byte = 0;

    send_all(hostile.client, hostile.server, 64 * KIB);
    cr_assert_eq(write(hostile.client, "unread", 6), 6);
    cr_assert_eq(recv(hostile.server, &byte, 1, MSG_PEEK), 1, "it has arrived");
    cr_assert(look_holds(1));
    cr_assert_leq(recv(hostile.server, &byte, 1, MSG_DONTWAIT), 0);
    wr_tcp_pair_close(hostile);
}

Test(memory_guard, takes_those_who_owe_most_first)
{
    const struct wr_tcp_pair most = connect_pair(), half = connect_pair(), less = connect_pair();

    send_all(most.client, most.server, 100 * KIB);
    send_all(half.client, half.server, 60 * KIB);
    send_all(less.client, less.server, 30 * KIB);
    cr_assert(look_holds(1));
    cr_assert(wr_tcp_pair_is_cut_off(most));
    cr_assert(wr_tcp_pair_is_cut_off(half));
    cr_assert_not(wr_tcp_pair_is_cut_off(less));
    cr_assert(look_holds(2), "no look is due yet");
    cr_assert_not(wr_tcp_pair_is_cut_off(less));
    cr_assert(look_holds(wr_memory_guard_due_us(&guard)));
    cr_assert(wr_tcp_pair_is_cut_off(less));
    cr_assert_eq(n_cut_off(), 3);
    wr_tcp_pair_close(most);
    wr_tcp_pair_close(half);
    wr_tcp_pair_close(less);
}

Test(memory_guard, lets_new_connections_in_after_a_while)
{
    const struct wr_tcp_pair hostile = connect_pair();

    send_all(hostile.client, hostile.server, 64 * KIB);
    cr_assert(look_holds(1));
    cr_assert(look_holds(4900000));
    cr_assert_not(look_holds(5000002));
    wr_tcp_pair_close(hostile);
}

Test(memory_guard, blames_nobody_who_owes_little_and_no_unix_socket)
{
    int ends[2];
    const struct wr_tcp_pair small = connect_pair();

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    cr_assert(wr_connections_add(&connections, ends[1]));
    send_all(ends[0], ends[1], 64 * KIB);
    send_all(small.client, small.server, 15 * KIB);
    cr_assert_not(look_holds(1), "new connections are let in");
    cr_assert_eq(n_cut_off(), 0);
    send_all(ends[0], ends[1], KIB);
    wr_tcp_pair_close(small);
    (void) close(ends[0]);
    (void) close(ends[1]);
}

Test(memory_guard, touches_no_descriptor_that_came_again)
{
    const struct wr_tcp_pair gone = connect_pair(), other = connect_pair();

    send_all(other.client, other.server, 64 * KIB);
    connections.n = 1;
    cr_assert_eq(dup2(other.server, gone.server), gone.server, "the transport closes the first");
    cr_assert_not(look_holds(1));
    cr_assert_not(wr_tcp_pair_is_cut_off(other));
    wr_tcp_pair_close(other);
    wr_tcp_pair_close(gone);
}

static void expect_no_cut(uint64_t max_bytes)
{
    const struct wr_tcp_pair hostile = connect_pair();

    wr_memory_guard_fini(&guard);
    init_guard(max_bytes);
    send_all(hostile.client, hostile.server, 64 * KIB);
    cr_assert_not(look_holds(1));
    cr_assert_eq(n_cut_off(), 0);
    wr_tcp_pair_close(hostile);
}

Test(memory_guard, rests_below_the_bound_and_looks_again)
{
    expect_no_cut(UINT64_MAX - 1);
    cr_assert_gt(wr_memory_guard_due_us(&guard), 1);
    cr_assert_lt(wr_memory_guard_due_us(&guard), 1000000);
}

Test(memory_guard, without_a_bound_never_looks)
{
    expect_no_cut(0);
    cr_assert_eq(wr_memory_guard_due_us(&guard), INT64_MAX);
}
