/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* What happens to entries of a directory, and to the directory. */
#define WAY_EVENTS                                                                                 \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define CONTENT_EVENTS (WAY_EVENTS | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

/* One thing that is watched for: any entry of a directory, or one of that name. */
struct aim {
    int wd;
    char *path;    /* owned; of the directory, as it was given */
    char *name;    /* owned; NULL: any */
    bool is_stale; /* not named since begin */
};

/* Files whose coming is noted at a time; beyond, nothing is known of any. */
#define MAX_ARRIVALS 4096

/* After these a path may lead elsewhere, so that nothing is known of how its files came. */
#define BLINDING_EVENTS (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)
#define DIRECTORY_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

/* A look and the one before. */
#define BLIND_LOOKS 2

/* How a file of a directory that is watched came. */
struct arrival {
    int wd;
    char *name; /* owned */
    bool is_moved_in, is_written;
    bool is_old; /* nothing new since the last look began */
};

struct wr_watch {
    int fd;           /* owned */
    struct aim *aims; /* owned */
    size_t n, size;
    bool is_partial, has_grown;
    struct arrival *arrivals; /* owned */
    size_t n_arrivals, arrivals_size;
    unsigned n_blind_looks; /* that are still to begin before anything is known again */
};

enum wr_err wr_watch_new(struct wr_watch **out_watch)
{
    struct wr_watch *const watch = calloc(1, sizeof *watch);

    if (watch == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0) {
        free(watch);
        return WR_ERR_SYSTEM;
    }
    *out_watch = watch;
    return WR_OK;
}

void wr_watch_destroy(struct wr_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    (void) close(watch->fd);
    for (size_t i = 0; i < watch->n; i++) {
        free(watch->aims[i].path);
        free(watch->aims[i].name);
    }
    free(watch->aims);
    for (size_t i = 0; i < watch->n_arrivals; i++) {
        free(watch->arrivals[i].name);
    }
    free(watch->arrivals);
    free(watch);
}

int wr_watch_fd(const struct wr_watch *watch)
{
    return watch->fd;
}

void wr_watch_begin(struct wr_watch *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        watch->aims[i].is_stale = true;
    }
    watch->is_partial = watch->has_grown = false;
}

static bool is_aim(const struct aim *aim, int wd, const char *path, const char *name, size_t len)
{
    return aim->wd == wd && strcmp(aim->path, path) == 0 && (name == NULL) == (aim->name == NULL) &&
           (name == NULL || (strlen(aim->name) == len && memcmp(aim->name, name, len) == 0));
}

/* Watches with `wd` for entry `name` of `len` bytes, NULL for any, of directory `path`. */
static void note_aim(struct wr_watch *watch, int wd, const char *path, const char *name, size_t len)
{
    for (size_t i = 0; i < watch->n; i++) {
        if (is_aim(&watch->aims[i], wd, path, name, len)) {
            watch->aims[i].is_stale = false;
            return;
        }
    }
    watch->has_grown = true;
    if (watch->n == watch->size) {
        const size_t size = watch->size == 0 ? 16 : 2 * watch->size;
        struct aim *const aims = realloc(watch->aims, size * sizeof *aims);

        if (aims == NULL) {
            watch->is_partial = true;
            return;
        }
        watch->aims = aims;
        watch->size = size;
    }

    const struct aim aim = {
        .wd = wd, .path = strdup(path), .name = name == NULL ? NULL : strndup(name, len)};

    if (aim.path == NULL || (name != NULL && aim.name == NULL)) {
        watch->is_partial = true;
        free(aim.path);
        free(aim.name);
        return;
    }
    watch->aims[watch->n++] = aim;
}

/* Watches directory `path`. */
static void add(struct wr_watch *watch, const char *path, uint32_t events, const char *name,
                size_t len)
{
    const int wd = inotify_add_watch(watch->fd, path, events | IN_MASK_ADD);

    if (wd >= 0) {
        note_aim(watch, wd, path, name, len);
    } else if (errno == ENOSPC || errno == ENOMEM) {
        watch->is_partial = true;
    }
}

/* The directory that holds the component at `at`: all before it, without the slash. */
static void add_component(struct wr_watch *watch, const char *path, size_t at, size_t len)
{
    char parent[PATH_MAX] = ".";

    if (at == 1) {
        parent[0] = '/';
    } else if (at >= sizeof parent) {
        return;
    } else if (at > 1) {
        memcpy(parent, path, at - 1);
        parent[at - 1] = '\0';
    }
    /* The last component may be the file itself. */
    add(watch, parent, path[at + len] == '\0' ? CONTENT_EVENTS : WAY_EVENTS, path + at, len);
}

void wr_watch_add_way(struct wr_watch *watch, const char *path)
{
    for (size_t at = 0; path[at] != '\0';) {
        const size_t len = strcspn(path + at, "/");

        if (len > 0) {
            add_component(watch, path, at, len);
        }
        at += len;
        at += path[at] == '/';
    }
}

void wr_watch_add_directory(struct wr_watch *watch, const char *path)
{
    add(watch, path, CONTENT_EVENTS | IN_ONLYDIR, NULL, 0);
}

static bool is_watched(const struct wr_watch *watch, int wd)
{
    for (size_t i = 0; i < watch->n; i++) {
        if (watch->aims[i].wd == wd) {
            return true;
        }
    }
    return false;
}

static void remove_aim(struct wr_watch *watch, size_t i)
{
    const int wd = watch->aims[i].wd;

    free(watch->aims[i].path);
    free(watch->aims[i].name);
    watch->aims[i] = watch->aims[--watch->n];
    if (!is_watched(watch, wd)) {
        (void) inotify_rm_watch(watch->fd, wd);
    }
}

bool wr_watch_end(struct wr_watch *watch)
{
    for (size_t i = watch->n; i-- > 0;) {
        if (watch->aims[i].is_stale) {
            remove_aim(watch, i);
        }
    }
    return watch->has_grown;
}

bool wr_watch_is_partial(const struct wr_watch *watch)
{
    return watch->is_partial;
}

static bool concerns(const struct wr_watch *watch, const struct inotify_event *event)
{
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
        return true;
    }
    for (size_t i = 0; i < watch->n; i++) {
        const struct aim *const aim = &watch->aims[i];

        if (aim->wd == event->wd &&
            (aim->name == NULL || event->len == 0 || strcmp(aim->name, event->name) == 0)) {
            return true;
        }
    }
    return false;
}

static struct arrival *find_arrival(const struct wr_watch *watch, int wd, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < watch->n_arrivals; i++) {
        struct arrival *const arrival = &watch->arrivals[i];

        if (arrival->wd == wd && strncmp(arrival->name, name, len) == 0 &&
            arrival->name[len] == '\0') {
            return arrival;
        }
    }
    return NULL;
}

/* NULL when there is no room. */
static struct arrival *add_arrival(struct wr_watch *watch, int wd, const char *name)
{
    if (watch->n_arrivals == watch->arrivals_size) {
        const size_t size = watch->arrivals_size == 0 ? 16 : 2 * watch->arrivals_size;
        struct arrival *const arrivals =
            size > MAX_ARRIVALS ? NULL : realloc(watch->arrivals, size * sizeof *arrivals);

        if (arrivals == NULL) {
            return NULL;
        }
        watch->arrivals = arrivals;
        watch->arrivals_size = size;
    }

    char *const copy = strdup(name);

    if (copy == NULL) {
        return NULL;
    }
    watch->arrivals[watch->n_arrivals] = (struct arrival){.wd = wd, .name = copy};
    return &watch->arrivals[watch->n_arrivals++];
}

static bool is_blinding(const struct inotify_event *event)
{
    return (event->mask & BLINDING_EVENTS) != 0 ||
           ((event->mask & IN_ISDIR) != 0 && (event->mask & DIRECTORY_EVENTS) != 0);
}

/* Of a file that is written first and then renamed, the writing is noted by its first name. */
static void note_arrival(struct wr_watch *watch, const struct inotify_event *event)
{
    struct arrival *arrival;

    if (is_blinding(event)) {
        watch->n_blind_looks = BLIND_LOOKS;
    }
    /* Names with a dot are no rules'. */
    if (event->len == 0 || event->name[0] == '.' ||
        (event->mask & (IN_MOVED_TO | IN_CREATE | IN_MODIFY)) == 0) {
        return;
    }
    arrival = find_arrival(watch, event->wd, event->name, strlen(event->name));
    if (arrival == NULL) {
        arrival = add_arrival(watch, event->wd, event->name);
    }
    if (arrival == NULL) {
        watch->n_blind_looks = BLIND_LOOKS;
        return;
    }
    arrival->is_old = false;
    arrival->is_moved_in = arrival->is_moved_in || (event->mask & IN_MOVED_TO) != 0;
    arrival->is_written = arrival->is_written || (event->mask & (IN_CREATE | IN_MODIFY)) != 0;
}

void wr_watch_begin_look(struct wr_watch *watch)
{
    size_t n = 0;

    for (size_t i = 0; i < watch->n_arrivals; i++) {
        struct arrival *const arrival = &watch->arrivals[i];

        if (arrival->is_old) {
            free(arrival->name);
        } else {
            arrival->is_old = true;
            watch->arrivals[n++] = *arrival;
        }
    }
    watch->n_arrivals = n;
    watch->n_blind_looks -= watch->n_blind_looks > 0;
}

bool wr_watch_has_moved_in(const struct wr_watch *watch, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    const size_t len = slash == NULL ? 0 : (size_t) (slash - path);

    for (size_t i = 0; i < watch->n && watch->n_blind_looks == 0; i++) {
        const struct aim *const aim = &watch->aims[i];

        if (strncmp(aim->path, path, len) == 0 &&
            strspn(aim->path + len, "/") == strlen(aim->path + len)) {
            const struct arrival *const arrival = find_arrival(watch, aim->wd, name, strlen(name));

            return arrival != NULL && arrival->is_moved_in && !arrival->is_written;
        }
    }
    return false;
}

bool wr_watch_drain(struct wr_watch *watch)
{
    alignas(struct inotify_event) char buffer[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    bool is_concerned = false;

    for (;;) {
        const ssize_t n = read(watch->fd, buffer, sizeof buffer);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return is_concerned;
        }
        for (const char *at = buffer; at < buffer + n;) {
            const struct inotify_event *const event = (const void *) at;

            note_arrival(watch, event);
            is_concerned = is_concerned || concerns(watch, event);
            at += sizeof *event + event->len;
        }
    }
}
