/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes with ranks. A thread takes locks in increasing rank only, and locks of one rank in
 * ascending order of address (stripes are an array). The table of ranks is the lock-order document,
 * and debug builds check both at every lock.
 *
 * Threads: any thread.
 */
#ifndef WR_BASE_LOCK_H
#define WR_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#define WR_LOCK_TABLE(X)                                                                           \
    X(WR_LOCK_RULES, "the published rules snapshot")                                               \
    X(WR_LOCK_XDS, "the stream to the control plane")                                              \
    X(WR_LOCK_HEALTH, "the serving state and its watchers")                                        \
    X(WR_LOCK_CONNECTIONS, "the connections that were accepted")                                   \
    X(WR_LOCK_METRICS, "the list of metric blocks")                                                \
    X(WR_LOCK_REDIS_TLS, "the TLS context of Redis in use, and its sessions")                      \
    X(WR_LOCK_REDIS_NAMES, "look-ups of names that are pending")                                   \
    X(WR_LOCK_TEST, "a backend of the tests")                                                      \
    X(WR_LOCK_STRIPE, "a stripe of the local store")                                               \
    X(WR_LOCK_OVER_LIMIT, "a stripe of the over-limit cache")

enum wr_lock_rank {
#define WR_LOCK_ENUM(name, text) name,
    WR_LOCK_TABLE(WR_LOCK_ENUM)
#undef WR_LOCK_ENUM
};

#if defined(__clang__)
#define WR_CAPABILITY(name) __attribute__((capability(name)))
#define WR_ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define WR_RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define WR_TRY_ACQUIRE(...) __attribute__((try_acquire_capability(__VA_ARGS__)))
#define WR_REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define WR_UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define WR_CAPABILITY(name)
#define WR_ACQUIRE(...)
#define WR_RELEASE(...)
#define WR_TRY_ACQUIRE(...)
#define WR_REQUIRES(...)
#define WR_UNCHECKED
#endif

struct WR_CAPABILITY("mutex") wr_mutex {
    pthread_mutex_t mutex;
    enum wr_lock_rank rank;
};

void wr_mutex_init(struct wr_mutex *mutex, enum wr_lock_rank rank);

void wr_mutex_fini(struct wr_mutex *mutex);

void wr_mutex_lock(struct wr_mutex *mutex) WR_ACQUIRE(mutex);

/* True when it was free and is now held. */
bool wr_mutex_trylock(struct wr_mutex *mutex) WR_TRY_ACQUIRE(true, mutex);

void wr_mutex_unlock(struct wr_mutex *mutex) WR_RELEASE(mutex);

#endif
