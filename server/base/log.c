/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/shown.h"

#define LINE_SIZE 2048

static atomic_int log_level = WR_LOG_INFO;

void wr_log_set_level(enum wr_log_level level)
{
    atomic_store_explicit(&log_level, (int) level, memory_order_relaxed);
}

bool wr_log_is_on(enum wr_log_level level)
{
    return (int) level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

static size_t write_head(char *line, size_t size, enum wr_log_level level)
{
    static const char *const names[] = {
#define WR_LOG_NAME(name, text) [name] = (text),
        WR_LOG_TABLE(WR_LOG_NAME)
#undef WR_LOG_NAME
    };
    struct timespec now = {0};
    struct tm utc = {0};

    (void) clock_gettime(CLOCK_REALTIME, &now);
    (void) gmtime_r(&now.tv_sec, &utc);

    const size_t n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    const int rest =
        snprintf(line + n, size - n, ".%03ldZ %s: ", now.tv_nsec / 1000000, names[level]);

    return n + (rest > 0 ? (size_t) rest : 0);
}

void wr_log(enum wr_log_level level, const char *format, ...)
{
    if (!wr_log_is_on(level)) {
        return;
    }

    char line[LINE_SIZE];
    const size_t head = write_head(line, sizeof line, level);
    va_list args;

    va_start(args, format);

    const int body = vsnprintf(line + head, sizeof line - head, format, args);

    va_end(args);

    const size_t wish = body > 0 ? (size_t) body : 0, room = sizeof line - 1 - head;
    const struct wr_str written = {.ptr = line + head, .len = wish < room ? wish : room};
    const size_t len = head + wr_shown_write(written, line + head, room);

    line[len] = '\n';
    for (size_t done = 0; done < len + 1;) {
        const ssize_t n = write(STDERR_FILENO, line + done, len + 1 - done);

        if (n <= 0) {
            return;
        }
        done += (size_t) n;
    }
}

bool wr_log_limit_pass(struct wr_log_limit *limit, int64_t mono_us, uint64_t *out_skipped)
{
    const int64_t second = mono_us / 1000000 + 1;
    int64_t last = atomic_load_explicit(&limit->second, memory_order_relaxed);

    if (last >= second ||
        !atomic_compare_exchange_strong_explicit(&limit->second, &last, second,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&limit->skipped, 1, memory_order_relaxed);
        return false;
    }
    *out_skipped = atomic_exchange_explicit(&limit->skipped, 0, memory_order_relaxed);
    return true;
}
