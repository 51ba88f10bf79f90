/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/grpc_log.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <grpc/support/log.h>

#include "base/clock.h"
#include "base/log.h"

/* By severity: chatter must not hide an error. */
static struct wr_log_limit limits[GPR_LOG_SEVERITY_ERROR + 1];

static const char *severity_of(const gpr_log_func_args *args)
{
    switch (args->severity) {
    case GPR_LOG_SEVERITY_ERROR:
        return "error";
    case GPR_LOG_SEVERITY_INFO:
        return "info";
    case GPR_LOG_SEVERITY_DEBUG:
    default:
        return "debug";
    }
}

static void write_line(gpr_log_func_args *args)
{
    const char *const slash = strrchr(args->file, '/');
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&limits[args->severity], wr_clock_mono_us(), &skipped)) {
        const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;

        wr_log(is_error ? WR_LOG_WARN : WR_LOG_DEBUG,
               "gRPC C core noted something at %s:%d, severity %s%s (%" PRIu64
               " more of its severity left out)",
               slash == NULL ? args->file : slash + 1, args->line, severity_of(args),
               is_error ? "; mostly it is a client that breaks HTTP/2, and no harm to others; the "
                          "text is left out, since it can hold what a client sent"
                        : "",
               skipped);
    }
}

void wr_grpc_log_install(void)
{
    gpr_set_log_function(write_line);
}
