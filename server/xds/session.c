/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_SIZE 2048 /* with a place and a path at the greatest depth */
#define SHOWN_MAX 100
#define SEEN_MANY 2 /* what brings nothing is answered at once before that many in a row */

static const struct wr_str rules_type = WR_STR(WR_RULES_TYPE_URL);

enum wr_err wr_xds_session_init(struct wr_xds_session *session,
                                const struct wr_discovery_node *node,
                                const struct wr_load_options *load, const struct wr_pauses *repeats)
{
    *session = (struct wr_xds_session){.node = *node, .repeats = *repeats};
    wr_xds_resources_init(&session->resources, load);
    return wr_hash_key_draw(&session->key);
}

void wr_xds_session_fini(struct wr_xds_session *session)
{
    wr_xds_resources_fini(&session->resources);
    free(session->version);
    session->version = NULL;
}

static struct wr_discovery_request request_of(const struct wr_xds_session *session)
{
    return (struct wr_discovery_request){.node = &session->node, .type_url = rules_type};
}

void wr_xds_session_calm(struct wr_xds_session *session)
{
    session->n_vain = 0;
    wr_pauses_reset(&session->repeats);
}

bool wr_xds_session_begin(struct wr_xds_session *session, struct wr_arena *arena,
                          struct wr_str *out_request)
{
    const struct wr_discovery_request request = request_of(session);

    session->has_response = false;
    wr_xds_session_calm(session);
    return wr_discovery_request_encode(&request, arena, out_request);
}

/* A control plane may send the same in any order: so the hashes are added up. */
static struct wr_hash hash_of(const struct wr_xds_session *session,
                              const struct wr_discovery_response *response)
{
    struct wr_hash sum = wr_hash_of(&session->key, response->type_url);

    for (size_t i = 0; i < response->n_resources; i++) {
        const struct wr_discovery_resource *const resource = &response->resources[i];
        const struct wr_hash hash = wr_hash_of(&session->key, resource->message);
        const struct wr_hash type = wr_hash_of(&session->key, resource->type_url);

        sum.low += hash.low ^ type.high;
        sum.high += hash.high ^ type.low;
    }
    return sum;
}

static void note_response(struct wr_diag *diag, struct wr_str type_url, const char *what,
                          size_t index)
{
    static const struct wr_place place = {.file = WR_STR("response")};
    const int len = type_url.len > SHOWN_MAX ? SHOWN_MAX : (int) type_url.len;

    if (index == SIZE_MAX) {
        wr_diag_add(diag, WR_SEVERITY_ERROR, place, (struct wr_str){0}, NULL,
                    "%s is of type `%.*s`, and `%s` was asked for", what, len, type_url.ptr,
                    WR_RULES_TYPE_URL);
    } else {
        wr_diag_add(diag, WR_SEVERITY_ERROR, place, (struct wr_str){0}, NULL,
                    "%s[%zu] is of type `%.*s`, and `%s` was asked for", what, index, len,
                    type_url.ptr, WR_RULES_TYPE_URL);
    }
}

/* The messages of the right type; the others are noted. */
static struct wr_str *list_messages(const struct wr_discovery_response *response,
                                    struct wr_arena *arena, struct wr_diag *diag, size_t *out_n)
{
    struct wr_str *const messages = wr_arena_calloc(arena, response->n_resources, sizeof *messages);
    size_t n = 0;

    for (size_t i = 0; i < response->n_resources && messages != NULL; i++) {
        if (wr_str_equal(response->resources[i].type_url, rules_type)) {
            messages[n++] = response->resources[i].message;
        } else {
            note_response(diag, response->resources[i].type_url, "resources", i);
        }
    }
    *out_n = n;
    return messages;
}

/* What goes back with a refusal: the errors, a line each, as many as there is room for. */
static void write_error(struct wr_xds_session *session, const struct wr_diag *diag)
{
    size_t used = 0, n_written = 0;
    char line[NOTE_SIZE];

    session->error[0] = '\0';
    for (const struct wr_note *note = diag->first; note != NULL; note = note->next) {
        if (note->severity != WR_SEVERITY_ERROR) {
            continue;
        }
        wr_note_format(note, line, sizeof line);

        const size_t room = WR_XDS_ERROR_SIZE - used;
        const int n = snprintf(session->error + used, room, "%s%s", used == 0 ? "" : "\n", line);

        if (n < 0 || (size_t) n + 32 >= room) {
            session->error[used] = '\0';
            break;
        }
        used += (size_t) n;
        n_written++;
    }
    if (n_written < diag->n_errors) {
        (void) snprintf(session->error + used, WR_XDS_ERROR_SIZE - used, "%s%zu more errors",
                        used == 0 ? "" : "\n", diag->n_errors - n_written);
    }
}

static bool keep_version(struct wr_xds_session *session, struct wr_str version)
{
    char *const copy = malloc(version.len + 1);

    if (copy == NULL) {
        return false;
    }
    if (version.len > 0) {
        memcpy(copy, version.ptr, version.len);
    }
    free(session->version);
    session->version = copy;
    session->version_len = version.len;
    return true;
}

/* Content that is not as the last was. */
static enum wr_err take_content(struct wr_xds_session *session,
                                const struct wr_discovery_response *response,
                                struct wr_arena *arena, struct wr_diag *diag,
                                struct wr_xds_change *change)
{
    size_t n = 0;
    const struct wr_str *const messages = list_messages(response, arena, diag, &n);
    const size_t n_strange = response->n_resources - n;
    size_t n_refused = n_strange;

    if (messages == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    if (!wr_str_equal(response->type_url, rules_type)) {
        note_response(diag, response->type_url, "the response", SIZE_MAX);
        n_refused = response->n_resources;
    } else if (n_strange == 0) { /* else any that is missing may be one of those */
        const enum wr_err err =
            wr_xds_resources_take(&session->resources, messages, n, diag, change);

        if (err != WR_OK) {
            return err;
        }
    }
    change->n_resources = response->n_resources;
    change->n_refused += n_refused;
    session->was_refused = diag->n_errors > 0;
    write_error(session, diag);
    return WR_OK;
}

/* `is_vain`: it is as the last was, or refused as the last was. */
static int64_t delay_of(struct wr_xds_session *session, bool is_vain, uint64_t random)
{
    if (!is_vain || !session->has_response) {
        wr_xds_session_calm(session);
        return 0;
    }
    return ++session->n_vain < SEEN_MANY ? 0 : wr_pauses_next_half(&session->repeats, random);
}

static bool encode_answer(const struct wr_xds_session *session,
                          const struct wr_discovery_response *response, struct wr_arena *arena,
                          struct wr_str *out_request)
{
    struct wr_discovery_request request = request_of(session);

    request.version = (struct wr_str){.ptr = session->version, .len = session->version_len};
    request.nonce = response->nonce;
    if (session->was_refused) {
        request.error = wr_str_of(session->error);
    }
    return wr_discovery_request_encode(&request, arena, out_request);
}

enum wr_err wr_xds_session_take(struct wr_xds_session *session, struct wr_str response,
                                uint64_t random, struct wr_arena *arena, struct wr_diag *diag,
                                struct wr_xds_answer *out_answer)
{
    struct wr_discovery_response decoded;
    struct wr_xds_answer answer = {0};
    struct wr_scan scan = {0};
    enum wr_err err = wr_discovery_response_decode(response, arena, &scan, &decoded);

    if (err != WR_OK) {
        return err;
    }

    const struct wr_hash hash = hash_of(session, &decoded);
    const bool was_refused = session->was_refused;

    answer.is_repeat = session->has_last && wr_hash_equal(hash, session->last);
    answer.change.n_resources = decoded.n_resources;
    if (!answer.is_repeat) {
        session->has_last = false;
        err = take_content(session, &decoded, arena, diag, &answer.change);
        if (err != WR_OK) {
            return err;
        }
        session->last = hash;
        session->has_last = true;
    }
    answer.delay_us =
        delay_of(session, answer.is_repeat || (was_refused && session->was_refused), random);
    session->has_response = true;
    answer.is_refused = session->was_refused;
    answer.version = decoded.version;
    answer.type_url = decoded.type_url;
    answer.is_strange = !wr_str_equal(decoded.type_url, rules_type);
    if ((!answer.is_refused && !keep_version(session, decoded.version)) ||
        !encode_answer(session, &decoded, arena, &answer.request)) {
        /* What was taken stays taken: only the answer is lost. */
        *out_answer = answer;
        return WR_ERR_NO_MEMORY;
    }
    *out_answer = answer;
    return WR_OK;
}
