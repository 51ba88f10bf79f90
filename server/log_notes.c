/* SPDX-License-Identifier: Apache-2.0 */
#include "log_notes.h"

#include "base/log.h"

void wr_log_notes(const struct wr_diag *diag)
{
    char line[2048];

    for (const struct wr_note *note = diag->first; note != NULL; note = note->next) {
        wr_note_format_plain(note, line, sizeof line);
        wr_log(note->severity == WR_SEVERITY_ERROR ? WR_LOG_ERROR : WR_LOG_WARN, "%s", line);
    }
    if (diag->n_errors + diag->n_warnings > diag->n_kept) {
        wr_log(WR_LOG_WARN, "%zu more notes are not shown; `weir check` shows more",
               diag->n_errors + diag->n_warnings - diag->n_kept);
    }
}
