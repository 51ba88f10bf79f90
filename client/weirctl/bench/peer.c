/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include "../../codec.h"
#include "../../error.h"
#include "address.h"

#include <nghttp2/nghttp2.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define READS_MAX 16 /* then others get their turn */
#define PREFIX_BYTES 5

/* As large as HTTP/2 has it, so that windows never hold a reply up. */
#define WINDOW ((1U << 30) - 1)

struct weirctl_peer {
    struct weirctl_peer_options options;
    nghttp2_session *session; /* owned */
    int fd;
    bool is_leaving; /* the server said GOAWAY */
    size_t out_begin;
    size_t out_end; /* of `out`, what is still to be written */
    struct weir_error complaint;
    uint8_t out[BUFFER_BYTES];
};

static bool is_text(struct weir_str text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

static void complain(struct weirctl_peer *peer, const char *what, struct weir_str why)
{
    if (peer->complaint.code == WEIR_OK) {
        const int len = why.len < WEIR_ERROR_MAX ? (int) why.len : WEIR_ERROR_MAX;

        weir_error_set(&peer->complaint, WEIR_ERR_SERVER, "%s%.*s", what, len, why.ptr);
    }
}

/* On Linux EWOULDBLOCK is EAGAIN. */
static bool is_transient(int err)
{
    return err == EAGAIN || err == EINTR;
}

/* ---- What comes in ---- */

static int status_number(struct weir_str value)
{
    int number = 0;

    for (size_t i = 0; i < value.len && i < 3; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') {
            return -1;
        }
        number = number * 10 + (value.ptr[i] - '0');
    }
    return number;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *arg)
{
    struct weirctl_turn *turn = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    const struct weir_str key = {(const char *) name, name_len};
    const struct weir_str text = {(const char *) value, value_len};

    (void) flags;
    if (turn == NULL || name_len < strlen(":status")) {
        return 0;
    }
    if (is_text(key, "grpc-status")) {
        turn->grpc_status = status_number(text);
        if (turn->grpc_status != 0) {
            complain(arg, "the server answers with grpc-status ", text);
        }
    } else if (is_text(key, "grpc-message") && value_len > 0) {
        struct weirctl_peer *peer = arg;

        peer->complaint.code = WEIR_OK;
        complain(peer, "the server says: ", text);
    } else if (is_text(key, ":status") && !is_text(text, "200")) {
        complain(arg, "the server answers with HTTP status ", text);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream_id, const uint8_t *data,
                   size_t len, void *arg)
{
    struct weirctl_turn *turn = nghttp2_session_get_stream_user_data(session, stream_id);

    (void) flags;
    (void) arg;
    if (turn != NULL) {
        const size_t room = WEIRCTL_REPLY_MAX - turn->reply_len;
        const size_t kept = len < room ? len : room;

        memcpy(&turn->reply[turn->reply_len], data, kept);
        turn->reply_len += kept;
    }
    return 0;
}

static enum weirctl_answer answer_of(struct weirctl_peer *peer, const struct weirctl_turn *turn)
{
    enum weir_code code = WEIR_CODE_UNKNOWN;

    if (turn->grpc_status == 0 && turn->reply_len > PREFIX_BYTES) {
        code = weir_codec_get_verdict(&turn->reply[PREFIX_BYTES], turn->reply_len - PREFIX_BYTES);
    }
    if (code == WEIR_CODE_OK) {
        return WEIRCTL_ANSWER_ADMITTED;
    }
    if (code == WEIR_CODE_OVER_LIMIT) {
        return WEIRCTL_ANSWER_REFUSED;
    }
    complain(peer, "the reply has no verdict", weir_str(""));
    return WEIRCTL_ANSWER_FAILED;
}

static int on_close(nghttp2_session *session, int32_t stream_id, uint32_t error_code, void *arg)
{
    struct weirctl_peer *peer = arg;
    struct weirctl_turn *turn = nghttp2_session_get_stream_user_data(session, stream_id);

    if (turn != NULL) {
        if (error_code != NGHTTP2_NO_ERROR) {
            turn->grpc_status = -1;
            complain(peer, "a stream ended with ", weir_str(nghttp2_http2_strerror(error_code)));
        }
        turn->peer = NULL;
        peer->options.on_end(peer->options.arg, turn, answer_of(peer, turn));
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct weirctl_peer *peer = arg;

    (void) session;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        peer->is_leaving = true;
    }
    return 0;
}

/* ---- What goes out ---- */

static ssize_t read_body(nghttp2_session *session, int32_t stream_id, uint8_t *buffer, size_t cap,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct weirctl_turn *turn = source->ptr;
    const size_t left = turn->body_len - turn->body_sent;
    const size_t len = left < cap ? left : cap;

    (void) session;
    (void) stream_id;
    (void) arg;
    memcpy(buffer, &turn->body[turn->body_sent], len);
    turn->body_sent += len;
    if (turn->body_sent == turn->body_len) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t) len;
}

/* nghttp2 takes texts as uint8_t *, and writes to none. */
static nghttp2_nv header(const char *name, const char *value)
{
    union {
        const char *in;
        uint8_t *out;
    } key = {.in = name}, text = {.in = value};

    return (nghttp2_nv){key.out, text.out, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

bool weirctl_peer_begin(struct weirctl_peer *peer, struct weirctl_turn *turn)
{
    const nghttp2_nv headers[] = {
        header(":method", "POST"),
        header(":scheme", "http"),
        header(":path", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"),
        header(":authority", "weir"),
        header("te", "trailers"),
        header("content-type", "application/grpc"),
        header("user-agent", "weirctl"),
    };
    const nghttp2_data_provider provider = {.source.ptr = turn, .read_callback = read_body};

    if (peer->is_leaving || weirctl_peer_is_full(peer)) {
        return false;
    }
    turn->grpc_status = -1;
    turn->reply_len = 0;
    turn->body_sent = 0;
    turn->peer = peer;
    turn->stream_id = nghttp2_submit_request(peer->session, NULL, headers,
                                             sizeof headers / sizeof headers[0], &provider, turn);
    if (turn->stream_id < 0) {
        turn->peer = NULL;
        return false;
    }
    return true;
}

/* RST_STREAM goes before any DATA, so that read_body does not see the turn again. */
void weirctl_peer_cancel(struct weirctl_peer *peer, struct weirctl_turn *turn)
{
    nghttp2_session_set_stream_user_data(peer->session, turn->stream_id, NULL);
    nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE, turn->stream_id, NGHTTP2_CANCEL);
    turn->peer = NULL;
}

/* Gathers frames, so that many checks leave in one packet. */
static bool gather(struct weirctl_peer *peer)
{
    peer->out_begin = 0;
    peer->out_end = 0;
    for (;;) {
        const uint8_t *bytes;

        /* A frame is at most 16 KiB and its head, so what is given next fits. */
        if (BUFFER_BYTES - peer->out_end < 16384 + 9) {
            return true;
        }

        const ssize_t len = nghttp2_session_mem_send(peer->session, &bytes);

        if (len < 0 || (size_t) len > BUFFER_BYTES - peer->out_end) {
            return false;
        }
        if (len == 0) {
            return true;
        }
        memcpy(&peer->out[peer->out_end], bytes, (size_t) len);
        peer->out_end += (size_t) len;
    }
}

bool weirctl_peer_flush(struct weirctl_peer *peer)
{
    for (;;) {
        if (peer->out_begin == peer->out_end && !gather(peer)) {
            return false;
        }
        if (peer->out_begin == peer->out_end) {
            return true;
        }

        const ssize_t len = send(peer->fd, &peer->out[peer->out_begin],
                                 peer->out_end - peer->out_begin, MSG_NOSIGNAL);

        if (len < 0) {
            return is_transient(errno);
        }
        peer->out_begin += (size_t) len;
    }
}

bool weirctl_peer_is_full(const struct weirctl_peer *peer)
{
    return peer->out_begin < peer->out_end;
}

/* What recv gave; false: the connection is over. */
static bool take_in(struct weirctl_peer *peer, const uint8_t *bytes, ssize_t len)
{
    if (len <= 0) {
        complain(peer, "the connection broke off", weir_str(""));
        return false;
    }

    const ssize_t taken = nghttp2_session_mem_recv(peer->session, bytes, (size_t) len);

    if (taken < 0) {
        complain(peer, "the peer does not speak HTTP/2: ", weir_str(nghttp2_strerror((int) taken)));
        return false;
    }
    return nghttp2_session_want_read(peer->session) != 0 ||
           nghttp2_session_want_write(peer->session) != 0;
}

/* Until nothing is left, as h2load does: what came while the first part was read counts now. */
bool weirctl_peer_read(struct weirctl_peer *peer)
{
    uint8_t bytes[BUFFER_BYTES];

    for (unsigned int i = 0; i < READS_MAX; i++) {
        const ssize_t len = recv(peer->fd, bytes, sizeof bytes, 0);

        if (len < 0 && is_transient(errno)) {
            return true;
        }
        if (!take_in(peer, bytes, len)) {
            return false;
        }
    }
    return true;
}

/* ---- Life ---- */

static bool session_new(struct weirctl_peer *peer)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
    };
    nghttp2_session_callbacks *callbacks;

    if (nghttp2_session_callbacks_new(&callbacks) != 0) {
        return false;
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);

    const int status = nghttp2_session_client_new(&peer->session, callbacks, peer);

    nghttp2_session_callbacks_del(callbacks);
    return status == 0 &&
           nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof settings / sizeof settings[0]) == 0 &&
           nghttp2_session_set_local_window_size(peer->session, NGHTTP2_FLAG_NONE, 0,
                                                 (int32_t) WINDOW) == 0;
}

struct weirctl_peer *weirctl_peer_new(const struct weirctl_peer_options *options,
                                      struct weir_error *error)
{
    struct weirctl_peer *peer = calloc(1, sizeof *peer);

    if (peer == NULL) {
        weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
        return NULL;
    }
    peer->options = *options;
    peer->fd = weirctl_address_connect(options->target, options->timeout_ms, error);
    if (peer->fd >= 0 && session_new(peer)) {
        return peer;
    }
    if (peer->fd >= 0) {
        weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    weirctl_peer_destroy(peer);
    return NULL;
}

void weirctl_peer_destroy(struct weirctl_peer *peer)
{
    if (peer == NULL) {
        return;
    }
    nghttp2_session_del(peer->session);
    if (peer->fd >= 0) {
        close(peer->fd);
    }
    free(peer);
}

int weirctl_peer_fd(const struct weirctl_peer *peer)
{
    return peer->fd;
}

const char *weirctl_peer_complaint(const struct weirctl_peer *peer)
{
    return peer->complaint.code != WEIR_OK ? peer->complaint.text : "";
}
