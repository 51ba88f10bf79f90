/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/request_fault.h"

#include <stdio.h>

#include "base/assert.h"

#define PATH_SIZE 96
#define MESSAGE_SIZE 192

const unsigned char *wr_request_fault_in(struct wr_request_fault *fault, const char *name,
                                         size_t index)
{
    WR_ASSERT(fault->n_path < WR_REQUEST_FAULT_DEPTH_MAX);
    fault->path[fault->n_path].name = name;
    fault->path[fault->n_path].index = index;
    fault->n_path++;
    return NULL;
}

const unsigned char *wr_request_fault_too_many(struct wr_request_fault *fault, const char *name,
                                               size_t cap)
{
    fault->err = WR_ERR_TOO_LARGE;
    fault->cap = cap;
    return wr_request_fault_in(fault, name, WR_NO_INDEX);
}

const unsigned char *wr_request_fault_no_memory(struct wr_request_fault *fault)
{
    fault->err = WR_ERR_NO_MEMORY;
    return NULL;
}

/* The path, outermost name first; cut when it does not fit, which it does. */
static size_t write_path(const struct wr_request_fault *fault, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = fault->n_path; i-- > 0 && used < size;) {
        const char *const name = fault->path[i].name;
        const size_t index = fault->path[i].index;
        const char *const dot = used > 0 ? "." : "";
        const int n = index == WR_NO_INDEX
                          ? snprintf(text + used, size - used, "%s%s", dot, name)
                          : snprintf(text + used, size - used, "%s%s[%zu]", dot, name, index);

        used += n > 0 ? (size_t) n : 0;
    }
    return used < size ? used : size - 1;
}

/* What went wrong, for people; no value of the request is repeated. */
static void describe(const struct wr_request_fault *fault, const unsigned char *begin,
                     struct wr_arena *arena, struct wr_failure *out_failure)
{
    char path[PATH_SIZE], text[MESSAGE_SIZE];
    const size_t path_len = write_path(fault, path, sizeof path);
    const char *const subject = path_len > 0 ? path : "the request";
    const int n =
        fault->err == WR_ERR_TOO_LARGE
            ? snprintf(text, sizeof text, "%s has more than %zu elements, this server's --max-%s",
                       subject, fault->cap, fault->path[0].name)
            : snprintf(text, sizeof text, "%s %s (byte %zu of the request)", subject,
                       wr_fault_text(fault->scan.fault), (size_t) (fault->scan.at - begin));
    const size_t len = n > 0 && (size_t) n < sizeof text ? (size_t) n : 0;

    (void) wr_arena_copy(arena, (struct wr_str){.ptr = text, .len = len}, &out_failure->message);
    (void) wr_arena_copy(arena, (struct wr_str){.ptr = path, .len = path_len}, &out_failure->field);
}

enum wr_err wr_request_fault_explain(const struct wr_request_fault *fault,
                                     const unsigned char *begin, struct wr_arena *arena,
                                     struct wr_failure *out_failure)
{
    static const struct wr_failure no_memory = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                                .message = WR_STR("out of memory")};
    static const struct wr_failure too_large = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                                .message = WR_STR("the request is too large")};
    static const struct wr_failure malformed = {.status = WR_STATUS_INVALID_ARGUMENT,
                                                .message = WR_STR("the request is malformed")};

    if (fault->err == WR_ERR_NO_MEMORY) {
        *out_failure = no_memory;
        return WR_ERR_NO_MEMORY;
    }
    *out_failure = fault->err == WR_ERR_TOO_LARGE ? too_large : malformed;
    describe(fault, begin, arena, out_failure);
    return fault->err == WR_ERR_TOO_LARGE ? WR_ERR_TOO_LARGE : WR_ERR_MALFORMED;
}
