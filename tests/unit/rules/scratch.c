/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/rules/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void scratch_init(struct scratch *scratch)
{
    (void) snprintf(scratch->path, sizeof scratch->path, "/tmp/weir_rules_XXXXXX");
    cr_assert_not_null(mkdtemp(scratch->path));
}

static void remove_all(const char *path)
{
    DIR *const directory = opendir(path);

    cr_assert_not_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[2 * SCRATCH_PATH_MAX];
        struct stat status;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        (void) snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        cr_assert_eq(lstat(name, &status), 0);
        if (S_ISDIR(status.st_mode)) {
            remove_all(name);
        } else {
            cr_assert_eq(unlink(name), 0);
        }
    }
    (void) closedir(directory);
    cr_assert_eq(rmdir(path), 0);
}

void scratch_fini(struct scratch *scratch)
{
    remove_all(scratch->path);
}

const char *scratch_path(const struct scratch *scratch, const char *name,
                         char path[SCRATCH_PATH_MAX])
{
    (void) snprintf(path, SCRATCH_PATH_MAX, "%s/%s", scratch->path, name);
    return path;
}

static void write_file(const struct scratch *scratch, const char *name, const char *mode,
                       const char *text)
{
    char path[SCRATCH_PATH_MAX];
    FILE *const out = fopen(scratch_path(scratch, name, path), mode);

    cr_assert_not_null(out, "%s", path);
    cr_assert_geq(fputs(text, out), 0);
    cr_assert_eq(fclose(out), 0);
}

void scratch_write(const struct scratch *scratch, const char *name, const char *text)
{
    write_file(scratch, name, "w", text);
}

void scratch_append(const struct scratch *scratch, const char *name, const char *text)
{
    write_file(scratch, name, "a", text);
}

void scratch_age(const struct scratch *scratch, const char *name)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    char path[SCRATCH_PATH_MAX];

    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(scratch, name, path), times, 0), 0);
}

void scratch_replace(const struct scratch *scratch, const char *name, const char *text)
{
    write_file(scratch, ".new", "w", text);
    scratch_age(scratch, ".new");
    scratch_rename(scratch, ".new", name);
}

void scratch_rename(const struct scratch *scratch, const char *from, const char *to)
{
    char old[SCRATCH_PATH_MAX], new[SCRATCH_PATH_MAX];

    cr_assert_eq(rename(scratch_path(scratch, from, old), scratch_path(scratch, to, new)), 0);
}

void scratch_remove(const struct scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH_MAX];
    struct stat status;

    cr_assert_eq(lstat(scratch_path(scratch, name, path), &status), 0, "%s", path);
    if (S_ISDIR(status.st_mode)) {
        remove_all(path);
    } else {
        cr_assert_eq(unlink(path), 0);
    }
}

void scratch_make_directory(const struct scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH_MAX];

    cr_assert_eq(mkdir(scratch_path(scratch, name, path), 0700), 0);
}

void scratch_link(const struct scratch *scratch, const char *name, const char *target)
{
    char path[SCRATCH_PATH_MAX];

    cr_assert_eq(symlink(target, scratch_path(scratch, name, path)), 0);
}

void scratch_make_fifo(const struct scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH_MAX];

    cr_assert_eq(mkfifo(scratch_path(scratch, name, path), 0600), 0);
}
