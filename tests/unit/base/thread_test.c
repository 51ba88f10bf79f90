/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <criterion/criterion.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

struct seen {
    pthread_t thread;
    sigset_t blocked;
    char name[32];
};

static void look(void *context)
{
    struct seen *const seen = context;
    FILE *const comm = fopen("/proc/thread-self/comm", "r");

    seen->thread = pthread_self();
    (void) pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
    if (comm != NULL) {
        (void) (fgets(seen->name, sizeof seen->name, comm) == NULL);
        (void) fclose(comm);
    }
}

Test(thread, runs_elsewhere_under_its_name_and_with_all_signals_blocked)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGCHLD};
    struct wr_thread thread;
    struct seen seen = {0};

    cr_assert_eq(wr_thread_start(&thread, "worker-0", look, &seen), WR_OK);
    wr_thread_join(&thread);
    cr_assert(!pthread_equal(seen.thread, pthread_self()));
    cr_assert_str_eq(seen.name, "worker-0\n");
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        cr_assert_eq(sigismember(&seen.blocked, signals[i]), 1, "signal %d", signals[i]);
    }
}

Test(thread, leaves_the_signals_of_its_owner_as_they_were)
{
    struct wr_thread thread;
    struct seen seen = {0};
    sigset_t before, after;

    cr_assert_eq(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    cr_assert_eq(wr_thread_start(&thread, "worker-0", look, &seen), WR_OK);
    wr_thread_join(&thread);
    cr_assert_eq(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (int signal = 1; signal < 32; signal++) {
        cr_assert_eq(sigismember(&before, signal), sigismember(&after, signal), "%d", signal);
    }
}

Test(thread, a_long_name_is_cut_to_what_the_kernel_shows)
{
    struct wr_thread thread;
    struct seen seen = {0};

    cr_assert_eq(wr_thread_start(&thread, "a-name-of-twenty-one-", look, &seen), WR_OK);
    wr_thread_join(&thread);
    cr_assert_str_eq(seen.name, "a-name-of-twent\n");
}

static void tell(void *context)
{
    (void) sem_post(context);
}

Test(thread, one_that_nobody_joins)
{
    static struct wr_thread thread;
    static sem_t is_over;

    cr_assert_eq(sem_init(&is_over, 0, 0), 0);
    cr_assert_eq(wr_thread_start(&thread, "worker-0", tell, &is_over), WR_OK);
    wr_thread_detach(&thread);
    cr_assert_eq(sem_wait(&is_over), 0);
}
