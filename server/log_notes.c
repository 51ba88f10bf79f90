/* SPDX-License-Identifier: Apache-2.0 */
#include "log_notes.h"

#include "base/log.h"

void wr_log_notes(const struct wr_diag *diag)
{
    char line[2048];

    for (const struct wr_note *note = diag->first; note != NULL; note = note->next) {
        wr_note_format(note, line, sizeof line);
        wr_log(note->severity == WR_SEVERITY_ERROR ? WR_LOG_ERROR : WR_LOG_WARN, "%s", line);
    }
}
