/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     asking -- time is up, or all have begun --> draining -- each has its answer, or its time was
 *     up, or no connection is left --> over
 *
 * All have the same timeout, so what is in flight is in a list in the order in which it began,
 * whose first one runs out first. A connection that ends, also by the server's GOAWAY, fails what
 * it carried and is made again once; when that is refused it stays away.
 */
#include "load.h"

#include "../../error.h"
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_NS 200000000U
#define EVENTS_MAX 64
#define SECOND_NS 1000000000U

struct slot {
    struct weirctl_turn turn; /* the first member: a turn is its slot */
    size_t line;              /* the connection it belongs to */
    struct slot *prev;        /* in flight: begun before it */
    struct slot *next;        /* in flight: begun after it; else the next that is free */
};

struct line {
    struct weirctl_peer *peer; /* owned; NULL: gone */
    bool has_news;             /* something was begun since the last flush */
    bool waits_to_write;
};

struct load {
    const struct weirctl_load_plan *plan;
    struct weirctl_load_report *report;
    struct line *lines;  /* owned */
    struct slot *slots;  /* owned */
    uint8_t *bodies;     /* owned: a copy for each slot */
    struct slot *free;   /* not in flight, and may begin */
    struct slot *oldest; /* in flight */
    struct slot *newest;
    size_t lines_left;
    uint64_t timeout_ns;
    uint64_t begin_ns;
    uint64_t end_ns;  /* nothing begins in the closed loop, or becomes due, from then on */
    uint64_t last_ns; /* of the last answer */
    uint32_t next_key;
    int epoll;
    int timer;
    uint64_t timer_ns; /* when it goes off; UINT64_MAX: it is not set */
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * SECOND_NS + (uint64_t) now.tv_nsec;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void keep_complaint(struct load *load, enum weir_err code, const char *text)
{
    if (load->report->complaint.code == WEIR_OK && text[0] != '\0') {
        weir_error_set(&load->report->complaint, code, "%s", text);
    }
}

/* ---- When ---- */

static bool is_open(const struct load *load)
{
    return load->plan->rate != 0;
}

/* When the next check is due in the open loop. */
static uint64_t due_ns(const struct load *load)
{
    const uint64_t rate = load->plan->rate;
    const uint64_t n = load->report->sent + load->report->unsent;

    return load->begin_ns + n / rate * SECOND_NS + n % rate * SECOND_NS / rate;
}

/* Is there another check to begin, now or later. In the open loop what was due before the end may
 * still begin after it. */
static bool has_more(const struct load *load, uint64_t now)
{
    const struct weirctl_load_report *report = load->report;
    const uint64_t requests = load->plan->requests;

    return (requests == 0 || report->sent + report->unsent < requests) &&
           (is_open(load) ? due_ns(load) : now) < load->end_ns;
}

/* ---- Checks ---- */

static void slot_free(struct load *load, struct slot *slot)
{
    slot->next = load->free;
    load->free = slot;
}

static void flight_add(struct load *load, struct slot *slot)
{
    slot->prev = load->newest;
    slot->next = NULL;
    if (load->newest != NULL) {
        load->newest->next = slot;
    } else {
        load->oldest = slot;
    }
    load->newest = slot;
}

static void flight_remove(struct load *load, struct slot *slot)
{
    if (slot->prev != NULL) {
        slot->prev->next = slot->next;
    } else {
        load->oldest = slot->next;
    }
    if (slot->next != NULL) {
        slot->next->prev = slot->prev;
    } else {
        load->newest = slot->prev;
    }
}

/* False when its connection takes no more. */
static bool slot_begin(struct load *load, struct slot *slot, uint64_t start_ns)
{
    const struct weirctl_load_plan *plan = load->plan;
    const size_t number = (size_t) (slot - load->slots);
    struct line *line = &load->lines[slot->line];

    slot->turn.start_ns = start_ns;
    if (line->peer == NULL || !weirctl_peer_begin(line->peer, &slot->turn)) {
        return false;
    }
    if (plan->keys > 1) {
        weirctl_body_set_key(plan->body, &load->bodies[number * plan->body->len], load->next_key);
        load->next_key = load->next_key + 1 < plan->keys ? load->next_key + 1 : 0;
    }
    line->has_news = true;
    flight_add(load, slot);
    load->report->sent++;
    return true;
}

static void count(struct load *load, struct slot *slot, enum weirctl_answer answer, uint64_t now)
{
    struct weirctl_load_report *report = load->report;
    const uint64_t latency_ns = now - slot->turn.start_ns;

    flight_remove(load, slot);
    load->last_ns = now;
    switch (answer) {
    case WEIRCTL_ANSWER_ADMITTED:
        report->admitted++;
        break;
    case WEIRCTL_ANSWER_REFUSED:
        report->refused++;
        break;
    case WEIRCTL_ANSWER_FAILED:
        report->failed++;
        weirctl_histogram_add_at_least(&report->latency_ns, latency_ns);
        return;
    }
    weirctl_histogram_add(&report->latency_ns, latency_ns);
}

static void complain_of_time(struct load *load)
{
    char text[WEIR_ERROR_MAX];

    snprintf(text, sizeof text, "nothing came within %u ms%s", load->plan->timeout_ms,
             is_open(load) ? " of when it was due" : "");
    keep_complaint(load, WEIR_ERR_TIMEOUT, text);
}

/* An answer that comes too late is none, however late it was read. */
static void on_end(void *arg, struct weirctl_turn *turn, enum weirctl_answer answer)
{
    struct load *load = arg;
    struct slot *slot = (struct slot *) turn;
    const uint64_t now = now_ns();

    if (answer != WEIRCTL_ANSWER_FAILED && now - turn->start_ns >= load->timeout_ns) {
        complain_of_time(load);
        answer = WEIRCTL_ANSWER_FAILED;
    }
    count(load, slot, answer, now);
    if (is_open(load) || !has_more(load, now) || !slot_begin(load, slot, now)) {
        slot_free(load, slot);
    }
}

/* Begins what can begin: in the open loop what is due, else all that is free. */
static void begin_due(struct load *load, uint64_t now)
{
    struct slot *kept = NULL;

    while (load->free != NULL && has_more(load, now)) {
        struct slot *slot = load->free;
        const uint64_t start = is_open(load) ? due_ns(load) : now;

        if (start > now) {
            break;
        }
        load->free = slot->next;
        if (!slot_begin(load, slot, start)) {
            slot->next = kept;
            kept = slot;
        }
    }
    while (kept != NULL) {
        struct slot *slot = kept;

        kept = slot->next;
        slot_free(load, slot);
    }
}

/* Counts what is due and has waited so long as unsent. */
static void leave_unsent(struct load *load, uint64_t now, uint64_t waited_ns)
{
    while (is_open(load) && has_more(load, now) && due_ns(load) + waited_ns <= now) {
        weirctl_histogram_add_at_least(&load->report->latency_ns, now - due_ns(load));
        complain_of_time(load);
        load->report->unsent++;
    }
}

/* Ends what has run out of time. */
static void expire(struct load *load, uint64_t now)
{
    while (load->oldest != NULL && load->oldest->turn.start_ns + load->timeout_ns <= now) {
        struct slot *slot = load->oldest;

        weirctl_peer_cancel(slot->turn.peer, &slot->turn);
        load->lines[slot->line].has_news = true;
        complain_of_time(load);
        count(load, slot, WEIRCTL_ANSWER_FAILED, now);
        slot_free(load, slot);
    }
    leave_unsent(load, now, load->timeout_ns);
}

/* ---- Connections ---- */

static bool line_open(struct load *load, size_t number, struct weir_error *error)
{
    const struct weirctl_peer_options options = {.target = load->plan->target,
                                                 .timeout_ms = load->plan->timeout_ms,
                                                 .on_end = on_end,
                                                 .arg = load};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};
    struct line *line = &load->lines[number];

    *line = (struct line){.peer = weirctl_peer_new(&options, error), .has_news = true};
    if (line->peer == NULL) {
        return false;
    }
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, weirctl_peer_fd(line->peer), &event) != 0) {
        weirctl_peer_destroy(line->peer);
        line->peer = NULL;
        weir_error_set(error, WEIR_ERR_MEMORY, "too many connections for this process");
        return false;
    }
    load->lines_left++;
    return true;
}

/* Fails what the connection carried. */
static void line_close(struct load *load, size_t number)
{
    struct weirctl_peer *peer = load->lines[number].peer;
    const size_t first = number * load->plan->in_flight;
    const uint64_t now = now_ns();

    keep_complaint(load, WEIR_ERR_SERVER, weirctl_peer_complaint(peer));
    for (size_t i = first; i < first + load->plan->in_flight; i++) {
        struct slot *slot = &load->slots[i];

        if (slot->turn.peer != NULL) {
            slot->turn.peer = NULL;
            count(load, slot, WEIRCTL_ANSWER_FAILED, now);
            slot_free(load, slot);
        }
    }
    load->lines[number].peer = NULL;
    load->lines_left--;
    weirctl_peer_destroy(peer);
}

static void line_renew(struct load *load, size_t number)
{
    struct weir_error error;

    line_close(load, number);
    if (has_more(load, now_ns()) && !line_open(load, number, &error)) {
        keep_complaint(load, WEIR_ERR_SERVER, error.text);
    }
}

static void line_flush(struct load *load, size_t number)
{
    struct line *line = &load->lines[number];

    line->has_news = false;
    if (!weirctl_peer_flush(line->peer)) {
        line_renew(load, number);
        return;
    }
    if (weirctl_peer_is_full(line->peer) != line->waits_to_write) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};

        line->waits_to_write = !line->waits_to_write;
        if (line->waits_to_write) {
            event.events |= EPOLLOUT;
        }
        epoll_ctl(load->epoll, EPOLL_CTL_MOD, weirctl_peer_fd(line->peer), &event);
    }
}

static void flush_news(struct load *load)
{
    for (size_t i = 0; i < load->plan->connections; i++) {
        if (load->lines[i].peer != NULL && load->lines[i].has_news) {
            line_flush(load, i);
        }
    }
}

static void line_ready(struct load *load, size_t number)
{
    struct line *line = &load->lines[number];

    if (line->peer == NULL) {
        return;
    }
    line->has_news = true;
    if (!weirctl_peer_read(line->peer)) {
        line_renew(load, number);
    }
}

/* ---- The course of it ---- */

/* Sees to it that the timer goes off at `at` at the latest: sooner does no harm, and to set it
 * costs a system call. */
static void timer_set(struct load *load, uint64_t at)
{
    if (at >= load->timer_ns) {
        return;
    }

    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t) (at / SECOND_NS), .tv_nsec = (long) (at % SECOND_NS)}};

    load->timer_ns = at;
    timerfd_settime(load->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void wait_until(struct load *load, uint64_t at)
{
    struct epoll_event events[EVENTS_MAX];

    timer_set(load, at);

    const int n = epoll_wait(load->epoll, events, EVENTS_MAX, -1);

    for (int i = 0; i < n; i++) {
        if (events[i].data.u64 < load->plan->connections) {
            line_ready(load, (size_t) events[i].data.u64);
        } else {
            load->timer_ns = UINT64_MAX;
        }
    }
}

/* When something is to be done, if nothing comes before. A check that is due and did not begin
 * waits for room until its time is up. */
static uint64_t next_ns(const struct load *load, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    if (load->oldest != NULL) {
        next = load->oldest->turn.start_ns + load->timeout_ns;
    }
    if (is_open(load) && has_more(load, now)) {
        const uint64_t due = due_ns(load);

        next = earlier(next, due > now ? due : due + load->timeout_ns);
    }
    return next;
}

static void show_progress(struct load *load, uint64_t now)
{
    load->report->elapsed_ns = now - load->begin_ns;
    if (load->plan->on_progress != NULL) {
        load->plan->on_progress(load->plan->arg, load->report);
    }
}

static void run(struct load *load)
{
    uint64_t now = now_ns();
    uint64_t progress_ns = now + PROGRESS_NS;

    load->begin_ns = now;
    load->last_ns = now;
    load->end_ns = now + load->plan->duration_ns;
    for (;;) {
        expire(load, now);
        begin_due(load, now);
        flush_news(load);
        if ((load->oldest == NULL && !has_more(load, now)) || load->lines_left == 0) {
            break;
        }
        wait_until(load, earlier(progress_ns, next_ns(load, now)));
        now = now_ns();
        if (now >= progress_ns) {
            show_progress(load, now);
            progress_ns = now + PROGRESS_NS;
        }
    }
    leave_unsent(load, now, 0);
}

/* ---- Life ---- */

static bool load_init(struct load *load)
{
    const struct weirctl_load_plan *plan = load->plan;
    const size_t count = (size_t) plan->connections * plan->in_flight;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};

    load->lines = calloc(plan->connections, sizeof *load->lines);
    load->slots = calloc(count, sizeof *load->slots);
    load->bodies = malloc(count * plan->body->len);
    load->epoll = epoll_create1(0);
    load->timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (load->lines == NULL || load->slots == NULL || load->bodies == NULL || load->epoll < 0 ||
        load->timer < 0 || epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->timer, &event) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t *body = &load->bodies[i * plan->body->len];

        memcpy(body, plan->body->bytes, plan->body->len);
        load->slots[i].turn.body = body;
        load->slots[i].turn.body_len = plan->body->len;
        load->slots[i].line = i / plan->in_flight;
    }
    /* The first of the list go to one connection each, in turn. */
    for (size_t i = count; i > 0; i--) {
        const size_t number =
            (i - 1) % plan->connections * plan->in_flight + (i - 1) / plan->connections;

        slot_free(load, &load->slots[number]);
    }
    return true;
}

static void load_fini(struct load *load)
{
    if (load->lines != NULL && load->slots != NULL) {
        for (size_t i = 0; i < load->plan->connections; i++) {
            if (load->lines[i].peer != NULL) {
                line_close(load, i);
            }
        }
    }
    if (load->timer >= 0) {
        close(load->timer);
    }
    if (load->epoll >= 0) {
        close(load->epoll);
    }
    free(load->bodies);
    free(load->slots);
    free(load->lines);
}

static enum weir_err open_all(struct load *load, struct weir_error *error)
{
    for (size_t i = 0; i < load->plan->connections; i++) {
        if (!line_open(load, i, error)) {
            return error->code;
        }
    }
    return WEIR_OK;
}

enum weir_err weirctl_load_run(const struct weirctl_load_plan *plan,
                               struct weirctl_load_report *report, struct weir_error *error)
{
    struct load load = {.plan = plan,
                        .report = report,
                        .timeout_ns = (uint64_t) plan->timeout_ms * 1000000,
                        .epoll = -1,
                        .timer = -1,
                        .timer_ns = UINT64_MAX};
    enum weir_err err;

    memset(report, 0, sizeof *report);
    if (load_init(&load)) {
        err = open_all(&load, error);
    } else {
        err = weir_error_set(error, WEIR_ERR_MEMORY, "out of memory or files");
    }
    if (err == WEIR_OK) {
        run(&load);
    }
    load_fini(&load);
    report->elapsed_ns = load.last_ns - load.begin_ns;
    return err;
}
