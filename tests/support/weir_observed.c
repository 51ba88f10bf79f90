/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `weir` in a world that tests make: the time of day that it reads is off by
 * CLOCK_OFFSET_S seconds; every host name has the address that is the content of the file
 * NAMES_FILE, none when that is not there. When it ends it says on stderr what it has counted, a
 * line `counted NAME N` each.
 */
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

#include "app.h"
#include "metrics/metrics.h"
#include "program.h"
#include "store/backend.h"

/* Linked in place of those without the prefix, by --wrap. */
int __real_clock_gettime(clockid_t id, struct timespec *out_time);
int __wrap_clock_gettime(clockid_t id, struct timespec *out_time);
int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);

int __wrap_clock_gettime(clockid_t id, struct timespec *out_time)
{
    const char *const offset_s = getenv("CLOCK_OFFSET_S");
    const int result = __real_clock_gettime(id, out_time);

    if (id == CLOCK_REALTIME && offset_s != NULL) {
        out_time->tv_sec += strtol(offset_s, NULL, 10);
    }
    return result;
}

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found)
{
    const char *const names = getenv("NAMES_FILE");
    char address[64] = "";

    if (names == NULL) {
        return __real_getaddrinfo(host, service, hints, out_found);
    }

    FILE *const file = fopen(names, "r");
    const size_t n = file == NULL ? 0 : fread(address, 1, sizeof address - 1, file);

    if (file != NULL) {
        (void) fclose(file);
    }
    return n == 0 ? EAI_NONAME : __real_getaddrinfo(address, service, hints, out_found);
}

struct observed {
    struct wr_backend backend;
    struct wr_backend *inner;   /* owned */
    struct wr_metrics *metrics; /* borrowed */
};

static void observed_take(struct wr_backend *backend, struct wr_batch *batch)
{
    wr_backend_take(((struct observed *) backend)->inner, batch);
}

/* The last that the server does with its store; nobody counts any more. */
static void observed_destroy(struct wr_backend *backend)
{
    struct observed *const observed = (struct observed *) backend;

    wr_backend_destroy(observed->inner);
    for (int metric = 0; metric < WR_METRICS_COUNT; metric++) {
        fprintf(stderr, "counted %s %" PRIu64 "\n", wr_metric_name((enum wr_metric) metric),
                wr_metrics_sum(observed->metrics, (enum wr_metric) metric));
    }
    free(observed);
}

static const struct wr_backend_ops observed_ops = {
    .take = observed_take,
    .destroy = observed_destroy,
};

static int new_backend(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    struct observed *const observed = calloc(1, sizeof *observed);

    if (observed == NULL) {
        return EX_OSERR;
    }
    observed->backend.ops = &observed_ops;
    observed->metrics = frame->metrics;

    const int code = wr_store_choose(frame, &observed->inner);

    if (code != EX_OK) {
        free(observed);
        return code;
    }
    *out_backend = &observed->backend;
    return EX_OK;
}

int main(int argc, char **argv)
{
    return wr_program(argc, argv, new_backend);
}
