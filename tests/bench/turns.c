/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/turns.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stress/crew.h"

/* The last order. */
#define STOP (-1)

static void obey(wr_bench_turn_fn fn, void *subject, int orders, int answers)
{
    int order;

    while (read(orders, &order, sizeof order) == (ssize_t) sizeof order && order != STOP) {
        const double answer = fn(subject, order);

        wr_check(write(answers, &answer, sizeof answer) == (ssize_t) sizeof answer, "no answer");
    }
}

void wr_bench_turns_start(struct wr_bench_turns *turns, wr_bench_turn_fn fn, void *subject)
{
    int orders[2], answers[2];

    wr_check(pipe(orders) == 0 && pipe(answers) == 0, "no pipe");
    turns->pid = fork();
    wr_check(turns->pid >= 0, "no process");
    if (turns->pid == 0) {
        (void) close(orders[1]);
        (void) close(answers[0]);
        obey(fn, subject, orders[0], answers[1]);
        _exit(EXIT_SUCCESS);
    }
    (void) close(orders[0]);
    (void) close(answers[1]);
    turns->orders = orders[1];
    turns->answers = answers[0];
}

double wr_bench_turns_ask(struct wr_bench_turns *turns, int order)
{
    double answer = 0;

    wr_check(write(turns->orders, &order, sizeof order) == (ssize_t) sizeof order &&
                 read(turns->answers, &answer, sizeof answer) == (ssize_t) sizeof answer,
             "process %d did not answer", (int) turns->pid);
    return answer;
}

void wr_bench_turns_stop(struct wr_bench_turns *turns)
{
    const int stop = STOP;
    int status = 0;

    wr_check(write(turns->orders, &stop, sizeof stop) == (ssize_t) sizeof stop, "no process");
    (void) close(turns->orders);
    (void) close(turns->answers);
    wr_check(waitpid(turns->pid, &status, 0) == turns->pid && status == 0, "process %d failed",
             (int) turns->pid);
}
