/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

#if defined(WR_DEBUG)
/* How many locks of each rank this thread holds, and which it took last: what the check of the
 * order needs, per thread. */
#define WR_LOCK_COUNT(name, text) +1
#define RANKS (0 WR_LOCK_TABLE(WR_LOCK_COUNT))
static _Thread_local struct {
    unsigned n;
    uintptr_t last; /* address; while n > 0 */
} held[RANKS];

static void check_order(const struct wr_mutex *mutex)
{
    for (size_t above = (size_t) mutex->rank + 1; above < RANKS; above++) {
        WR_ASSERT(held[above].n == 0);
    }
    WR_ASSERT(held[mutex->rank].n == 0 || (uintptr_t) mutex > held[mutex->rank].last);
    held[mutex->rank].n++;
    held[mutex->rank].last = (uintptr_t) mutex;
}

static void note_unlock(const struct wr_mutex *mutex)
{
    WR_ASSERT(held[mutex->rank].n > 0);
    held[mutex->rank].n--;
}
#else
static void check_order(const struct wr_mutex *mutex)
{
    (void) mutex;
}

static void note_unlock(const struct wr_mutex *mutex)
{
    (void) mutex;
}
#endif

void wr_mutex_init(struct wr_mutex *mutex, enum wr_lock_rank rank)
{
    mutex->rank = rank;
#if defined(WR_DEBUG)
    pthread_mutexattr_t attributes;

    WR_ASSERT(pthread_mutexattr_init(&attributes) == 0);
    WR_ASSERT(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    WR_ASSERT(pthread_mutex_init(&mutex->mutex, &attributes) == 0);
    WR_ASSERT(pthread_mutexattr_destroy(&attributes) == 0);
#else
    WR_ASSERT(pthread_mutex_init(&mutex->mutex, NULL) == 0);
#endif
}

void wr_mutex_fini(struct wr_mutex *mutex)
{
    WR_ASSERT(pthread_mutex_destroy(&mutex->mutex) == 0);
}

void wr_mutex_lock(struct wr_mutex *mutex) WR_UNCHECKED
{
    check_order(mutex);
    WR_ASSERT(pthread_mutex_lock(&mutex->mutex) == 0);
}

bool wr_mutex_trylock(struct wr_mutex *mutex) WR_UNCHECKED
{
    if (pthread_mutex_trylock(&mutex->mutex) != 0) {
        return false;
    }
    check_order(mutex);
    return true;
}

void wr_mutex_unlock(struct wr_mutex *mutex) WR_UNCHECKED
{
    note_unlock(mutex);
    WR_ASSERT(pthread_mutex_unlock(&mutex->mutex) == 0);
}
