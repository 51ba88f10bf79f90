/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells that something may have happened to rule files, so that they are looked at at once and not
 * at the next poll. It watches the directories they are in and those on the way there, so that a
 * directory that appears late, or is replaced, or a link that is turned is noticed too. It may miss
 * things, and report others twice: an event means "look", and no more.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_WATCH_H
#define WR_RULES_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct wr_watch;

/* WR_ERR_SYSTEM when the system grants no watch, WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_watch_new(struct wr_watch **out_watch);

void wr_watch_destroy(struct wr_watch *watch);

/* Readable when there is something to drain. */
int wr_watch_fd(const struct wr_watch *watch);

/*
 * Watching begins anew: between begin and end the directories are named, those that are not named
 * again are let go. What does not exist is left out. `add_way` names a path and watches for changes
 * of what it leads to; `add_directory` for changes in a directory.
 */
void wr_watch_begin(struct wr_watch *watch);
void wr_watch_add_way(struct wr_watch *watch, const char *path);
void wr_watch_add_directory(struct wr_watch *watch, const char *path);

/* True when a directory is watched now that was not before: what happened in it until now may have
 * been missed. */
bool wr_watch_end(struct wr_watch *watch);

/* True when the system granted less than was asked for since begin. */
bool wr_watch_is_partial(const struct wr_watch *watch);

/* Reads all events and notes which files came how; true when one of them is about what is watched.
 */
bool wr_watch_drain(struct wr_watch *watch);

/*
 * A look at the files begins. What is known of how files came reaches back to the begin of the look
 * before, so that it covers all since a file was read then.
 */
void wr_watch_begin_look(struct wr_watch *watch);

/*
 * True when the file at `path` was renamed to there in that time, and was neither made nor written
 * there: what was read from it before the last drain came whole. May be false though that is so.
 */
bool wr_watch_has_moved_in(const struct wr_watch *watch, const char *path);

#endif
