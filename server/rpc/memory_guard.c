/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/memory_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/address.h"
#include "rpc/connections.h"
#include "rpc/socket.h"

/* How often memory is looked at: seldom up to half of the bound, and above it as an attack wants
 * that fills some 600 MB a second. */
#define CALM_US 100000
#define ALERT_US 10000
/* The library's free memory is given back so often: that takes up to 40 ms a gigabyte. */
#define TRIM_US 200000
/* New connections wait so long after the last cut, unless memory is free before: C core takes its
 * time to clean up, some 70 us a call. */
#define HOLD_US 5000000
/* A byte of an answer accounts for so many of requests. */
#define BYTES_AN_ANSWER 16
/* Who owes less holds little: at 15 bytes a call, the least there is, 1100 calls and 13 MB. */
#define LEAST_DEBT 16384
#define CUTS_A_LOOK 64
/* What may stay free at the end of each of the library's arenas, which malloc_trim leaves alone.
 * Else that grows to 64 MiB an arena once a block of half as much was freed. */
#define KEPT_BYTES (4 << 20)

void wr_memory_guard_init(struct wr_memory_guard *guard, uint64_t max_bytes,
                          struct wr_connections *connections, struct wr_mutex *mutex,
                          struct wr_metrics_block *metrics)
{
    *guard = (struct wr_memory_guard){
        .max_bytes = max_bytes == 0 ? UINT64_MAX : max_bytes,
        .statm_fd = -1,
        .mutex = mutex,
        .connections = connections,
        .metrics = metrics,
    };
    (void) mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    if (guard->max_bytes == UINT64_MAX) {
        return;
    }
    guard->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (guard->statm_fd < 0) {
        wr_log(WR_LOG_WARN, "memory is not bounded: /proc/self/statm: %s", strerror(errno));
        guard->max_bytes = UINT64_MAX;
    }
}

void wr_memory_guard_fini(struct wr_memory_guard *guard)
{
    if (guard->statm_fd >= 0) {
        (void) close(guard->statm_fd);
        guard->statm_fd = -1;
    }
}

bool wr_memory_guard_holds(const struct wr_memory_guard *guard)
{
    return atomic_load_explicit(&guard->holds, memory_order_relaxed); /* says nothing of others */
}

int64_t wr_memory_guard_due_us(const struct wr_memory_guard *guard)
{
    return guard->max_bytes == UINT64_MAX ? INT64_MAX : guard->due_us;
}

uint64_t wr_memory_guard_debt(uint64_t received, uint64_t answered)
{
    return answered >= received / BYTES_AN_ANSWER ? 0 : received - answered * BYTES_AN_ANSWER;
}

/* The second number of statm counts pages. */
static uint64_t resident_bytes(const struct wr_memory_guard *guard)
{
    char text[128] = "";
    const ssize_t n = pread(guard->statm_fd, text, sizeof text - 1, 0);
    const char *const space = n > 0 ? strchr(text, ' ') : NULL;

    return space == NULL ? 0 : strtoull(space, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE);
}

/* 0 for what is no connection by TCP, or none any more. */
static uint64_t debt_of(int fd)
{
    struct wr_socket_traffic traffic;

    return wr_socket_traffic(fd, &traffic)
               ? wr_memory_guard_debt(traffic.received, traffic.answered)
               : 0;
}

static uint64_t largest_debt_locked(const struct wr_connections *connections)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < connections->n; i++) {
        const uint64_t debt = debt_of(connections->items[i].fd);

        largest = debt > largest ? debt : largest;
    }
    return largest;
}

static void log_cut(struct wr_memory_guard *guard, int fd, uint64_t resident, int64_t mono_us)
{
    struct wr_address peer = {.len = sizeof peer.storage};
    char text[WR_ADDRESS_TEXT_SIZE];
    uint64_t skipped = 0;

    if (getpeername(fd, (struct sockaddr *) &peer.storage, &peer.len) == 0 &&
        wr_log_limit_pass(&guard->closed_limit, mono_us, &skipped)) {
        wr_address_format(&peer, text);
        wr_log(WR_LOG_WARN,
               "closed a connection: the client at %s piles up calls that it does not finish, or "
               "whose answers it does not read (%" PRIu64 " KiB sent that no answer accounts for), "
               "while %" PRIu64 " MiB are resident, over --max-memory-bytes; mend that client or "
               "keep it away from the port (%" PRIu64 " more such since the last line)",
               text, debt_of(fd) >> 10, resident >> 20, skipped);
    }
}

static void cut(struct wr_memory_guard *guard, int fd, uint64_t resident, int64_t mono_us)
{
    log_cut(guard, fd, resident, mono_us);
    wr_metrics_add(guard->metrics, WR_METRIC_CONNECTIONS_MEMORY, 1);
    wr_socket_reset(fd);
}

/* Those that owe at least half of what the one owes that owes most. Its transport may close the
 * descriptor at any time, so that a copy is looked at and used. */
static size_t cut_debtors_locked(struct wr_memory_guard *guard, uint64_t resident, int64_t mono_us)
    WR_REQUIRES(guard->mutex)
{
    const struct wr_connections *const connections = guard->connections;
    const uint64_t largest = largest_debt_locked(connections);
    size_t n = 0;

    if (largest < LEAST_DEBT) {
        return 0;
    }
    for (size_t i = 0; i < connections->n && n < CUTS_A_LOOK; i++) {
        const int fd = wr_connection_dup(&connections->items[i]);

        if (fd >= 0 && debt_of(fd) >= largest / 2) {
            cut(guard, fd, resident, mono_us);
            n++;
        }
        if (fd >= 0) {
            (void) close(fd);
        }
    }
    return n;
}

static size_t cut_debtors(struct wr_memory_guard *guard, uint64_t resident, int64_t mono_us)
{
    wr_mutex_lock(guard->mutex);

    const size_t n = cut_debtors_locked(guard, resident, mono_us);

    wr_mutex_unlock(guard->mutex);
    return n;
}

static void log_above(struct wr_memory_guard *guard, uint64_t resident, int64_t mono_us)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&guard->above_limit, mono_us, &skipped)) {
        wr_log(WR_LOG_WARN,
               "%" PRIu64 " MiB are resident, over --max-memory-bytes, and no connection is to "
               "blame: raise it with the memory of the container, or lower --max-counters",
               resident >> 20);
    }
}

void wr_memory_guard_look(struct wr_memory_guard *guard, int64_t mono_us)
{
    if (mono_us < wr_memory_guard_due_us(guard)) {
        return;
    }

    uint64_t resident = resident_bytes(guard);

    if (resident > guard->max_bytes && mono_us >= guard->trim_due_us) {
        guard->trim_due_us = mono_us + TRIM_US;
        (void) malloc_trim(0);
        resident = resident_bytes(guard);
    }
    guard->due_us = mono_us + (resident < guard->max_bytes / 2 ? CALM_US : ALERT_US);
    if (resident <= guard->max_bytes) {
        guard->hold_end_us = mono_us;
    } else if (cut_debtors(guard, resident, mono_us) > 0) {
        guard->hold_end_us = mono_us + HOLD_US;
    } else if (mono_us >= guard->hold_end_us) {
        log_above(guard, resident, mono_us);
    }
    atomic_store_explicit(&guard->holds, mono_us < guard->hold_end_us, memory_order_relaxed);
}
