/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes about a configuration as log lines.
 *
 * Threads: any thread, with a list of its own.
 */
#ifndef WR_LOG_NOTES_H
#define WR_LOG_NOTES_H

#include "base/diag.h"

/* One line a note, errors and warnings at their levels. */
void wr_log_notes(const struct wr_diag *diag);

#endif
