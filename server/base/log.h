/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines to stderr, one event a line: time, level, text. What clients send never goes into a
 * line raw; a line that clients can cause goes through a wr_log_limit.
 *
 * The level is one of the three permitted globals.
 * Threads: any thread; each line is one write.
 */
#ifndef WR_BASE_LOG_H
#define WR_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WR_LOG_TABLE(X)                                                                            \
    X(WR_LOG_ERROR, "error")                                                                       \
    X(WR_LOG_WARN, "warning")                                                                      \
    X(WR_LOG_INFO, "info")                                                                         \
    X(WR_LOG_DEBUG, "debug")

enum wr_log_level {
#define WR_LOG_ENUM(name, text) name,
    WR_LOG_TABLE(WR_LOG_ENUM)
#undef WR_LOG_ENUM
};

void wr_log_set_level(enum wr_log_level level);

bool wr_log_is_on(enum wr_log_level level);

/* `format` is printf's; a longer line than 2 KiB is cut, foreign texts are shown as base/shown.h
 * does. */
void wr_log(enum wr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line a second and place in the code, with the number of those left out before it. */
struct wr_log_limit {
    _Atomic int64_t second;   /* of the last line, monotonic */
    _Atomic uint64_t skipped; /* since the last line */
};

/* True when a line may be written now; `out_skipped` holds how many were not since the last. Calls
 * that read the clock before others may come after them: they never reopen a second. */
bool wr_log_limit_pass(struct wr_log_limit *limit, int64_t mono_us, uint64_t *out_skipped);

#endif
