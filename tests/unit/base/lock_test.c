/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

static struct wr_mutex low, high, high_too;

static void begin(void)
{
    wr_mutex_init(&low, WR_LOCK_RULES);
    wr_mutex_init(&high, WR_LOCK_STRIPE);
    wr_mutex_init(&high_too, WR_LOCK_STRIPE);
}

/* Without clang's analysis, which would refuse what these tests do wrong on purpose. */
static void lock(struct wr_mutex *mutex) WR_UNCHECKED
{
    wr_mutex_lock(mutex);
}

static bool trylock(struct wr_mutex *mutex) WR_UNCHECKED
{
    return wr_mutex_trylock(mutex);
}

static void unlock(struct wr_mutex *mutex) WR_UNCHECKED
{
    wr_mutex_unlock(mutex);
}

static void *try_low(void *context)
{
    bool *const was_free = context;

    *was_free = trylock(&low);
    if (*was_free) {
        unlock(&low);
    }
    return NULL;
}

static bool is_free_elsewhere(void)
{
    pthread_t thread;
    bool was_free = false;

    cr_assert_eq(pthread_create(&thread, NULL, try_low, &was_free), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    return was_free;
}

Test(lock, keeps_others_out_until_unlocked, .init = begin)
{
    lock(&low);
    cr_assert(!is_free_elsewhere());
    unlock(&low);
    cr_assert(is_free_elsewhere());
    wr_mutex_fini(&low);
}

Test(lock, ranks_may_be_taken_upwards_and_left_in_any_order, .init = begin)
{
    lock(&low);
    lock(&high);
    lock(&high_too);
    unlock(&high);
    unlock(&low);
    unlock(&high_too);
    lock(&low);
    unlock(&low);
}

Test(lock, a_try_that_fails_holds_nothing, .init = begin)
{
    lock(&high);
    cr_assert(!trylock(&high));
    unlock(&high);
    lock(&low);
    unlock(&low);
}

#if defined(WR_DEBUG)
Test(lock, a_lower_rank_after_a_higher_aborts, .init = begin, .signal = SIGABRT)
{
    lock(&high);
    lock(&low);
}

Test(lock, a_try_at_a_lower_rank_aborts_too, .init = begin, .signal = SIGABRT)
{
    lock(&high);
    (void) trylock(&low);
}

Test(lock, locking_twice_aborts, .init = begin, .signal = SIGABRT)
{
    lock(&low);
    lock(&low);
}

Test(lock, unlocking_what_is_not_held_aborts, .init = begin, .signal = SIGABRT)
{
    unlock(&low);
}
#endif
