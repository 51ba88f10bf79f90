/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/outbox.h"

#include <stdlib.h>

struct wr_grpc_outgoing {
    struct wr_grpc_outgoing *next;
    grpc_byte_buffer *buffer; /* owned */
};

bool wr_grpc_outbox_put(struct wr_grpc_outbox *outbox, grpc_byte_buffer **buffer)
{
    if (outbox->n >= WR_GRPC_OUTBOX_MAX) {
        return false;
    }

    struct wr_grpc_outgoing *const outgoing = malloc(sizeof *outgoing);

    if (outgoing == NULL) {
        return false;
    }
    *outgoing = (struct wr_grpc_outgoing){.buffer = *buffer};
    *buffer = NULL;
    if (outbox->last == NULL) {
        outbox->first = outgoing;
    } else {
        outbox->last->next = outgoing;
    }
    outbox->last = outgoing;
    outbox->n++;
    return true;
}

grpc_byte_buffer *wr_grpc_outbox_get(struct wr_grpc_outbox *outbox)
{
    struct wr_grpc_outgoing *const outgoing = outbox->first;

    if (outgoing == NULL) {
        return NULL;
    }

    grpc_byte_buffer *const buffer = outgoing->buffer;

    outbox->first = outgoing->next;
    if (outbox->first == NULL) {
        outbox->last = NULL;
    }
    outbox->n--;
    free(outgoing);
    return buffer;
}

void wr_grpc_outbox_clear(struct wr_grpc_outbox *outbox)
{
    for (;;) {
        grpc_byte_buffer *const buffer = wr_grpc_outbox_get(outbox);

        if (buffer == NULL) {
            return;
        }
        grpc_byte_buffer_destroy(buffer);
    }
}
