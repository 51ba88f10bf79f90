/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

static struct wr_mutex low, highs[2];

static void begin(void)
{
    wr_mutex_init(&low, WR_LOCK_RULES);
    wr_mutex_init(&highs[0], WR_LOCK_STRIPE);
    wr_mutex_init(&highs[1], WR_LOCK_STRIPE);
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
    lock(&highs[0]);
    lock(&highs[1]);
    unlock(&highs[0]);
    unlock(&low);
    unlock(&highs[1]);
    lock(&low);
    unlock(&low);
}

Test(lock, a_try_that_fails_holds_nothing, .init = begin)
{
    lock(&highs[0]);
    cr_assert(!trylock(&highs[0]));
    unlock(&highs[0]);
    lock(&low);
    unlock(&low);
}

#if defined(WR_DEBUG)
Test(lock, a_lower_rank_after_a_higher_aborts, .init = begin, .signal = SIGABRT)
{
    lock(&highs[0]);
    lock(&low);
}

Test(lock, a_try_at_a_lower_rank_aborts_too, .init = begin, .signal = SIGABRT)
{
    lock(&highs[0]);
    (void) trylock(&low);
}

Test(lock, one_rank_against_the_order_of_addresses_aborts, .init = begin, .signal = SIGABRT)
{
    lock(&highs[1]);
    lock(&highs[0]);
}

Test(lock, a_try_against_the_order_of_addresses_aborts_too, .init = begin, .signal = SIGABRT)
{
    lock(&highs[1]);
    (void) trylock(&highs[0]);
}

Test(lock, a_rank_that_was_left_may_begin_anywhere_again, .init = begin)
{
    lock(&highs[1]);
    unlock(&highs[1]);
    lock(&highs[0]);
    unlock(&highs[0]);
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
