/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/stress/crew.h"

double wr_bench_ns(clockid_t id)
{
    struct timespec t = {0};

    (void) clock_gettime(id, &t);
    return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

double wr_bench_resident_bytes(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    uint64_t pages = 0;

    wr_check(file != NULL && fscanf(file, "%*s %" SCNu64, &pages) == 1, "no /proc/self/statm");
    (void) fclose(file);
    return (double) pages * (double) sysconf(_SC_PAGESIZE);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

double wr_bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

void wr_bench_report(double value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vprintf(format, args);
    va_end(args);
    (void) printf(" %.6g\n", value);
}
