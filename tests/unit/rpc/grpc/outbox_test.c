/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/outbox.h"

#include <criterion/criterion.h>
#include <grpc/byte_buffer.h>

#include "rpc/grpc/payload.h"

static grpc_byte_buffer *message(size_t len)
{
    static const char bytes[WR_GRPC_OUTBOX_MAX + 1];

    return wr_grpc_payload_new((struct wr_str){.ptr = bytes, .len = len});
}

Test(outbox, gives_messages_in_the_order_of_their_coming)
{
    struct wr_grpc_outbox outbox = {0};

    cr_assert_null(wr_grpc_outbox_get(&outbox));
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 3; i++) {
            grpc_byte_buffer *buffer = message(i);

            cr_assert(wr_grpc_outbox_put(&outbox, &buffer));
            cr_assert_null(buffer);
        }
        for (size_t i = 0; i < 3; i++) {
            grpc_byte_buffer *const buffer = wr_grpc_outbox_get(&outbox);

            cr_assert_eq(grpc_byte_buffer_length(buffer), i);
            grpc_byte_buffer_destroy(buffer);
        }
        cr_assert_null(wr_grpc_outbox_get(&outbox));
    }
}

Test(outbox, takes_no_more_than_its_bound)
{
    struct wr_grpc_outbox outbox = {0};
    grpc_byte_buffer *extra = message(1);

    for (size_t i = 0; i < WR_GRPC_OUTBOX_MAX; i++) {
        grpc_byte_buffer *buffer = message(i);

        cr_assert(wr_grpc_outbox_put(&outbox, &buffer));
    }
    cr_assert_not(wr_grpc_outbox_put(&outbox, &extra));
    cr_assert_not_null(extra, "still the caller's");
    wr_grpc_outbox_clear(&outbox);
    cr_assert_eq(outbox.n, 0);
    cr_assert(wr_grpc_outbox_put(&outbox, &extra));
    wr_grpc_outbox_clear(&outbox);
}
