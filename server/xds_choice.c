/* SPDX-License-Identifier: Apache-2.0 */
#include "xds_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define MAX_MESSAGE_BYTES (64 << 20)
#define PAIRS_MAX 64
#define PORT_MAX 65535
#define PORT_DIGITS 5

/* One `name`, `value` of a list. */
struct pair {
    struct wr_str name, value;
};

/* Parts "a:b,c:d" at commas and at the first `mark` of each. How many there are; PAIRS_MAX + 1 when
 * one has no mark or no name, or there are too many. */
static size_t part(const char *text, char mark, struct pair pairs[PAIRS_MAX])
{
    size_t n = 0;

    while (*text != '\0') {
        const size_t len = strcspn(text, ",");
        const char *const at = memchr(text, mark, len);

        if (n == PAIRS_MAX || at == NULL || at == text) {
            return PAIRS_MAX + 1;
        }
        pairs[n++] = (struct pair){
            .name = {.ptr = text, .len = (size_t) (at - text)},
            .value = {.ptr = at + 1, .len = len - (size_t) (at - text) - 1},
        };
        text += len + (text[len] == ',');
    }
    return n;
}

static bool choose_labels(const struct wr_options *options, struct wr_arena *arena, FILE *err,
                          struct wr_discovery_node *node)
{
    struct pair pairs[PAIRS_MAX];
    const size_t n = part(options->xds_node_metadata, '=', pairs);
    struct wr_discovery_label *const labels =
        n <= PAIRS_MAX ? wr_arena_calloc(arena, n, sizeof *labels) : NULL;

    if (labels == NULL) {
        fprintf(err,
                "weir: --xds-node-metadata (CONFIG_GRPC_XDS_NODE_METADATA) must be as in "
                "zone=a,tier=b, with %d pairs at most\n",
                PAIRS_MAX);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        labels[i] = (struct wr_discovery_label){.name = pairs[i].name, .value = pairs[i].value};
    }
    node->labels = labels;
    node->n_labels = n;
    return true;
}

/* A name in lower case, as HTTP/2 has it. */
static bool lower(struct wr_arena *arena, struct wr_str name, struct wr_str *out_name)
{
    char *const copy = wr_arena_alloc(arena, name.len);

    for (size_t i = 0; i < name.len && copy != NULL; i++) {
        const char c = name.ptr[i];

        copy[i] = c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
    }
    *out_name = (struct wr_str){.ptr = copy, .len = name.len};
    return copy != NULL;
}

/* The values may be secrets: none is shown. */
static bool choose_headers(const struct wr_options *options, struct wr_arena *arena, FILE *err,
                           struct wr_xds_stream_options *stream)
{
    struct pair pairs[PAIRS_MAX];
    const size_t n = part(options->xds_headers, ':', pairs);
    struct wr_xds_header *const headers =
        n <= PAIRS_MAX ? wr_arena_calloc(arena, n, sizeof *headers) : NULL;
    bool is_good = headers != NULL;

    for (size_t i = 0; i < n && is_good; i++) {
        headers[i].value = pairs[i].value;
        is_good =
            lower(arena, pairs[i].name, &headers[i].name) && wr_xds_header_is_legal(&headers[i]);
    }
    if (!is_good) {
        fprintf(err,
                "weir: --xds-headers (CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS) must be as in "
                "x-team:edge,authorization:Bearer abc: letters, digits, '-', '_' and '.' in names, "
                "none that ends in -bin or that gRPC sets itself, ASCII in values, %d pairs at "
                "most\n",
                PAIRS_MAX);
        return false;
    }
    stream->headers = headers;
    stream->n_headers = n;
    return true;
}

static bool is_port(const char *text)
{
    uint64_t port = 0;

    return strlen(text) <= PORT_DIGITS && wr_number_parse(wr_str_of(text), PORT_MAX, &port) &&
           port > 0;
}

/* C core takes more than that: another scheme for a name, and a port that is too large for another
 * port. A name to be looked up may be written as in Go. */
static bool check_server(const char *server, FILE *err)
{
    const char *const host = strncmp(server, "dns:///", 7) == 0 ? server + 7 : server;
    const char *const colon = strrchr(host, ':');

    if (colon == NULL || colon == host || strpbrk(host, "/ ") != NULL || !is_port(colon + 1)) {
        fprintf(err,
                "weir: --xds-server (CONFIG_GRPC_XDS_SERVER_URL) is no HOST:PORT, as in "
                "control-plane:18000, with a port from 1 to %d and no scheme\n",
                PORT_MAX);
        return false;
    }
    return true;
}

bool wr_xds_choose(const struct wr_options *options, struct wr_arena *arena, FILE *err,
                   struct wr_xds_client_options *out_client)
{
    const uint64_t max_bytes = options->xds_max_message_bytes;

    *out_client = (struct wr_xds_client_options){
        .stream = {.target = options->xds_server,
                   .tls = {.is_on = options->has_xds_tls,
                           .ca = options->xds_tls_ca,
                           .cert = options->xds_tls_cert,
                           .key = options->xds_tls_key,
                           .server_name = options->xds_tls_server_name},
                   .max_message_bytes = max_bytes != 0 ? (size_t) max_bytes : MAX_MESSAGE_BYTES},
        .node = {.id = wr_str_of(options->xds_node_id)},
        .pauses = {.min_us = options->xds_pause_min_us, .max_us = options->xds_pause_max_us},
    };
    return check_server(options->xds_server, err) &&
           choose_labels(options, arena, err, &out_client->node) &&
           choose_headers(options, arena, err, &out_client->stream);
}
