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
#include "alarm.h"
#include "flight.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PROGRESS_NS 200000000U
#define EVENTS_MAX 64
#define SECOND_NS 1000000000U

struct line {
    struct weirctl_peer *peer; /* owned; NULL: gone */
    bool has_news;             /* something was begun since the last flush */
    bool waits_to_write;
};

struct load {
    const struct weirctl_load_plan *plan;
    struct weirctl_load_report *report;
    struct line *lines; /* owned */
    struct weirctl_flight flight;
    size_t lines_left;
    uint64_t timeout_ns;
    uint64_t begin_ns;
    uint64_t end_ns;  /* nothing begins in the closed loop, or becomes due, from then on */
    uint64_t last_ns; /* of the last answer */
    uint32_t next_key;
    int epoll;
    struct weirctl_alarm alarm;
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void keep_complaint(struct load *load, const char *text)
{
    if (load->report->complaint.code == WEIR_OK && text[0] != '\0') {
        weir_error_set(&load->report->complaint, WEIR_ERR_SERVER, "%s", text);
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

/* False when its connection takes no more. */
static bool slot_begin(struct load *load, struct weirctl_slot *slot, uint64_t start_ns)
{
    const struct weirctl_load_plan *plan = load->plan;
    struct line *line = &load->lines[slot->line];

    slot->turn.start_ns = start_ns;
    if (line->peer == NULL || !weirctl_peer_begin(line->peer, &slot->turn)) {
        return false;
    }
    if (plan->keys > 1) {
        weirctl_body_set_key(plan->body, weirctl_flight_body(&load->flight, slot), load->next_key);
        load->next_key = load->next_key + 1 < plan->keys ? load->next_key + 1 : 0;
    }
    line->has_news = true;
    weirctl_flight_add(&load->flight, slot);
    load->report->sent++;
    return true;
}

static void count(struct load *load, struct weirctl_slot *slot, enum weirctl_answer answer,
                  uint64_t now)
{
    struct weirctl_load_report *report = load->report;
    const uint64_t latency_ns = now - slot->turn.start_ns;

    weirctl_flight_remove(&load->flight, slot);
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
    if (load->report->complaint.code == WEIR_OK) {
        weir_error_set(&load->report->complaint, WEIR_ERR_TIMEOUT, "nothing came within %u ms%s",
                       load->plan->timeout_ms, is_open(load) ? " of when it was due" : "");
    }
}

/* An answer that comes too late is none, however late it was read. */
static void on_end(void *arg, struct weirctl_turn *turn, enum weirctl_answer answer)
{
    struct load *load = arg;
    struct weirctl_slot *slot = (struct weirctl_slot *) turn;
    const uint64_t now = weirctl_now_ns();

    if (answer == WEIRCTL_ANSWER_FAILED) {
        keep_complaint(load, weirctl_peer_complaint(load->lines[slot->line].peer));
    } else if (now - turn->start_ns >= load->timeout_ns) {
        complain_of_time(load);
        answer = WEIRCTL_ANSWER_FAILED;
    }
    count(load, slot, answer, now);
    if (is_open(load) || !has_more(load, now) || !slot_begin(load, slot, now)) {
        weirctl_flight_put(&load->flight, slot);
    }
}

/* Begins what can begin: in the open loop what is due, else all that is free. */
static void begin_due(struct load *load, uint64_t now)
{
    struct weirctl_slot *kept = NULL;

    while (load->flight.free != NULL && has_more(load, now)) {
        const uint64_t start = is_open(load) ? due_ns(load) : now;

        if (start > now) {
            break;
        }

        struct weirctl_slot *slot = weirctl_flight_take(&load->flight);

        if (!slot_begin(load, slot, start)) {
            slot->next = kept;
            kept = slot;
        }
    }
    while (kept != NULL) {
        struct weirctl_slot *slot = kept;

        kept = slot->next;
        weirctl_flight_put(&load->flight, slot);
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
    while (load->flight.oldest != NULL &&
           load->flight.oldest->turn.start_ns + load->timeout_ns <= now) {
        struct weirctl_slot *slot = load->flight.oldest;

        weirctl_peer_cancel(slot->turn.peer, &slot->turn);
        load->lines[slot->line].has_news = true;
        complain_of_time(load);
        count(load, slot, WEIRCTL_ANSWER_FAILED, now);
        weirctl_flight_put(&load->flight, slot);
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
    const uint64_t now = weirctl_now_ns();

    keep_complaint(load, weirctl_peer_complaint(peer));
    for (size_t i = first; i < first + load->plan->in_flight; i++) {
        struct weirctl_slot *slot = &load->flight.slots[i];

        if (slot->turn.peer != NULL) {
            slot->turn.peer = NULL;
            count(load, slot, WEIRCTL_ANSWER_FAILED, now);
            weirctl_flight_put(&load->flight, slot);
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
    if (has_more(load, weirctl_now_ns()) && !line_open(load, number, &error)) {
        keep_complaint(load, error.text);
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

static void wait_until(struct load *load, uint64_t at)
{
    struct epoll_event events[EVENTS_MAX];

    weirctl_alarm_set(&load->alarm, at);

    const int n = epoll_wait(load->epoll, events, EVENTS_MAX, -1);

    for (int i = 0; i < n; i++) {
        if (events[i].data.u64 < load->plan->connections) {
            line_ready(load, (size_t) events[i].data.u64);
        } else {
            weirctl_alarm_clear(&load->alarm);
        }
    }
}

/* When something is to be done, if nothing comes before. A check that is due and did not begin
 * waits for room until its time is up. */
static uint64_t next_ns(const struct load *load, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    if (load->flight.oldest != NULL) {
        next = load->flight.oldest->turn.start_ns + load->timeout_ns;
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
    uint64_t now = weirctl_now_ns();
    uint64_t progress_ns = now + PROGRESS_NS;

    load->begin_ns = now;
    load->last_ns = now;
    load->end_ns = now + load->plan->duration_ns;
    for (;;) {
        expire(load, now);
        begin_due(load, now);
        flush_news(load);
        if ((load->flight.oldest == NULL && !has_more(load, now)) || load->lines_left == 0) {
            break;
        }
        wait_until(load, earlier(progress_ns, next_ns(load, now)));
        now = weirctl_now_ns();
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
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};

    load->lines = calloc(plan->connections, sizeof *load->lines);
    load->epoll = epoll_create1(0);

    const bool has_alarm = weirctl_alarm_init(&load->alarm);

    return weirctl_flight_init(&load->flight, plan->connections, plan->in_flight, plan->body) &&
           load->lines != NULL && load->epoll >= 0 && has_alarm &&
           epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->alarm.fd, &event) == 0;
}

/* Nothing is in flight: the end of the load, or it never began. */
static void load_fini(struct load *load)
{
    if (load->lines != NULL) {
        for (size_t i = 0; i < load->plan->connections; i++) {
            weirctl_peer_destroy(load->lines[i].peer);
        }
    }
    weirctl_alarm_fini(&load->alarm);
    if (load->epoll >= 0) {
        close(load->epoll);
    }
    weirctl_flight_fini(&load->flight);
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
    struct load load = {
        .plan = plan, .report = report, .timeout_ns = (uint64_t) plan->timeout_ms * 1000000};
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
