/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/check.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 1024
#define SHOWN_MAX 100

int wr_check_shown(struct wr_str text)
{
    return text.len > SHOWN_MAX ? SHOWN_MAX : (int) text.len;
}

void wr_check_error(struct wr_check *check, const struct wr_check_subject *subject,
                    const char *hint, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);
    subject->draft->is_refused = true;
    if (subject->draft->is_told) {
        return;
    }
    wr_diag_add(check->diag, WR_SEVERITY_ERROR, subject->place,
                wr_rule_path_note(subject->path, check->diag, WR_SEVERITY_ERROR), hint, "%s", text);
}

void wr_check_warn(struct wr_check *check, const struct wr_check_subject *subject, const char *hint,
                   const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);
    subject->draft->has_warning = subject->draft->has_warning || !check->is_between;
    wr_diag_add(check->diag, WR_SEVERITY_WARNING, subject->place,
                wr_rule_path_note(subject->path, check->diag, WR_SEVERITY_WARNING), hint, "%s",
                text);
}
