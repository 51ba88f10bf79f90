/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a channel to the control plane is secured with: nothing, or TLS with certificates out of
 * files, which are read anew for each channel, since they are replaced while the server runs.
 *
 * Threads: any thread, no state; reading may block on the file system.
 */
#ifndef WR_XDS_CREDENTIALS_H
#define WR_XDS_CREDENTIALS_H

#include <stdbool.h>

#include "base/diag.h"

struct grpc_channel_credentials;

/* Paths are NUL-terminated and borrowed; empty: none. */
struct wr_xds_tls {
    bool is_on;
    const char *ca;          /* who may vouch for the control plane; none: the system's */
    const char *cert;        /* to show to it */
    const char *key;         /* of `cert` */
    const char *server_name; /* whom its certificate has to be for; none: the host of the target */
};

/* NULL when a file cannot be read, or memory is out; which is noted. Released by the caller, by
 * grpc_channel_credentials_release. */
struct grpc_channel_credentials *wr_xds_credentials_new(const struct wr_xds_tls *tls,
                                                        struct wr_diag *diag);

#endif
