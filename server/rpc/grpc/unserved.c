/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/unserved.h"

#include <stdio.h>

#include "rpc/grpc/slot.h"

/* A longer path is cut. */
#define PATH_MAX_SHOWN 200

/* The path that was asked for, with a '?' for each byte that is no printable ASCII. */
static struct wr_str shown_path(struct wr_call *call, char *text)
{
    const grpc_slice *const path = &((struct wr_grpc_slot *) call)->details.method;
    const char *const bytes = (const char *) GRPC_SLICE_START_PTR(*path);
    size_t len = GRPC_SLICE_LENGTH(*path);

    len = len < PATH_MAX_SHOWN ? len : PATH_MAX_SHOWN;
    for (size_t i = 0; i < len; i++) {
        text[i] = bytes[i] > ' ' && bytes[i] <= '~' ? bytes[i] : '?';
    }
    return (struct wr_str){.ptr = text, .len = len};
}

static void refuse(void *context, struct wr_call *call, struct wr_str message)
{
    char path[PATH_MAX_SHOWN], text[PATH_MAX_SHOWN + 100];
    const struct wr_str shown = shown_path(call, path);
    const int len = snprintf(text, sizeof text,
                             "this server does not serve %.*s; server reflection lists what it "
                             "serves",
                             (int) shown.len, shown.ptr);

    (void) context;
    (void) message;
    wr_metrics_add(call->metrics, WR_METRIC_CALLS_UNIMPLEMENTED, 1);
    call->ops->finish(call, WR_STATUS_UNIMPLEMENTED, (struct wr_str){text, (size_t) len},
                      (struct wr_str){0});
}

const struct wr_method wr_grpc_unserved = {
    .path = "",
    .kind = WR_METHOD_UNARY,
    .on_message = refuse,
};
