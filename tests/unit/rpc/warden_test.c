/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/warden.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "rpc/connections.h"
#include "tests/support/tcp_pair.h"

#define PATIENCE_MS 60000
#define CHUNK 65536

static struct wr_metrics *metrics;
static struct wr_connections connections;
static struct wr_warden warden;
static struct wr_mutex mutex;

static void start_with(uint64_t max_memory_bytes)
{
    metrics = wr_metrics_new();
    wr_connections_init(&connections, 100);
    wr_mutex_init(&mutex, WR_LOCK_CONNECTIONS);
    wr_warden_init(&warden, max_memory_bytes, &connections, &mutex, wr_metrics_block_new(metrics));
    cr_assert_eq(wr_warden_start(&warden), WR_OK);
}

static void end(void)
{
    wr_warden_fini(&warden);
    wr_mutex_fini(&mutex);
    wr_connections_fini(&connections);
    wr_metrics_destroy(metrics);
}

static void add(int fd)
{
    wr_mutex_lock(&mutex);
    cr_assert(wr_connections_add(&connections, fd));
    wr_mutex_unlock(&mutex);
}

static bool hears(int fd)
{
    struct pollfd client = {.fd = fd, .events = POLLIN};

    return poll(&client, 1, PATIENCE_MS) == 1;
}

Test(warden, has_memory_looked_at)
{
    static char bytes[CHUNK];
    const struct wr_tcp_pair hostile = wr_tcp_pair_open();

    cr_assert_eq(write(hostile.client, bytes, CHUNK), CHUNK);
    cr_assert_eq(recv(hostile.server, bytes, CHUNK, MSG_WAITALL), CHUNK);
    start_with(1);
    add(hostile.server);
    cr_assert(hears(hostile.client));
    cr_assert(wr_tcp_pair_is_cut_off(hostile));
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_MEMORY), 1);
    end();
    wr_tcp_pair_close(hostile);
}

Test(warden, has_floods_looked_at)
{
    static char bytes[CHUNK];
    const struct wr_tcp_pair hostile = wr_tcp_pair_open();
    const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    uint64_t left = WR_FLOOD_MAX_BYTES * 100;

    start_with(0);
    add(hostile.server);
    cr_assert_eq(setsockopt(hostile.client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience),
                 0);
    cr_assert_eq(write(hostile.client, bytes, 2), 2);
    while (left > CHUNK && send(hostile.client, bytes, CHUNK, MSG_NOSIGNAL) == CHUNK &&
           recv(hostile.server, bytes, CHUNK, MSG_WAITALL) == CHUNK) {
        left -= CHUNK;
    }
    cr_assert_gt(left, CHUNK, "it was cut off on the way");
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_FLOOD), 1);
    end();
    wr_tcp_pair_close(hostile);
}

Test(warden, cuts_off_everybody_from_a_moment_on)
{
    const struct wr_tcp_pair first = wr_tcp_pair_open(), late = wr_tcp_pair_open();

    start_with(0);
    add(first.server);
    wr_warden_close_at(&warden, 1);
    cr_assert(hears(first.client));
    cr_assert(wr_tcp_pair_is_cut_off(first));
    add(late.server);
    cr_assert(hears(late.client), "one that is handed over later too");
    cr_assert(wr_tcp_pair_is_cut_off(late));
    end();
    wr_tcp_pair_close(first);
    wr_tcp_pair_close(late);
}

Test(warden, leaves_others_alone_and_stops)
{
    const struct wr_tcp_pair quiet = wr_tcp_pair_open();

    start_with(0);
    add(quiet.server);
    wr_warden_close_at(&warden, INT64_MAX - 1);
    cr_assert_not(wr_warden_holds(&warden));
    end();
    cr_assert_not(wr_tcp_pair_is_cut_off(quiet));
    wr_tcp_pair_close(quiet);
}

Test(warden, that_was_never_started_ends)
{
    metrics = wr_metrics_new();
    wr_mutex_init(&mutex, WR_LOCK_CONNECTIONS);
    wr_connections_init(&connections, 1);
    wr_warden_init(&warden, 0, &connections, &mutex, wr_metrics_block_new(metrics));
    cr_assert_eq(warden.stop_fd, -1);
    end();
}
