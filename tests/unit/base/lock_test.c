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

static void *try_low(void *context)
{
    bool *const was_free = context;

    *was_free = wr_mutex_trylock(&low);
    if (*was_free) {
        wr_mutex_unlock(&low);
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
    wr_mutex_lock(&low);
    cr_assert(!is_free_elsewhere());
    wr_mutex_unlock(&low);
    cr_assert(is_free_elsewhere());
    wr_mutex_fini(&low);
}

Test(lock, ranks_may_be_taken_upwards_and_left_in_any_order, .init = begin)
{
    wr_mutex_lock(&low);
    wr_mutex_lock(&high);
    wr_mutex_lock(&high_too);
    wr_mutex_unlock(&high);
    wr_mutex_unlock(&low);
    wr_mutex_unlock(&high_too);
    wr_mutex_lock(&low);
    wr_mutex_unlock(&low);
}

Test(lock, a_try_that_fails_holds_nothing, .init = begin)
{
    wr_mutex_lock(&high);
    cr_assert(!wr_mutex_trylock(&high));
    wr_mutex_unlock(&high);
    wr_mutex_lock(&low);
    wr_mutex_unlock(&low);
}

#if defined(WR_DEBUG)
Test(lock, a_lower_rank_after_a_higher_aborts, .init = begin, .signal = SIGABRT)
{
    wr_mutex_lock(&high);
    wr_mutex_lock(&low);
}

Test(lock, a_try_at_a_lower_rank_aborts_too, .init = begin, .signal = SIGABRT)
{
    wr_mutex_lock(&high);
    (void) wr_mutex_trylock(&low);
}

Test(lock, locking_twice_aborts, .init = begin, .signal = SIGABRT)
{
    wr_mutex_lock(&low);
    wr_mutex_lock(&low);
}

Test(lock, unlocking_what_is_not_held_aborts, .init = begin, .signal = SIGABRT)
{
    wr_mutex_unlock(&low);
}
#endif
