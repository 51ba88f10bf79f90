/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/reload.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/log_notes.h"
#include "base/thread.h"
#include "rules/publisher.h"
#include "rules/rule_set.h"
#include "rules/settling.h"
#include "rules/watch.h"

#define MAX_NOTES_A_SECOND 200
#define MAX_NOTES 100
#define MORE_NOTES "`weir check` shows more"

/* Events come in bursts: the look follows the first of them by this much. */
#define BURST_US 10000

#define NICENESS 5

struct wr_reload {
    struct wr_reload_options options;
    struct wr_rule_set set;
    struct wr_metrics_block *metrics; /* borrowed; first of whoever loads, then of the thread */
    struct wr_publisher publisher;
    struct wr_watch *watch; /* owned; NULL: there are polls only */
    struct wr_diag told;    /* what was noted at the last look */
    int64_t due_us;         /* of the next look */
    int64_t look_us;        /* what a look took */
    bool is_watch_partial, has_missing_root;
    bool is_stirred;       /* something happened while files were looked at */
    int64_t notes_second;  /* monotonic; of n_notes */
    size_t n_notes;        /* logged in it */
    size_t n_takes_untold; /* whose notes were left out since the last that were not */
    struct wr_log_limit memory_limit;
    struct wr_thread thread;
    bool is_started;
    int wake_fd; /* owned; an eventfd */
    /* Released by stop, acquired by the thread. */
    _Atomic bool is_stopping;
};

/* Called behind the reading of the file at `path`. */
static bool was_moved_in(void *context, const char *path)
{
    struct wr_reload *const reload = context;

    if (reload->watch == NULL) {
        return false;
    }
    reload->is_stirred = wr_watch_drain(reload->watch) || reload->is_stirred;
    return wr_watch_has_moved_in(reload->watch, path);
}

static bool is_stopping(void *context)
{
    struct wr_reload *const reload = context;

    return atomic_load_explicit(&reload->is_stopping, memory_order_acquire);
}

static void open_watch(struct wr_reload *reload)
{
    if (!reload->options.polls_only && wr_watch_new(&reload->watch) != WR_OK) {
        wr_log(WR_LOG_WARN, "rule files cannot be watched, they are looked at every %.1f s",
               (double) reload->options.poll_us / 1e6);
    }
}

enum wr_err wr_reload_new(const struct wr_reload_options *options, struct wr_reload **out_reload)
{
    struct wr_reload *const reload = calloc(1, sizeof *reload);

    if (reload == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    reload->options = *options;
    reload->metrics = wr_metrics_block_new(options->metrics);
    reload->publisher = (struct wr_publisher){
        .current = options->current,
        .metrics = reload->metrics,
        .doubtful = options->load->doubtful,
        .on_rules = options->on_rules,
        .context = options->context,
    };
    reload->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wr_diag_init(&reload->told, MAX_NOTES);

    const struct wr_rule_set_hooks hooks = {
        .was_moved_in = was_moved_in, .is_stopping = is_stopping, .context = reload};
    const bool has_set = wr_rule_set_init(&reload->set, options->load, &hooks) == WR_OK;

    if (reload->metrics == NULL || reload->wake_fd < 0 || !has_set) {
        wr_reload_destroy(reload);
        return WR_ERR_SYSTEM;
    }
    open_watch(reload);
    *out_reload = reload;
    return WR_OK;
}

/* Names the directories that hold files, once where they follow each other. */
static void watch_directories(struct wr_reload *reload)
{
    const struct wr_file_set *const files = &reload->set.files;
    struct wr_str last = {0};

    for (size_t i = 0; i < files->n; i++) {
        const char *const path = files->files[i]->path;
        const char *const slash = strrchr(path, '/');
        const struct wr_str directory = {.ptr = path,
                                         .len = slash == NULL ? 0 : (size_t) (slash - path)};
        char *copy;

        if (directory.len == 0 || wr_str_equal(directory, last)) {
            continue;
        }
        last = directory;
        copy = strndup(directory.ptr, directory.len);
        if (copy != NULL) {
            wr_watch_add_directory(reload->watch, copy);
            free(copy);
        }
    }
}

/* Watches what there is now. True when something new is watched. */
static bool renew_watch(struct wr_reload *reload)
{
    const struct wr_load_options *const load = reload->options.load;

    if (reload->watch == NULL) {
        return false;
    }
    wr_watch_begin(reload->watch);
    for (size_t i = 0; i < load->n_paths; i++) {
        wr_watch_add_way(reload->watch, load->paths[i]);
        wr_watch_add_directory(reload->watch, load->paths[i]);
    }
    if (load->is_recursive) {
        watch_directories(reload);
    }

    const bool has_grown = wr_watch_end(reload->watch);

    if (wr_watch_is_partial(reload->watch) && !reload->is_watch_partial) {
        wr_log(WR_LOG_WARN,
               "not all directories of rules can be watched (see fs.inotify.max_user_watches); "
               "changes there are found within %.1f s",
               (double) reload->options.poll_us / 1e6);
    }
    reload->is_watch_partial = wr_watch_is_partial(reload->watch);
    return has_grown;
}

static void log_no_memory(struct wr_reload *reload)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&reload->memory_limit, wr_clock_mono_us(), &skipped)) {
        wr_log(WR_LOG_ERROR, "out of memory while rules were loaded: those in force stay");
    }
}

/* Logs what the look noted and the one before did not. */
static void log_look(struct wr_reload *reload, struct wr_diag *diag)
{
    const bool has_missing_root = reload->set.files.n_missing_roots > 0;

    wr_log_new_notes(diag, &reload->told, MORE_NOTES);
    if (has_missing_root && !reload->has_missing_root && reload->set.is_in_force) {
        wr_log(WR_LOG_WARN, "the rules from there stay in force until it is back");
    }
    reload->has_missing_root = has_missing_root;
    wr_diag_fini(&reload->told);
    reload->told = *diag;
}

static enum wr_err see(struct wr_reload *reload)
{
    const int64_t begin_us = wr_clock_mono_us();
    struct wr_diag diag;

    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err err = wr_file_set_look(&reload->set.files, begin_us, &diag);

    log_look(reload, &diag);
    reload->look_us = wr_clock_mono_us() - begin_us;
    return err;
}

static void use(struct wr_reload *reload, struct wr_rule_set_change *change)
{
    if (change->n_newly_refused > 0) {
        wr_metrics_add(reload->metrics, WR_METRIC_CONFIG_ERRORS, 1);
    }
    if (change->rules == NULL) {
        if (change->n_newly_refused > 0) {
            wr_log(WR_LOG_WARN, "rules stay as they are: %zu of %zu files are refused",
                   change->n_refused, change->n_files);
        }
        return;
    }
    wr_log(change->n_refused == 0 ? WR_LOG_INFO : WR_LOG_WARN,
           "rules in force: domains: %zu, limits: %zu, from %zu files%s",
           wr_rules_domain_count(change->rules), wr_rules_limit_count(change->rules),
           change->n_files,
           change->n_refused == 0 ? "" : "; refused ones stay at their last good version, if any");
    wr_publisher_publish(&reload->publisher, &change->rules);
}

/* A bad file that is written again and again must not fill the log: beyond so many notes a second
 * further takes are only counted. */
static void log_take(struct wr_reload *reload, const struct wr_diag *diag)
{
    const int64_t second = wr_clock_mono_us() / 1000000;

    if (second != reload->notes_second) {
        reload->notes_second = second;
        reload->n_notes = 0;
    }
    if (reload->n_notes >= MAX_NOTES_A_SECOND) {
        reload->n_takes_untold++;
        return;
    }
    reload->n_notes += diag->n_kept;
    wr_log_notes(diag, MORE_NOTES);
    if (reload->n_takes_untold > 0) {
        wr_log(WR_LOG_WARN, "the notes of %zu takes of rules were left out: too many at a time",
               reload->n_takes_untold);
        reload->n_takes_untold = 0;
    }
}

static enum wr_err take(struct wr_reload *reload, int64_t now_us, bool takes_all)
{
    struct wr_rule_set_change change = {0};
    struct wr_diag diag;

    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err err = wr_rule_set_take(&reload->set, now_us, takes_all, &diag, &change);

    if (err == WR_OK) {
        log_take(reload, &diag);
        use(reload, &change);
    } else if (!is_stopping(reload)) {
        log_no_memory(reload);
    }
    wr_diag_fini(&diag);
    return err;
}

enum wr_err wr_reload_load(struct wr_reload *reload)
{
    enum wr_err err = see(reload);

    if (err == WR_OK) {
        err = take(reload, wr_clock_mono_us(), true);
    }
    if (err != WR_OK) {
        return err;
    }
    return reload->set.files.n_missing_roots > 0 ? reload->set.files.root_err : WR_OK;
}

/* Whether an empty directory is to be taken for a configuration: one that has just come into being
 * is more likely about to be filled. */
static bool is_empty_for_good(const struct wr_reload *reload, int64_t now_us, int64_t *due_us)
{
    const struct wr_file_set *const files = &reload->set.files;
    const int64_t at_us = files->rooted_us + WR_FILE_SETTLE_WRITTEN_US;

    if (reload->set.is_in_force || files->n > 0 || files->n_missing_roots > 0) {
        return false;
    }
    if (at_us <= now_us) {
        return true;
    }
    *due_us = at_us < *due_us ? at_us : *due_us;
    return false;
}

/* After an event: soon, but not so often that looking is all there is. */
static void hasten(struct wr_reload *reload)
{
    const int64_t wait_us = BURST_US + 2 * reload->look_us;
    const int64_t due_us = wr_clock_mono_us() + wait_us;

    if (due_us < reload->due_us) {
        reload->due_us = due_us;
    }
}

/* Looks at the files, takes them if they are due, and sets when to look again. */
static void look(struct wr_reload *reload)
{
    const int64_t now_us = wr_clock_mono_us();
    const int64_t poll_us = now_us + reload->options.poll_us;
    int64_t due_us = INT64_MAX;

    wr_publisher_let_go(&reload->publisher);
    reload->is_stirred = false;
    if (reload->watch != NULL) {
        wr_watch_begin_look(reload->watch);
    }

    enum wr_err err = see(reload);
    const bool is_new_watch = renew_watch(reload);

    if (err == WR_OK && (wr_file_set_is_due(&reload->set.files, now_us, &due_us) ||
                         is_empty_for_good(reload, now_us, &due_us))) {
        err = take(reload, now_us, false);
        (void) wr_file_set_is_due(&reload->set.files, now_us, &due_us);
    }
    if (err == WR_OK && is_new_watch && now_us + BURST_US < due_us) {
        due_us = now_us + BURST_US;
    }
    reload->due_us = err == WR_OK && due_us < poll_us ? due_us : poll_us;
    if (reload->is_stirred) {
        hasten(reload);
    }
}

/* Waits until a look is due, or something happens. */
static void wait(struct wr_reload *reload)
{
    struct pollfd polled[2] = {
        {.fd = reload->wake_fd, .events = POLLIN},
        {.fd = reload->watch == NULL ? -1 : wr_watch_fd(reload->watch), .events = POLLIN},
    };
    const int64_t left_us = reload->due_us - wr_clock_mono_us();

    if (left_us > 0) {
        (void) poll(polled, 2, (int) ((left_us + 999) / 1000));
    }
    if ((polled[1].revents & POLLIN) != 0 && wr_watch_drain(reload->watch)) {
        hasten(reload);
    }
    if ((polled[0].revents & POLLIN) != 0) {
        uint64_t count;

        (void) !read(reload->wake_fd, &count, sizeof count);
        reload->due_us = 0;
    }
}

static void run(void *context)
{
    struct wr_reload *const reload = context;

    /* Calls go first where processors are short. On Linux this is about the thread alone. */
    (void) setpriority(PRIO_PROCESS, 0, NICENESS);
    while (!is_stopping(reload)) {
        if (reload->due_us <= wr_clock_mono_us()) {
            look(reload);
        }
        wait(reload);
    }
}

enum wr_err wr_reload_start(struct wr_reload *reload)
{
    const enum wr_err err = wr_thread_start(&reload->thread, "reloader", run, reload);

    reload->is_started = err == WR_OK;
    return err;
}

void wr_reload_look(struct wr_reload *reload)
{
    const uint64_t one = 1;

    /* It fails only when the thread has a wake-up waiting for it as it is. */
    (void) !write(reload->wake_fd, &one, sizeof one);
}

void wr_reload_stop(struct wr_reload *reload)
{
    if (!reload->is_started) {
        return;
    }
    atomic_store_explicit(&reload->is_stopping, true, memory_order_release);
    wr_reload_look(reload);
    wr_thread_join(&reload->thread);
    reload->is_started = false;
}

void wr_reload_destroy(struct wr_reload *reload)
{
    if (reload == NULL) {
        return;
    }
    wr_reload_stop(reload);
    wr_watch_destroy(reload->watch);
    wr_publisher_fini(&reload->publisher);
    wr_rule_set_fini(&reload->set);
    wr_diag_fini(&reload->told);
    if (reload->wake_fd >= 0) {
        (void) close(reload->wake_fd);
    }
    free(reload);
}
