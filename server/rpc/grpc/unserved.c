/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/unserved.h"

static void refuse(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    (void) message;
    wr_metrics_add(call->metrics, WR_METRIC_CALLS_UNIMPLEMENTED, 1);
    call->ops->finish(call, WR_STATUS_UNIMPLEMENTED,
                      (struct wr_str) WR_STR("this server does not serve that method; server "
                                             "reflection lists those that it serves"),
                      (struct wr_str){0});
}

const struct wr_method wr_grpc_unserved = {
    .path = "",
    .kind = WR_METHOD_UNARY,
    .on_message = refuse,
};
