/* SPDX-License-Identifier: Apache-2.0 */
#include "weir/client.h"

void weir_request_init(struct weir_request *request, struct weir_str domain)
{
    request->domain = domain;
    request->hits = 0;
    request->err = WEIR_OK;
    request->descriptor_count = 0;
}

void weir_request_hits(struct weir_request *request, uint32_t hits)
{
    request->hits = hits;
}

static enum weir_err fail(struct weir_request *request, enum weir_err err)
{
    request->err = err;
    return err;
}

enum weir_err weir_request_descriptor(struct weir_request *request)
{
    if (request->err != WEIR_OK) {
        return request->err;
    }
    if (request->descriptor_count == WEIR_DESCRIPTORS_MAX) {
        return fail(request, WEIR_ERR_FULL);
    }

    struct weir_descriptor *descriptor = &request->descriptors[request->descriptor_count++];

    descriptor->entry_count = 0;
    descriptor->has_hits = false;
    descriptor->is_refund = false;
    descriptor->has_limit = false;
    return WEIR_OK;
}

/* The descriptor begun last; NULL when there is none or the request has failed, which is then its
 * error. */
static struct weir_descriptor *current(struct weir_request *request)
{
    if (request->err != WEIR_OK) {
        return NULL;
    }
    if (request->descriptor_count == 0) {
        request->err = WEIR_ERR_INVALID;
        return NULL;
    }
    return &request->descriptors[request->descriptor_count - 1];
}

enum weir_err weir_request_entry(struct weir_request *request, struct weir_str key,
                                 struct weir_str value)
{
    struct weir_descriptor *descriptor = current(request);

    if (descriptor == NULL) {
        return request->err;
    }
    if (key.len == 0) {
        return fail(request, WEIR_ERR_INVALID);
    }
    if (descriptor->entry_count == WEIR_ENTRIES_MAX) {
        return fail(request, WEIR_ERR_FULL);
    }
    descriptor->entries[descriptor->entry_count++] =
        (struct weir_entry){.key = key, .value = value};
    return WEIR_OK;
}

static enum weir_err set_hits(struct weir_request *request, uint64_t hits, bool is_refund)
{
    struct weir_descriptor *descriptor = current(request);

    if (descriptor == NULL) {
        return request->err;
    }
    descriptor->has_hits = true;
    descriptor->hits = hits;
    descriptor->is_refund = is_refund;
    return WEIR_OK;
}

enum weir_err weir_request_take(struct weir_request *request, uint64_t hits)
{
    return set_hits(request, hits, false);
}

enum weir_err weir_request_peek(struct weir_request *request)
{
    return set_hits(request, 0, false);
}

enum weir_err weir_request_refund(struct weir_request *request, uint64_t hits)
{
    return set_hits(request, hits, true);
}

enum weir_err weir_request_limit(struct weir_request *request, uint32_t requests,
                                 enum weir_unit unit)
{
    struct weir_descriptor *descriptor = current(request);

    if (descriptor == NULL) {
        return request->err;
    }
    if (unit < WEIR_UNIT_SECOND || unit > WEIR_UNIT_WEEK) {
        return fail(request, WEIR_ERR_INVALID);
    }
    descriptor->has_limit = true;
    descriptor->limit_requests = requests;
    descriptor->limit_unit = unit;
    return WEIR_OK;
}
