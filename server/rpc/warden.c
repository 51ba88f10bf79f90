/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/warden.h"

#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "rpc/connections.h"
#include "rpc/socket.h"

void wr_warden_init(struct wr_warden *warden, uint64_t max_memory_bytes,
                    struct wr_connections *connections, struct wr_mutex *mutex,
                    struct wr_metrics_block *metrics)
{
    *warden = (struct wr_warden){
        .flood = {.connections = connections, .mutex = mutex, .metrics = metrics},
        .mutex = mutex,
        .connections = connections,
        .close_us = INT64_MAX,
        .stop_fd = -1,
    };
    wr_memory_guard_init(&warden->memory, max_memory_bytes, connections, mutex, metrics);
}

void wr_warden_fini(struct wr_warden *warden)
{
    const uint64_t one = 1;

    if (warden->stop_fd >= 0) {
        WR_ASSERT(write(warden->stop_fd, &one, sizeof one) == (ssize_t) sizeof one);
        wr_thread_join(&warden->thread);
        (void) close(warden->stop_fd);
        warden->stop_fd = -1;
    }
    wr_memory_guard_fini(&warden->memory);
}

void wr_warden_close_at(struct wr_warden *warden, int64_t mono_us)
{
    /* says nothing of others, and is seen at the next look */
    atomic_store_explicit(&warden->close_us, mono_us, memory_order_relaxed);
}

bool wr_warden_holds(const struct wr_warden *warden)
{
    return wr_memory_guard_holds(&warden->memory);
}

static void reset_all_locked(struct wr_warden *warden) WR_REQUIRES(warden->mutex)
{
    const struct wr_connections *const connections = warden->connections;

    for (size_t i = 0; i < connections->n; i++) {
        const int fd = wr_connection_dup(&connections->items[i]);

        if (fd >= 0) {
            wr_socket_reset(fd);
            (void) close(fd);
        }
    }
}

static void look(struct wr_warden *warden, int64_t mono_us)
{
    wr_memory_guard_look(&warden->memory, mono_us);
    wr_flood_guard_look(&warden->flood, mono_us);
    if (mono_us >= atomic_load_explicit(&warden->close_us, memory_order_relaxed)) {
        wr_mutex_lock(warden->mutex);
        reset_all_locked(warden);
        wr_mutex_unlock(warden->mutex);
    }
}

static int64_t due_us(const struct wr_warden *warden)
{
    const int64_t memory_us = wr_memory_guard_due_us(&warden->memory);
    const int64_t flood_us = wr_flood_guard_due_us(&warden->flood);

    return memory_us < flood_us ? memory_us : flood_us;
}

static void run(void *context)
{
    struct wr_warden *const warden = context;
    struct pollfd stop = {.fd = warden->stop_fd, .events = POLLIN};

    for (;;) {
        const int64_t left_us = due_us(warden) - wr_clock_mono_us();

        if (poll(&stop, 1, left_us > 0 ? (int) (left_us / 1000 + 1) : 0) > 0) {
            return;
        }
        look(warden, wr_clock_mono_us());
    }
}

enum wr_err wr_warden_start(struct wr_warden *warden)
{
    warden->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (warden->stop_fd < 0) {
        return WR_ERR_SYSTEM;
    }

    const enum wr_err err = wr_thread_start(&warden->thread, "warden", run, warden);

    if (err != WR_OK) {
        (void) close(warden->stop_fd);
        warden->stop_fd = -1;
    }
    return err;
}
