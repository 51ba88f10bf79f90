/* SPDX-License-Identifier: Apache-2.0 */
#include "listeners.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_notes.h"
#include "port_file.h"
#include "rpc/listen.h"

#define MAX_NOTES 100

static int exit_code_of(enum wr_err err)
{
    switch (err) {
    case WR_ERR_INVALID:
        return EX_USAGE;
    case WR_ERR_EXISTS:
        return EX_UNAVAILABLE;
    case WR_OK:
    case WR_ERR_NO_MEMORY:
    case WR_ERR_MALFORMED:
    case WR_ERR_TOO_LARGE:
    case WR_ERR_NOT_FOUND:
    case WR_ERR_IO:
    case WR_ERR_SYSTEM:
    default:
        return EX_OSERR;
    }
}

/* What --grpc-listen says, else the incumbent's GRPC_UDS, else its GRPC_HOST and GRPC_PORT
 * together.
 */
static size_t addresses_of(const struct wr_options *options, char *joined, size_t size,
                           struct wr_str out_addresses[WR_OPTION_LIST_MAX])
{
    if (options->grpc_listen.n == 0) {
        if (*options->grpc_uds != '\0') {
            (void) snprintf(joined, size, "unix:%s", options->grpc_uds);
        } else {
            (void) snprintf(joined, size, "%s:%" PRIu64, options->grpc_host, options->grpc_port);
        }
        out_addresses[0] = wr_str_of(joined);
        return 1;
    }
    for (size_t i = 0; i < options->grpc_listen.n; i++) {
        out_addresses[i] = wr_str_of(options->grpc_listen.items[i]);
    }
    return options->grpc_listen.n;
}

/* An old file tells where nobody serves any more: it goes once the sockets are ours. */
static void forget_port_file(const struct wr_options *options)
{
    struct stat old;

    if (stat(options->port_file, &old) == 0 && S_ISREG(old.st_mode)) {
        (void) unlink(options->port_file);
    }
}

int wr_listeners_open(const struct wr_options *options, struct wr_listen **out_listen)
{
    struct wr_str addresses[WR_OPTION_LIST_MAX];
    char joined[512];
    struct wr_diag diag;
    const struct wr_listen_options listen = {
        .addresses = addresses,
        .n_addresses = addresses_of(options, joined, sizeof joined, addresses),
        .option = options->grpc_listen.n == 0 ? "--grpc-listen (GRPC_UDS, GRPC_HOST, GRPC_PORT)"
                                              : "--grpc-listen",
        .unix_mode = (unsigned) options->unix_socket_mode,
    };

    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err err = wr_listen_open(&listen, &diag, out_listen);

    wr_log_notes(&diag, NULL);
    wr_diag_fini(&diag);
    if (err != WR_OK) {
        return exit_code_of(err);
    }
    forget_port_file(options);
    return EX_OK;
}

int wr_listeners_announce(const struct wr_options *options, const struct wr_listen *listen)
{
    struct wr_port_line lines[WR_OPTION_LIST_MAX];
    char texts[WR_OPTION_LIST_MAX][WR_ADDRESS_TEXT_SIZE];
    const char *const path = options->port_file;
    const size_t n = wr_listen_count(listen);

    for (size_t i = 0; i < n; i++) {
        wr_address_format(wr_listen_address(listen, i), texts[i]);
        lines[i] = (struct wr_port_line){.name = "grpc", .address = texts[i]};
        wr_log(WR_LOG_INFO, "serving gRPC on %s", texts[i]);
    }
    if (*path != '\0' && wr_port_file_write(path, lines, n) != WR_OK) {
        wr_log(WR_LOG_ERROR, "--port-file: %s cannot be written: %s", path, strerror(errno));
        return EX_CANTCREAT;
    }
    return EX_OK;
}
