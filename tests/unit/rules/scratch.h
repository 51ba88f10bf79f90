/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that a test fills with files, and that goes away with all in it.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_RULES_SCRATCH_H
#define WR_TESTS_UNIT_RULES_SCRATCH_H

#define SCRATCH_PATH_MAX 256

struct scratch {
    char path[64];
};

void scratch_init(struct scratch *scratch);

void scratch_fini(struct scratch *scratch);

/* The path of `name` in it, into `path`. */
const char *scratch_path(const struct scratch *scratch, const char *name,
                         char path[SCRATCH_PATH_MAX]);

/* Writes in place. */
void scratch_write(const struct scratch *scratch, const char *name, const char *text);

/* Sets the date of its text back. */
void scratch_age(const struct scratch *scratch, const char *name);

/* The same by a file that is renamed into place a while after it was written. */
void scratch_replace(const struct scratch *scratch, const char *name, const char *text);

void scratch_append(const struct scratch *scratch, const char *name, const char *text);

/* Removes a file or link, or a directory with all in it. */
void scratch_remove(const struct scratch *scratch, const char *name);

void scratch_rename(const struct scratch *scratch, const char *from, const char *to);

void scratch_make_directory(const struct scratch *scratch, const char *name);

/* `target` as the link has it. */
void scratch_link(const struct scratch *scratch, const char *name, const char *target);

void scratch_make_fifo(const struct scratch *scratch, const char *name);

#endif
