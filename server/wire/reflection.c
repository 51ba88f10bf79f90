/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/reflection.h"

#include <stdint.h>

#include "grpc/reflection/v1/reflection.pb-c.h"
#include "service/failure.h"
#include "wire/descriptor_pool.h"
#include "wire/message.h"

/* Far beyond any name; bounds what protobuf-c allocates for unknown fields. */
#define MESSAGE_SIZE_MAX 16384

/* One question and its answer being built. */
struct dialogue {
    const struct wr_descriptor_pool *pool;
    struct wr_arena *arena;
    Grpc__Reflection__V1__ServerReflectionResponse *reply;
};

/* `text` is static. */
static bool answer_error(struct dialogue *dialogue, enum wr_status status, const char *text)
{
    Grpc__Reflection__V1__ErrorResponse *const error =
        wr_arena_alloc(dialogue->arena, sizeof *error);

    if (error == NULL) {
        return false;
    }
    grpc__reflection__v1__error_response__init(error);
    error->error_code = (int32_t) status;
    error->error_message = wr_message_text(dialogue->arena, wr_str_of(text));
    dialogue->reply->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
    dialogue->reply->error_response = error;
    return error->error_message != NULL;
}

static bool answer_file(struct dialogue *dialogue, size_t file)
{
    Grpc__Reflection__V1__FileDescriptorResponse *const answer =
        wr_arena_alloc(dialogue->arena, sizeof *answer);
    size_t n = 0;
    const struct wr_str *const files =
        wr_descriptor_pool_closure(dialogue->pool, file, dialogue->arena, &n);
    ProtobufCBinaryData *const bytes = wr_arena_calloc(dialogue->arena, n, sizeof *bytes);

    if (answer == NULL || files == NULL || bytes == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (ProtobufCBinaryData){
            .len = files[i].len, .data = (uint8_t *) (uintptr_t) files[i].ptr /* is only read */
        };
    }
    grpc__reflection__v1__file_descriptor_response__init(answer);
    answer->n_file_descriptor_proto = n;
    answer->file_descriptor_proto = bytes;
    dialogue->reply->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
    dialogue->reply->file_descriptor_response = answer;
    return true;
}

static bool answer_file_by_name(struct dialogue *dialogue, const char *name)
{
    size_t file = 0;

    return wr_descriptor_pool_find_file(dialogue->pool, wr_str_of(name), &file)
               ? answer_file(dialogue, file)
               : answer_error(dialogue, WR_STATUS_NOT_FOUND, "no such file");
}

static bool answer_file_by_symbol(struct dialogue *dialogue, const char *name)
{
    const struct wr_symbol *const symbol =
        wr_symbol_table_find(wr_descriptor_pool_symbols(dialogue->pool), wr_str_of(name));

    return symbol != NULL ? answer_file(dialogue, symbol->file)
                          : answer_error(dialogue, WR_STATUS_NOT_FOUND, "no such symbol");
}

/* None of the files served declares an extension, so a message that is known has no number. */
static bool answer_extension_numbers(struct dialogue *dialogue, char *type)
{
    const struct wr_symbol *const symbol =
        wr_symbol_table_find(wr_descriptor_pool_symbols(dialogue->pool), wr_str_of(type));

    if (symbol == NULL || symbol->kind != WR_SYMBOL_MESSAGE) {
        return answer_error(dialogue, WR_STATUS_NOT_FOUND, "no such message");
    }

    Grpc__Reflection__V1__ExtensionNumberResponse *const answer =
        wr_arena_alloc(dialogue->arena, sizeof *answer);

    if (answer == NULL) {
        return false;
    }
    grpc__reflection__v1__extension_number_response__init(answer);
    answer->base_type_name = type;
    dialogue->reply->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ALL_EXTENSION_NUMBERS_RESPONSE;
    dialogue->reply->all_extension_numbers_response = answer;
    return true;
}

static bool answer_services(struct dialogue *dialogue)
{
    struct wr_arena *const arena = dialogue->arena;
    const struct wr_symbol_table *const table = wr_descriptor_pool_symbols(dialogue->pool);
    Grpc__Reflection__V1__ListServiceResponse *const list = wr_arena_alloc(arena, sizeof *list);
    Grpc__Reflection__V1__ServiceResponse **const services =
        wr_arena_calloc(arena, table->n, sizeof *services);

    if (list == NULL || services == NULL) {
        return false;
    }
    grpc__reflection__v1__list_service_response__init(list);
    list->service = services;
    for (size_t i = 0; i < table->n; i++) {
        if (table->symbols[i].kind != WR_SYMBOL_SERVICE) {
            continue;
        }

        Grpc__Reflection__V1__ServiceResponse *const service =
            wr_arena_alloc(arena, sizeof *service);

        if (service == NULL) {
            return false;
        }
        grpc__reflection__v1__service_response__init(service);
        service->name = wr_message_text(arena, table->symbols[i].name);
        if (service->name == NULL) {
            return false;
        }
        services[list->n_service++] = service;
    }
    dialogue->reply->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
    dialogue->reply->list_services_response = list;
    return true;
}

static bool answer(struct dialogue *dialogue,
                   const Grpc__Reflection__V1__ServerReflectionRequest *request)
{
    switch ((int) request->message_request_case) {
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
        return answer_file_by_name(dialogue, request->file_by_filename);
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
        return answer_file_by_symbol(dialogue, request->file_containing_symbol);
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
        return answer_error(dialogue, WR_STATUS_NOT_FOUND, "no such extension");
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
        return answer_extension_numbers(dialogue, request->all_extension_numbers_of_type);
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        return answer_services(dialogue);
    default:
        return answer_error(dialogue, WR_STATUS_INVALID_ARGUMENT, "the request asks nothing");
    }
}

/* The texts of a request are sent back, where they must be UTF-8. */
static bool is_utf8(const Grpc__Reflection__V1__ServerReflectionRequest *request)
{
    const char *text = NULL;

    switch ((int) request->message_request_case) {
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        text = request->list_services; /* the texts share one place */
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
        text = request->file_containing_extension->containing_type;
        break;
    default:
        text = "";
        break;
    }
    return wr_str_is_utf8(wr_str_of(request->host)) && wr_str_is_utf8(wr_str_of(text));
}

/* protobuf-c takes some that no parser takes back. */
static void forget_unknown_fields(Grpc__Reflection__V1__ServerReflectionRequest *request)
{
    request->base.n_unknown_fields = 0;
    if (request->message_request_case ==
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION) {
        request->file_containing_extension->base.n_unknown_fields = 0;
    }
}

enum wr_err wr_reflection_answer(const struct wr_descriptor_pool *pool, struct wr_str message,
                                 struct wr_arena *arena, struct wr_str *out_reply)
{
    Grpc__Reflection__V1__ServerReflectionResponse reply;
    struct dialogue dialogue = {.pool = pool, .arena = arena, .reply = &reply};
    ProtobufCMessage *unpacked = NULL;

    if (message.len > MESSAGE_SIZE_MAX) {
        return WR_ERR_TOO_LARGE;
    }

    const enum wr_err err = wr_message_unpack(
        &grpc__reflection__v1__server_reflection_request__descriptor, message, arena, &unpacked);

    if (err != WR_OK) {
        return err;
    }

    Grpc__Reflection__V1__ServerReflectionRequest *const request =
        (Grpc__Reflection__V1__ServerReflectionRequest *) unpacked;

    if (!is_utf8(request)) {
        return WR_ERR_MALFORMED;
    }
    forget_unknown_fields(request);
    grpc__reflection__v1__server_reflection_response__init(&reply);
    reply.valid_host = request->host;
    reply.original_request = request;
    return answer(&dialogue, request) && wr_message_pack(&reply.base, arena, out_reply)
               ? WR_OK
               : WR_ERR_NO_MEMORY;
}
