/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/acceptor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "rpc/listen.h"
#include "rpc/socket.h"
#include "tests/support/wait_for.h"

#define N 256
#define HANDSHAKE_US 20000000 /* beyond any patience */
#define PREFACE                                                                                    \
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"                                                             \
    "\0\0\0\4\0\0\0\0\0"

static struct wr_metrics *metrics;
static struct wr_listen *listening;
static struct wr_acceptor *acceptor;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int adopted[N];
static _Atomic size_t n_adopted;

static void adopt(void *context, int fd)
{
    (void) context;
    (void) pthread_mutex_lock(&mutex);
    adopted[atomic_fetch_add(&n_adopted, 1)] = fd;
    (void) pthread_mutex_unlock(&mutex);
}

static void new_with(size_t max_connections)
{
    const struct wr_str address = WR_STR("127.0.0.1:0");
    const struct wr_listen_options listen_options = {
        .addresses = &address, .n_addresses = 1, .option = ""};
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    metrics = wr_metrics_new();
    cr_assert_eq(wr_listen_open(&listen_options, &diag, &listening), WR_OK);
    wr_diag_fini(&diag);

    const struct wr_acceptor_options options = {.listen = listening,
                                                .max_connections = max_connections,
                                                .handshake_timeout_us = HANDSHAKE_US,
                                                .adopt = adopt,
                                                .metrics = metrics};

    cr_assert_eq(wr_acceptor_new(&options, &acceptor), WR_OK);
}

static void open_with(size_t max_connections)
{
    new_with(max_connections);
    cr_assert_eq(wr_acceptor_start(acceptor), WR_OK);
}

static void close_all(void)
{
    wr_acceptor_destroy(acceptor);
    wr_listen_close(listening);
    for (size_t i = 0; i < atomic_load(&n_adopted); i++) {
        (void) close(adopted[i]);
    }
    wr_metrics_destroy(metrics);
}

/* The system's queue takes it whether or not it is accepted. */
static void connect_silent(int fd)
{
    const struct wr_address *const address = wr_listen_address(listening, 0);

    cr_assert_eq(connect(fd, (const struct sockaddr *) &address->storage, address->len), 0);
}

static void connect_as_client(int fd)
{
    connect_silent(fd);
    cr_assert_eq(write(fd, PREFACE, sizeof PREFACE - 1), (ssize_t) sizeof PREFACE - 1);
}

static int open_client(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_geq(fd, 0);
    return fd;
}

static int connect_once(void)
{
    const int fd = open_client();

    connect_as_client(fd);
    return fd;
}

Test(acceptor, hands_over_connections_ready_for_use)
{
    open_with(0);

    const int client = connect_once();
    int no_delay = 0;
    socklen_t len = sizeof no_delay;

    WAIT_FOR(atomic_load(&n_adopted) == 1);
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS) >= 1);
    cr_assert(fcntl(adopted[0], F_GETFL) & O_NONBLOCK);
    cr_assert(fcntl(adopted[0], F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(getsockopt(adopted[0], IPPROTO_TCP, TCP_NODELAY, &no_delay, &len), 0);
    cr_assert_neq(no_delay, 0);
    (void) close(client);
    close_all();
}

Test(acceptor, lets_callers_wait_at_the_cap_and_goes_on_when_one_leaves)
{
    int clients[4];

    open_with(2);
    for (size_t i = 0; i < 4; i++) {
        clients[i] = connect_once();
    }
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_REFUSED) >= 1);
    WAIT_FOR(atomic_load(&n_adopted) == 2);
    (void) close(adopted[0]); /* as a transport does */
    WAIT_FOR(atomic_load(&n_adopted) == 3);
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_REFUSED) >= 2);
    (void) close(adopted[1]);
    (void) close(adopted[2]);
    WAIT_FOR(atomic_load(&n_adopted) == 4);
    for (size_t i = 0; i < 4; i++) {
        (void) close(clients[i]);
    }
    close_all();
}

Test(acceptor, pauses_without_descriptors_and_recovers)
{
    struct rlimit files, tight;

    open_with(1000);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);

    const int client = socket(AF_INET, SOCK_STREAM, 0);

    tight = files;
    tight.rlim_cur = (rlim_t) client + 1;
    /* Nothing below the limit may be free. */
    int fillers[64], n_fillers = 0;

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
    while (n_fillers < 64) {
        const int filler = dup(client);

        if (filler < 0) {
            break;
        }
        fillers[n_fillers] = filler;
        n_fillers++;
    }
    connect_as_client(client);
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_ACCEPT_PAUSES) >= 2); /* it tries again */
    cr_assert_eq(atomic_load(&n_adopted), 0);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    WAIT_FOR(atomic_load(&n_adopted) == 1); /* the caller who waited is served */
    for (int i = 0; i < n_fillers; i++) {
        (void) close(fillers[i]);
    }
    (void) close(client);
    close_all();
}

/* Else the system would tell of an empty socket wherever urgent data comes next. */
Test(acceptor, counts_urgent_data_as_any_other)
{
    const size_t expected = sizeof PREFACE - 1 + 3;
    size_t unread = 0;

    open_with(0);

    const int client = connect_once();

    WAIT_FOR(atomic_load(&n_adopted) == 1);
    cr_assert_eq(send(client, "!", 1, MSG_OOB), 1);
    cr_assert_eq(write(client, "yz", 2), 2);
    WAIT_FOR(wr_socket_unread(adopted[0], &unread) && unread == expected);
    (void) close(client);
    close_all();
}

Test(acceptor, refuses_callers_after_its_stop)
{
    open_with(0);
    wr_acceptor_stop(acceptor);

    const struct wr_address *const address = wr_listen_address(listening, 0);
    const int client = open_client();

    cr_assert_eq(connect(client, (const struct sockaddr *) &address->storage, address->len), -1);
    cr_assert_eq(errno, ECONNREFUSED);
    wr_acceptor_stop(acceptor);
    cr_assert_eq(atomic_load(&n_adopted), 0);
    (void) close(client);
    close_all();
}

Test(acceptor, that_is_paused_at_the_cap_stops_too)
{
    open_with(1);

    const int first = connect_once(), second = connect_once();

    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_REFUSED) >= 1);
    wr_acceptor_stop(acceptor);
    cr_assert_eq(atomic_load(&n_adopted), 1);
    (void) close(first);
    (void) close(second);
    close_all();
}

Test(acceptor, takes_in_everybody_who_waits_at_its_stop)
{
    int clients[N];

    new_with(0);
    for (size_t i = 0; i < N; i++) {
        clients[i] = connect_once();
    }
    cr_assert_eq(wr_acceptor_start(acceptor), WR_OK);
    wr_acceptor_stop(acceptor);
    cr_assert_eq(atomic_load(&n_adopted), N);
    for (size_t i = 0; i < N; i++) {
        (void) close(clients[i]);
    }
    close_all();
}

Test(acceptor, lets_those_who_came_before_the_stop_speak)
{
    open_with(0);

    const int silent = open_client(), speaking = open_client();

    connect_silent(silent);
    connect_silent(speaking);
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS) >= 2);
    cr_assert_eq(atomic_load(&n_adopted), 0, "nobody has spoken yet");
    cr_assert_eq(write(speaking, PREFACE, sizeof PREFACE - 1), (ssize_t) sizeof PREFACE - 1);
    wr_acceptor_stop(acceptor);
    cr_assert_eq(atomic_load(&n_adopted), 1);
    cr_assert_eq(wr_acceptor_count(acceptor), 1, "who said nothing is not waited for");

    char byte = 0;

    cr_assert_eq(read(silent, &byte, 1), 0, "it is closed");
    (void) close(adopted[0]); /* as a transport does */
    n_adopted = 0;
    cr_assert_eq(wr_acceptor_count(acceptor), 0);
    (void) close(silent);
    (void) close(speaking);
    close_all();
}

Test(acceptor, serves_newcomers_while_it_is_paused)
{
    open_with(1);

    const int first = open_client(), second = open_client();

    connect_silent(first);
    connect_silent(second);
    WAIT_FOR(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_REFUSED) >= 1); /* one waits */
    cr_assert_eq(write(first, PREFACE, sizeof PREFACE - 1), (ssize_t) sizeof PREFACE - 1);
    WAIT_FOR(atomic_load(&n_adopted) == 1);
    (void) close(first);
    (void) close(second);
    close_all();
}
