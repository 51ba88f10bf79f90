/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes about a configuration as log lines.
 *
 * Threads: any thread, with a list of its own.
 */
#ifndef WR_BASE_LOG_NOTES_H
#define WR_BASE_LOG_NOTES_H

#include "base/diag.h"

/* One line a note, errors and warnings at their levels. When there are more than were kept, one
 * says so, and `rest` what to do about them: NULL is nothing. */
void wr_log_notes(const struct wr_diag *diag, const char *rest);

/* The same without those that are in `told` too. */
void wr_log_new_notes(const struct wr_diag *diag, const struct wr_diag *told, const char *rest);

#endif
