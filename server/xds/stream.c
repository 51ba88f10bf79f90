/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     open ── RECV: a response ──► the owner takes it ── wait ──► RECV …
 *       └──── STATUS: the end ───► closed once SEND and RECV have come back
 *
 * At most one batch of each of the three kinds is out at a time.
 */
#include "xds/stream.h"

#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#define METHOD "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"

/* Servers in Go take a client that pings more than once in 5 minutes for a nuisance. */
#define KEEPALIVE_MS 310000
#define KEEPALIVE_TIMEOUT_MS 20000
#define ARGS_MAX 9

enum batch {
    BATCH_SEND,
    BATCH_RECEIVE,
    BATCH_STATUS,
    N_BATCHES,
};

struct wr_xds_stream {
    grpc_channel *channel;        /* owned, as all below */
    grpc_completion_queue *queue; /* of this stream alone */
    grpc_call *call;
    grpc_metadata *headers; /* n_headers; while the first batch is out */
    size_t n_headers;
    bool is_out[N_BATCHES];                     /* their addresses are the tags */
    grpc_byte_buffer *sent, *unsent, *received; /* NULL: none */
    grpc_slice response;                        /* the last that was given out */
    grpc_metadata_array initial, trailing;
    grpc_status_code status;
    grpc_slice details;
    bool is_silent; /* no more messages come: the status is about to */
    bool is_ended;
};

static grpc_arg int_arg(const char *key, int value)
{
    /* C core takes the key as char *, and does not write to it; the text below likewise. */
    union {
        const char *in;
        char *out;
    } name = {.in = key};

    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = name.out, .value.integer = value};
}

static grpc_arg text_arg(const char *key, const char *value)
{
    union {
        const char *in;
        char *out;
    } name = {.in = key}, text = {.in = value};

    return (grpc_arg){.type = GRPC_ARG_STRING, .key = name.out, .value.string = text.out};
}

/* The web's proxy variables are not for this traffic, as for all others of this server. A call that
 * a connection has refused is not put on another: C core would do so again and again, at once. */
static grpc_channel *new_channel(const struct wr_xds_stream_options *options,
                                 grpc_channel_credentials *credentials)
{
    grpc_arg args[ARGS_MAX] = {
        int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int) options->max_message_bytes),
        int_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        int_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        int_arg(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        int_arg(GRPC_ARG_ENABLE_RETRIES, 0),
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS),
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS),
        int_arg(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
    };
    size_t n = ARGS_MAX - 1;

    if (options->tls.is_on && *options->tls.server_name != '\0') {
        args[n++] = text_arg(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, options->tls.server_name);
    }
    return grpc_channel_create(options->target, credentials,
                               &(grpc_channel_args){.num_args = n, .args = args});
}

static grpc_byte_buffer *new_buffer(struct wr_str bytes)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes.ptr, bytes.len);
    grpc_byte_buffer *const buffer = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return buffer;
}

/* True for those that gRPC sets itself. */
static bool is_reserved(struct wr_str name)
{
    static const struct wr_str prefix = WR_STR("grpc-");

    return wr_str_equal(name, (struct wr_str) WR_STR("te")) ||
           wr_str_equal(name, (struct wr_str) WR_STR("content-type")) ||
           (name.len >= prefix.len && memcmp(name.ptr, prefix.ptr, prefix.len) == 0);
}

bool wr_xds_header_is_legal(const struct wr_xds_header *header)
{
    const grpc_slice name = grpc_slice_from_static_buffer(header->name.ptr, header->name.len);
    const grpc_slice value = grpc_slice_from_static_buffer(header->value.ptr, header->value.len);

    return !is_reserved(header->name) && grpc_header_key_is_legal(name) != 0 &&
           grpc_is_binary_header(name) == 0 && grpc_header_nonbin_value_is_legal(value) != 0;
}

static bool fill_headers(struct wr_xds_stream *stream, const struct wr_xds_stream_options *options)
{
    stream->headers = calloc(options->n_headers + 1, sizeof *stream->headers);
    if (stream->headers == NULL) {
        return false;
    }
    for (; stream->n_headers < options->n_headers; stream->n_headers++) {
        const struct wr_xds_header *const header = &options->headers[stream->n_headers];

        stream->headers[stream->n_headers].key =
            grpc_slice_from_copied_buffer(header->name.ptr, header->name.len);
        stream->headers[stream->n_headers].value =
            grpc_slice_from_copied_buffer(header->value.ptr, header->value.len);
    }
    return true;
}

/* Starts the batch, whose tag is its flag. Without it the stream is over, which its status tells.
 */
static void start(struct wr_xds_stream *stream, enum batch batch, const grpc_op *ops, size_t n)
{
    stream->is_out[batch] =
        grpc_call_start_batch(stream->call, ops, n, &stream->is_out[batch], NULL) == GRPC_CALL_OK;
    if (!stream->is_out[batch]) {
        (void) grpc_call_cancel(stream->call, NULL);
    }
}

static void start_status(struct wr_xds_stream *stream)
{
    const grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                        .data.recv_status_on_client = {.trailing_metadata = &stream->trailing,
                                                       .status = &stream->status,
                                                       .status_details = &stream->details}};

    start(stream, BATCH_STATUS, &op, 1);
    stream->is_ended = !stream->is_out[BATCH_STATUS];
}

static void start_first_send(struct wr_xds_stream *stream, struct wr_str request)
{
    grpc_op ops[2] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA,
         .data.send_initial_metadata = {.count = stream->n_headers, .metadata = stream->headers}},
        {.op = GRPC_OP_SEND_MESSAGE},
    };

    stream->sent = new_buffer(request);
    ops[1].data.send_message.send_message = stream->sent;
    start(stream, BATCH_SEND, ops, 2);
}

static void start_send(struct wr_xds_stream *stream)
{
    grpc_op op = {.op = GRPC_OP_SEND_MESSAGE};

    stream->sent = stream->unsent;
    stream->unsent = NULL;
    op.data.send_message.send_message = stream->sent;
    start(stream, BATCH_SEND, &op, 1);
}

static void start_first_receive(struct wr_xds_stream *stream)
{
    const grpc_op ops[2] = {
        {.op = GRPC_OP_RECV_INITIAL_METADATA,
         .data.recv_initial_metadata.recv_initial_metadata = &stream->initial},
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &stream->received},
    };

    start(stream, BATCH_RECEIVE, ops, 2);
}

static void start_receive(struct wr_xds_stream *stream)
{
    const grpc_op op = {.op = GRPC_OP_RECV_MESSAGE,
                        .data.recv_message.recv_message = &stream->received};

    start(stream, BATCH_RECEIVE, &op, 1);
}

static void begin(struct wr_xds_stream *stream, struct wr_str request)
{
    stream->queue = grpc_completion_queue_create_for_next(NULL);
    stream->call = grpc_channel_create_call(stream->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
                                            stream->queue, grpc_slice_from_static_string(METHOD),
                                            NULL, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    grpc_metadata_array_init(&stream->initial);
    grpc_metadata_array_init(&stream->trailing);
    stream->status = GRPC_STATUS_UNKNOWN;
    stream->details = grpc_empty_slice();
    stream->response = grpc_empty_slice();
    start_status(stream);
    start_first_send(stream, request);
    start_first_receive(stream);
}

struct wr_xds_stream *wr_xds_stream_open(const struct wr_xds_stream_options *options,
                                         struct wr_str request, struct wr_diag *diag)
{
    grpc_channel_credentials *const credentials = wr_xds_credentials_new(&options->tls, diag);
    struct wr_xds_stream *stream;

    if (credentials == NULL) {
        return NULL;
    }
    stream = calloc(1, sizeof *stream);
    if (stream == NULL || !fill_headers(stream, options)) {
        wr_diag_add(diag, WR_SEVERITY_ERROR, (struct wr_place){0}, (struct wr_str){0}, NULL,
                    "out of memory");
        free(stream);
        grpc_channel_credentials_release(credentials);
        return NULL;
    }
    stream->channel = new_channel(options, credentials);
    grpc_channel_credentials_release(credentials);
    begin(stream, request);
    return stream;
}

/* Puts a message into one piece; false when it cannot be unpacked. */
static bool take_received(struct wr_xds_stream *stream, struct wr_str *out_response)
{
    grpc_byte_buffer_reader reader;
    const bool is_good = grpc_byte_buffer_reader_init(&reader, stream->received) != 0;

    if (is_good) {
        stream->response = grpc_byte_buffer_reader_readall(&reader);
        grpc_byte_buffer_reader_destroy(&reader);
        *out_response =
            (struct wr_str){.ptr = (const char *) GRPC_SLICE_START_PTR(stream->response),
                            .len = GRPC_SLICE_LENGTH(stream->response)};
    } else {
        (void) grpc_call_cancel(stream->call, NULL);
    }
    grpc_byte_buffer_destroy(stream->received);
    stream->received = NULL;
    return is_good;
}

static void free_sent(struct wr_xds_stream *stream)
{
    grpc_byte_buffer_destroy(stream->sent);
    stream->sent = NULL;
}

/* A batch has come back. */
static enum wr_xds_event on_batch(struct wr_xds_stream *stream, const grpc_event *event,
                                  struct wr_str *out_response)
{
    bool *const is_out = event->tag;

    *is_out = false;
    if (is_out == &stream->is_out[BATCH_STATUS]) {
        stream->is_ended = true;
        return WR_XDS_END;
    }
    if (is_out == &stream->is_out[BATCH_SEND]) {
        free_sent(stream);
        if (event->success != 0 && stream->unsent != NULL) {
            start_send(stream);
        }
        return WR_XDS_NOTHING;
    }
    stream->is_silent = stream->received == NULL || !take_received(stream, out_response);
    return stream->is_silent ? WR_XDS_NOTHING : WR_XDS_RESPONSE;
}

static gpr_timespec time_of(int64_t mono_us)
{
    return mono_us == INT64_MAX ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                                : gpr_time_from_micros(mono_us, GPR_CLOCK_MONOTONIC);
}

/* The last response has been looked at: its memory goes, and another may come. */
static void make_way(struct wr_xds_stream *stream)
{
    if (GRPC_SLICE_LENGTH(stream->response) > 0) {
        grpc_slice_unref(stream->response);
        stream->response = grpc_empty_slice();
    }
}

enum wr_xds_event wr_xds_stream_wait(struct wr_xds_stream *stream, int64_t until_us,
                                     struct wr_str *out_response)
{
    enum wr_xds_event came = WR_XDS_NOTHING;

    make_way(stream);
    if (!stream->is_out[BATCH_RECEIVE] && !stream->is_silent) {
        start_receive(stream);
    }
    while (came == WR_XDS_NOTHING && !stream->is_ended) {
        const grpc_event event = grpc_completion_queue_next(stream->queue, time_of(until_us), NULL);

        if (event.type != GRPC_OP_COMPLETE) {
            return WR_XDS_NOTHING;
        }
        came = on_batch(stream, &event, out_response);
    }
    return stream->is_ended ? WR_XDS_END : came;
}

void wr_xds_stream_send(struct wr_xds_stream *stream, struct wr_str request)
{
    grpc_byte_buffer_destroy(stream->unsent);
    stream->unsent = new_buffer(request);
    if (!stream->is_out[BATCH_SEND] && !stream->is_ended) {
        start_send(stream);
    }
}

void wr_xds_stream_cancel(struct wr_xds_stream *stream)
{
    (void) grpc_call_cancel(stream->call, NULL);
}

struct wr_xds_end wr_xds_stream_end(const struct wr_xds_stream *stream)
{
    return (struct wr_xds_end){
        .status = (int) stream->status,
        .text = {.ptr = (const char *) GRPC_SLICE_START_PTR(stream->details),
                 .len = GRPC_SLICE_LENGTH(stream->details)},
    };
}

/* Until every batch has come back, which a cancelled call sees to. */
static void drain(struct wr_xds_stream *stream)
{
    struct wr_str ignored;

    (void) grpc_call_cancel(stream->call, NULL);
    grpc_byte_buffer_destroy(stream->unsent);
    stream->unsent = NULL;
    for (size_t i = 0; i < N_BATCHES;) {
        if (!stream->is_out[i]) {
            i++;
            continue;
        }

        const grpc_event event =
            grpc_completion_queue_next(stream->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        (void) on_batch(stream, &event, &ignored);
        make_way(stream);
        i = 0;
    }
}

void wr_xds_stream_close(struct wr_xds_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    drain(stream);
    make_way(stream);
    for (size_t i = 0; i < stream->n_headers; i++) {
        grpc_slice_unref(stream->headers[i].key);
        grpc_slice_unref(stream->headers[i].value);
    }
    free(stream->headers);
    grpc_byte_buffer_destroy(stream->sent);
    grpc_metadata_array_destroy(&stream->initial);
    grpc_metadata_array_destroy(&stream->trailing);
    grpc_slice_unref(stream->details);
    grpc_call_unref(stream->call);
    grpc_channel_destroy(stream->channel);
    grpc_completion_queue_shutdown(stream->queue);
    while (
        grpc_completion_queue_next(stream->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
        GRPC_QUEUE_SHUTDOWN) {
    }
    grpc_completion_queue_destroy(stream->queue);
    free(stream);
}
