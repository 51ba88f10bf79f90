/* SPDX-License-Identifier: Apache-2.0 */
#include "service/failure.h"

enum wr_err wr_fail_no_memory(struct wr_failure *out_failure)
{
    *out_failure = (struct wr_failure){
        .status = WR_STATUS_RESOURCE_EXHAUSTED,
        .message = WR_STR("the server has no memory left for this call"),
    };
    return WR_ERR_NO_MEMORY;
}
