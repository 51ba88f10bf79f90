/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     asking -- time is up, all are sent, or no connection is left --> draining -- nothing is in
 *     flight, or the timeout passed --> over
 *
 * A connection that ends, also by the server's GOAWAY, fails what it carried and is made again
 * once; when that is refused it stays away.
 */
#include "load.h"

#include "../../error.h"
#include "peer.h"

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
    struct slot *next_free;
};

struct line {
    struct weirctl_peer *peer; /* owned; NULL: gone */
    bool has_news;             /* something was begun since the last flush */
    bool waits_to_write;
};

struct load {
    const struct weirctl_load_plan *plan;
    struct weirctl_load_report *report;
    struct line *lines; /* owned */
    struct slot *slots; /* owned */
    uint8_t *bodies;    /* owned: a copy for each slot */
    struct slot *free;  /* not in flight, and may begin */
    size_t in_flight;
    size_t lines_left;
    bool is_asking;
    uint64_t begin_ns;
    uint64_t last_ns;  /* of the last answer */
    uint64_t asked_ns; /* how far the asking came */
    uint32_t next_key;
    int epoll;
    int timer;
    uint64_t timer_ns; /* what it is set to */
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * SECOND_NS + (uint64_t) now.tv_nsec;
}

/* ---- Checks ---- */

static uint64_t checks_begun(const struct load *load)
{
    return load->report->sent;
}

static bool may_begin(const struct load *load)
{
    return load->is_asking &&
           (load->plan->requests == 0 || checks_begun(load) < load->plan->requests);
}

/* When check number `n` is due. */
static uint64_t due_ns(const struct load *load, uint64_t n)
{
    const uint64_t rate = load->plan->rate;

    return load->begin_ns + n / rate * SECOND_NS + n % rate * SECOND_NS / rate;
}

static void slot_free(struct load *load, struct slot *slot)
{
    slot->next_free = load->free;
    load->free = slot;
}

/* False when its connection takes no more. */
static bool slot_begin(struct load *load, struct slot *slot, uint64_t start_ns)
{
    const struct weirctl_load_plan *plan = load->plan;
    const size_t number = (size_t) (slot - load->slots);
    struct line *line = &load->lines[slot->line];

    if (line->peer == NULL) {
        return false;
    }
    if (plan->keys > 1) {
        weirctl_body_set_key(plan->body, &load->bodies[number * plan->body->len], load->next_key);
        load->next_key = load->next_key + 1 < plan->keys ? load->next_key + 1 : 0;
    }
    slot->turn.start_ns = start_ns;
    if (!weirctl_peer_begin(line->peer, &slot->turn)) {
        return false;
    }
    line->has_news = true;
    load->in_flight++;
    load->report->sent++;
    return true;
}

static void count(struct load *load, const struct slot *slot, enum weirctl_answer answer)
{
    struct weirctl_load_report *report = load->report;

    load->in_flight--;
    load->last_ns = now_ns();
    switch (answer) {
    case WEIRCTL_ANSWER_ADMITTED:
        report->admitted++;
        break;
    case WEIRCTL_ANSWER_REFUSED:
        report->refused++;
        break;
    case WEIRCTL_ANSWER_FAILED:
        report->failed++;
        return;
    }
    weirctl_histogram_add(&report->latency_ns, load->last_ns - slot->turn.start_ns);
}

static void on_end(void *arg, struct weirctl_turn *turn, enum weirctl_answer answer)
{
    struct load *load = arg;
    struct slot *slot = (struct slot *) turn;

    count(load, slot, answer);
    if (load->plan->rate != 0 || !may_begin(load) || !slot_begin(load, slot, load->last_ns)) {
        slot_free(load, slot);
    }
}

/* Begins what can begin: in the open loop what is due, else all that is free. */
static void begin_due(struct load *load, uint64_t now)
{
    struct slot *kept = NULL;

    while (load->free != NULL && may_begin(load)) {
        struct slot *slot = load->free;
        const uint64_t start = load->plan->rate != 0 ? due_ns(load, checks_begun(load)) : now;

        if (start > now) {
            break;
        }
        load->free = slot->next_free;
        if (!slot_begin(load, slot, start)) {
            slot->next_free = kept;
            kept = slot;
        }
    }
    while (kept != NULL) {
        struct slot *slot = kept;

        kept = slot->next_free;
        slot_free(load, slot);
    }
}

/* ---- Connections ---- */

static void keep_complaint(struct load *load, const char *text)
{
    if (load->report->complaint.code == WEIR_OK && text[0] != '\0') {
        weir_error_set(&load->report->complaint, WEIR_ERR_SERVER, "%s", text);
    }
}

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

    keep_complaint(load, weirctl_peer_complaint(peer));
    for (size_t i = first; i < first + load->plan->in_flight; i++) {
        struct slot *slot = &load->slots[i];

        if (slot->turn.peer != NULL) {
            slot->turn.peer = NULL;
            count(load, slot, WEIRCTL_ANSWER_FAILED);
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
    if (load->is_asking && !line_open(load, number, &error)) {
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

/* Sets the timer to what comes first, unless it is; `at` is not 0. */
static void timer_set(struct load *load, uint64_t at)
{
    if (at == load->timer_ns) {
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
        }
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void ask(struct load *load)
{
    const struct weirctl_load_plan *plan = load->plan;
    const uint64_t end_ns = load->begin_ns + plan->duration_ns;
    uint64_t progress_ns = load->begin_ns + PROGRESS_NS;
    uint64_t now = now_ns();

    while (now < end_ns && may_begin(load) && load->lines_left > 0) {
        uint64_t next = earlier(end_ns, progress_ns);

        begin_due(load, now);
        flush_news(load);
        if (plan->rate != 0 && load->free != NULL) {
            next = earlier(next, due_ns(load, checks_begun(load)));
        }
        wait_until(load, next);
        now = now_ns();
        if (now >= progress_ns) {
            load->report->elapsed_ns = now - load->begin_ns;
            if (plan->on_progress != NULL) {
                plan->on_progress(plan->arg, load->report);
            }
            progress_ns = now + PROGRESS_NS;
        }
    }
    load->asked_ns = earlier(now, end_ns);
    if (plan->rate != 0) {
        begin_due(load, load->asked_ns);
    }
    flush_news(load);
    load->is_asking = false;
}

/* How many checks were due by the end, but not sent. */
static uint64_t unsent(const struct load *load)
{
    const struct weirctl_load_plan *plan = load->plan;
    const uint64_t passed = load->asked_ns - load->begin_ns;
    uint64_t due = passed / SECOND_NS * plan->rate + passed % SECOND_NS * plan->rate / SECOND_NS;

    if (plan->requests != 0) {
        due = earlier(due, plan->requests);
    }
    return due > load->report->sent ? due - load->report->sent : 0;
}

static void drain(struct load *load)
{
    const uint64_t end_ns = now_ns() + (uint64_t) load->plan->timeout_ms * 1000000;
    const uint64_t in_flight = load->in_flight;

    while (load->in_flight > 0 && load->lines_left > 0 && now_ns() < end_ns) {
        flush_news(load);
        wait_until(load, end_ns);
    }
    if (load->in_flight > 0) {
        weir_error_set(&load->report->complaint, WEIR_ERR_TIMEOUT,
                       "%zu of the last %zu checks had no answer within %u ms", load->in_flight,
                       (size_t) in_flight, load->plan->timeout_ms);
    }
}

static void run(struct load *load)
{
    load->begin_ns = now_ns();
    load->last_ns = load->begin_ns;
    load->is_asking = true;
    ask(load);
    if (load->plan->rate != 0) {
        load->report->unsent = unsent(load);
    }
    drain(load);
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
    struct load load = {.plan = plan, .report = report, .epoll = -1, .timer = -1};
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
