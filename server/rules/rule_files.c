/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ_SIZE 4096

static void add_note(struct wr_diag *diag, enum wr_severity severity, const char *path,
                     const char *hint, const char *text)
{
    wr_diag_add(diag, severity, (struct wr_place){.file = wr_str_of(path)}, (struct wr_str){0},
                hint, "%s", text);
}

/* The message of errno, which is not shared between threads by strerror_r. */
static void add_errno_note(struct wr_diag *diag, const char *path, int error)
{
    char text[128];

    if (strerror_r(error, text, sizeof text) != 0) {
        (void) strncpy(text, "cannot be read", sizeof text);
    }
    add_note(diag, WR_SEVERITY_ERROR, path, NULL, text);
}

/* Takes over `path`. */
static bool push(struct wr_file_list *list, char *path)
{
    if (list->n == list->size) {
        const size_t size = list->size == 0 ? 16 : 2 * list->size;
        char **const paths =
            size > SIZE_MAX / sizeof *paths ? NULL : realloc(list->paths, size * sizeof *paths);

        if (paths == NULL) {
            free(path);
            return false;
        }
        list->paths = paths;
        list->size = size;
    }
    list->paths[list->n++] = path;
    return true;
}

static char *join(const char *directory, const char *name)
{
    const size_t directory_len = strlen(directory), name_len = strlen(name);
    const bool has_slash = directory_len > 0 && directory[directory_len - 1] == '/';
    char *const path = malloc(directory_len + name_len + 2);

    if (path == NULL) {
        return NULL;
    }
    memcpy(path, directory, directory_len);
    if (!has_slash) {
        path[directory_len] = '/';
    }
    memcpy(path + directory_len + !has_slash, name, name_len + 1);
    return path;
}

static bool is_rule_name(const char *name)
{
    static const struct wr_str yaml = WR_STR(".yaml"), yml = WR_STR(".yml");

    return wr_str_has_suffix(wr_str_of(name), yaml) || wr_str_has_suffix(wr_str_of(name), yml);
}

/* `chosen` itself is read apart from its siblings. */
static bool is_chosen(const char *name, const char *chosen)
{
    const size_t len = chosen == NULL ? 0 : strlen(chosen);

    return chosen == NULL || (strncmp(name, chosen, len) == 0 && name[len] == '.');
}

static enum wr_err add_directory(struct wr_file_list *list, const char *path,
                                 const struct wr_file_choice *choice, struct wr_diag *diag);

enum directory_kind {
    NO_DIRECTORY,
    DIRECTORY,
    LINK_TO_DIRECTORY,
};

static enum directory_kind directory_kind_of(const char *path)
{
    struct stat itself, target;

    if (lstat(path, &itself) != 0 || stat(path, &target) != 0 || !S_ISDIR(target.st_mode)) {
        return NO_DIRECTORY;
    }
    return S_ISDIR(itself.st_mode) ? DIRECTORY : LINK_TO_DIRECTORY;
}

static bool is_left_out(enum directory_kind kind, const struct wr_file_choice *choice)
{
    return kind == LINK_TO_DIRECTORY || (kind == DIRECTORY && !choice->is_recursive);
}

bool wr_file_is_left_out_directory(const char *path, const struct wr_file_choice *choice)
{
    return is_left_out(directory_kind_of(path), choice);
}

/* Takes over `path`, of an entry of a directory. */
static enum wr_err add_entry(struct wr_file_list *list, char *path,
                             const struct wr_file_choice *choice, struct wr_diag *diag)
{
    const enum directory_kind kind = directory_kind_of(path);

    if (is_left_out(kind, choice)) {
        add_note(diag, WR_SEVERITY_WARNING, path, NULL,
                 kind == DIRECTORY ? "left out: it is a directory"
                                   : "left out: it is a link to a directory");
        free(path);
        return WR_OK;
    }
    if (kind == DIRECTORY) {
        const struct wr_file_choice below = {.any_name = choice->any_name, .is_recursive = true};
        const enum wr_err err = add_directory(list, path, &below, diag);

        free(path);
        /* Noted, and no reason to give up what is beside it. */
        return err == WR_ERR_IO ? WR_OK : err;
    }
    if (!choice->any_name && !is_rule_name(path)) {
        add_note(diag, WR_SEVERITY_WARNING, path, NULL, "left out: only *.yaml and *.yml are read");
        free(path);
        return WR_OK;
    }
    return push(list, path) ? WR_OK : WR_ERR_NO_MEMORY;
}

static enum wr_err add_entries(struct wr_file_list *list, const char *path, DIR *directory,
                               const struct wr_file_choice *choice, struct wr_diag *diag)
{
    enum wr_err err = WR_OK;

    while (err == WR_OK) {
        errno = 0;

        const struct dirent *const entry = readdir(directory);

        if (entry == NULL) {
            if (errno != 0) {
                add_errno_note(diag, path, errno);
                err = WR_ERR_IO;
            }
            break;
        }
        if (entry->d_name[0] == '.' || !is_chosen(entry->d_name, choice->name)) {
            continue;
        }

        char *const name = join(path, entry->d_name);

        err = name == NULL ? WR_ERR_NO_MEMORY : add_entry(list, name, choice, diag);
    }
    return err;
}

/* Recursion is as deep as directories are nested, which the length of a path bounds. */
static enum wr_err add_directory(struct wr_file_list *list, const char *path,
                                 const struct wr_file_choice *choice, struct wr_diag *diag)
{
    DIR *const directory = opendir(path);

    if (directory == NULL) {
        add_errno_note(diag, path, errno);
        return WR_ERR_IO;
    }

    const enum wr_err err = add_entries(list, path, directory, choice, diag);

    (void) closedir(directory);
    return err;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The directory that is called as `choice->name` says, also behind a symbolic link; `*out_found`
 * tells whether there is one. */
static enum wr_err add_named(struct wr_file_list *list, const char *path,
                             const struct wr_file_choice *choice, struct wr_diag *diag,
                             bool *out_found)
{
    const struct wr_file_choice all = {.any_name = choice->any_name,
                                       .is_recursive = choice->is_recursive};
    char *const named = join(path, choice->name);
    struct stat status;
    enum wr_err err = WR_OK;

    if (named == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *out_found = stat(named, &status) == 0 && S_ISDIR(status.st_mode);
    if (*out_found) {
        err = add_directory(list, named, &all, diag);
    }
    free(named);
    return err;
}

static enum wr_err add_chosen(struct wr_file_list *list, const char *path,
                              const struct wr_file_choice *choice, struct wr_diag *diag)
{
    const size_t first = list->n;
    bool is_found = false;
    enum wr_err err = add_named(list, path, choice, diag, &is_found);

    if (err == WR_OK) {
        err = add_directory(list, path, choice, diag);
    }
    if (err == WR_OK && !is_found && list->n == first) {
        wr_diag_add(diag, WR_SEVERITY_ERROR, (struct wr_place){.file = wr_str_of(path)},
                    (struct wr_str){0}, NULL, "there is neither %s nor %s.* in it", choice->name,
                    choice->name);
        err = WR_ERR_NOT_FOUND;
    }
    return err;
}

enum wr_err wr_file_list_add(struct wr_file_list *list, const char *path,
                             const struct wr_file_choice *choice, struct wr_diag *diag)
{
    const size_t first = list->n;
    struct stat status;

    if (choice->has_stdin && strcmp(path, WR_STDIN_PATH) == 0) {
        char *const copy = strdup(path);

        return copy != NULL && push(list, copy) ? WR_OK : WR_ERR_NO_MEMORY;
    }
    if (stat(path, &status) != 0) {
        const int error = errno;

        add_errno_note(diag, path, error);
        return error == ENOENT || error == ENOTDIR ? WR_ERR_NOT_FOUND : WR_ERR_IO;
    }
    if (!S_ISDIR(status.st_mode)) {
        char *const copy = strdup(path);

        return copy != NULL && push(list, copy) ? WR_OK : WR_ERR_NO_MEMORY;
    }

    const enum wr_err err = choice->name == NULL ? add_directory(list, path, choice, diag)
                                                 : add_chosen(list, path, choice, diag);

    if (list->n > first) {
        qsort(list->paths + first, list->n - first, sizeof *list->paths, compare_paths);
    }
    return err;
}

void wr_file_list_fini(struct wr_file_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
    *list = (struct wr_file_list){0};
}

/* Opens a regular file. Anything else is not even opened where that could wait or do something;
 * what is swapped in between is found out behind. Returns -1 with errno, or with 0 for no file. */
static int open_regular(const char *path, struct wr_file_text *text)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return -1;
    }
    errno = 0;
    if (!S_ISREG(status.st_mode)) {
        return -1;
    }

    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        (void) close(fd);
        errno = 0;
        return -1;
    }
    text->device = (uint64_t) status.st_dev;
    text->inode = (uint64_t) status.st_ino;
    text->is_moved = status.st_ctim.tv_sec != status.st_mtim.tv_sec
                         ? status.st_ctim.tv_sec > status.st_mtim.tv_sec
                         : status.st_ctim.tv_nsec > status.st_mtim.tv_nsec;
    return fd;
}

/* Makes room for `more` bytes behind what is there, up to `max_len` in all. */
static bool grow(struct wr_file_text *text, size_t *size, size_t max_len)
{
    size_t wish = *size == 0 ? FIRST_READ_SIZE : 2 * *size;

    if (*size > max_len / 2 || wish > max_len) {
        wish = max_len;
    }

    char *const bytes = realloc(text->bytes, wish);

    if (bytes == NULL) {
        return false;
    }
    text->bytes = bytes;
    *size = wish;
    return true;
}

/* Waits as a read does that may wait; false with errno. */
static bool await_bytes(int fd)
{
    struct pollfd wish = {.fd = fd, .events = POLLIN};

    return poll(&wish, 1, -1) >= 0 || errno == EINTR;
}

/* Reads to the end or up to `max_len`; false with errno. */
static bool read_all(int fd, size_t max_len, struct wr_file_text *text)
{
    size_t size = 0;

    while (text->len < max_len) {
        if (text->len == size && !grow(text, &size, max_len)) {
            errno = ENOMEM;
            return false;
        }

        const ssize_t n = read(fd, text->bytes + text->len, size - text->len);

        if (n == 0) {
            return true;
        }
        if (n > 0) {
            text->len += (size_t) n;
        } else if (errno != EINTR && (errno != EAGAIN || !await_bytes(fd))) {
            return false;
        }
    }
    return true;
}

/* Reads one byte more than `max_len` at most; false after a note, and nothing is left to be freed.
 */
static bool read_text(int fd, const char *path, size_t max_len, struct wr_diag *diag,
                      struct wr_file_text *text)
{
    const bool is_read = read_all(fd, max_len == SIZE_MAX ? max_len : max_len + 1, text);

    if (!is_read) {
        add_errno_note(diag, path, errno);
        wr_file_text_fini(text);
    }
    return is_read;
}

bool wr_file_text_read(const char *path, size_t max_len, struct wr_diag *diag,
                       struct wr_file_text *out_text)
{
    static const struct wr_str devices = WR_STR("/dev/");
    struct wr_file_text text = {0};
    const int fd = open_regular(path, &text);

    if (fd < 0) {
        if (errno == 0) {
            add_note(diag, WR_SEVERITY_ERROR, path, NULL,
                     wr_str_has_prefix(wr_str_of(path), devices)
                         ? "is not a regular file; `weir check -` reads standard input"
                         : "is not a regular file");
        } else {
            add_errno_note(diag, path, errno);
        }
        return false;
    }

    const bool is_read = read_text(fd, path, max_len, diag, &text);

    (void) close(fd);
    if (is_read) {
        *out_text = text;
    }
    return is_read;
}

/* Where standard input was closed its number may be a descriptor of the process itself, of which
 * most are none of these. */
static bool is_input(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) ||
                                       S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool wr_file_text_read_stdin(size_t max_len, struct wr_diag *diag, struct wr_file_text *out_text)
{
    struct wr_file_text text = {0};

    if (!is_input(STDIN_FILENO)) {
        add_note(diag, WR_SEVERITY_ERROR, WR_STDIN_PATH, "give it a file or a pipe",
                 "standard input is closed, or nothing to read from");
        return false;
    }
    if (!read_text(STDIN_FILENO, WR_STDIN_PATH, max_len, diag, &text)) {
        return false;
    }
    *out_text = text;
    return true;
}

void wr_file_text_fini(struct wr_file_text *text)
{
    free(text->bytes);
    *text = (struct wr_file_text){0};
}
