/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/reflection.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "google/protobuf/descriptor.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "service/failure.h"
#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/failing_sweep.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define ASKS(what) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##what
#define TELLS(what) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##what

static struct wr_descriptor_pool *pool;

static void open_pool(void)
{
    cr_assert_eq(wr_descriptor_pool_new(&pool), WR_OK);
}

static void close_pool(void)
{
    wr_descriptor_pool_destroy(pool);
}

TestSuite(reflection, .init = open_pool, .fini = close_pool);

/* The answer to `message`; free with ..._free_unpacked. */
static Grpc__Reflection__V1__ServerReflectionResponse *answer(struct wr_str message)
{
    struct wr_arena arena;
    struct wr_str reply = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_reflection_answer(pool, message, &arena, &reply), WR_OK);

    Grpc__Reflection__V1__ServerReflectionResponse *const response =
        grpc__reflection__v1__server_reflection_response__unpack(NULL, reply.len,
                                                                 (const uint8_t *) reply.ptr);

    cr_assert_not_null(response);
    wr_arena_fini(&arena);
    return response;
}

static void close_answer(Grpc__Reflection__V1__ServerReflectionResponse *response)
{
    grpc__reflection__v1__server_reflection_response__free_unpacked(response, NULL);
}

/* The answer to a question that is one text. */
static Grpc__Reflection__V1__ServerReflectionResponse *
ask(Grpc__Reflection__V1__ServerReflectionRequest__MessageRequestCase kind, const char *text)
{
    char host[] = "a.host", question[128];
    Grpc__Reflection__V1__ServerReflectionRequest request;
    unsigned char bytes[256];

    cr_assert_lt(strlen(text), sizeof question);
    strcpy(question, text);
    grpc__reflection__v1__server_reflection_request__init(&request);
    request.host = host;
    request.message_request_case = kind;
    request.list_services = question; /* the texts share one place */

    const size_t len = grpc__reflection__v1__server_reflection_request__pack(&request, bytes);
    Grpc__Reflection__V1__ServerReflectionResponse *const response =
        answer((struct wr_str){.ptr = (const char *) bytes, .len = len});

    cr_assert_str_eq(response->valid_host, "a.host");
    cr_assert_str_eq(response->original_request->host, "a.host");
    cr_assert_eq(response->original_request->message_request_case, kind);
    cr_assert_str_eq(response->original_request->list_services, text);
    return response;
}

static void expect_error(const Grpc__Reflection__V1__ServerReflectionResponse *response,
                         enum wr_status status, const char *text)
{
    cr_assert_eq(response->message_response_case, TELLS(ERROR_RESPONSE));
    cr_assert_eq(response->error_response->error_code, (int) status);
    cr_assert_str_eq(response->error_response->error_message, text);
}

/* The first file must be `name`; there are `n`. */
static void expect_files(const Grpc__Reflection__V1__ServerReflectionResponse *response,
                         const char *name, size_t n)
{
    cr_assert_eq(response->message_response_case, TELLS(FILE_DESCRIPTOR_RESPONSE), "%s", name);

    const Grpc__Reflection__V1__FileDescriptorResponse *const files =
        response->file_descriptor_response;

    cr_assert_eq(files->n_file_descriptor_proto, n, "%s: %zu files", name,
                 files->n_file_descriptor_proto);

    Google__Protobuf__FileDescriptorProto *const first =
        google__protobuf__file_descriptor_proto__unpack(NULL, files->file_descriptor_proto[0].len,
                                                        files->file_descriptor_proto[0].data);

    cr_assert_not_null(first);
    cr_assert_str_eq(first->name, name);
    google__protobuf__file_descriptor_proto__free_unpacked(first, NULL);
}

Test(reflection, lists_the_services_that_are_served)
{
    static const char *const names[] = {
        "envoy.service.ratelimit.v3.RateLimitService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    };
    Grpc__Reflection__V1__ServerReflectionResponse *const response = ask(ASKS(LIST_SERVICES), "*");

    cr_assert_eq(response->message_response_case, TELLS(LIST_SERVICES_RESPONSE));
    cr_assert_eq(response->list_services_response->n_service, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        cr_assert_str_eq(response->list_services_response->service[i]->name, names[i]);
    }
    close_answer(response);
}

Test(reflection, sends_a_file_with_its_imports_by_name_and_by_symbol)
{
    static const struct {
        Grpc__Reflection__V1__ServerReflectionRequest__MessageRequestCase kind;
        const char *text, *file;
        size_t n;
    } rows[] = {
        {ASKS(FILE_BY_FILENAME), "grpc/health/v1/health.proto", "grpc/health/v1/health.proto", 1},
        {ASKS(FILE_BY_FILENAME), "envoy/service/ratelimit/v3/rls.proto",
         "envoy/service/ratelimit/v3/rls.proto", 8},
        {ASKS(FILE_CONTAINING_SYMBOL), "envoy.service.ratelimit.v3.RateLimitService",
         "envoy/service/ratelimit/v3/rls.proto", 8},
        {ASKS(FILE_CONTAINING_SYMBOL),
         "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry.key",
         "envoy/extensions/common/ratelimit/v3/ratelimit.proto", 3},
        {ASKS(FILE_CONTAINING_SYMBOL), "google.rpc.BadRequest", "google/rpc/error_details.proto",
         2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Grpc__Reflection__V1__ServerReflectionResponse *const response =
            ask(rows[i].kind, rows[i].text);

        expect_files(response, rows[i].file, rows[i].n);
        close_answer(response);
    }
}

Test(reflection, answers_what_is_not_there_with_an_error_that_keeps_the_stream)
{
    static const struct {
        Grpc__Reflection__V1__ServerReflectionRequest__MessageRequestCase kind;
        const char *text, *error;
    } rows[] = {
        {ASKS(FILE_BY_FILENAME), "no/such.proto", "no such file"},
        {ASKS(FILE_BY_FILENAME), "", "no such file"},
        {ASKS(FILE_CONTAINING_SYMBOL), "no.Such", "no such symbol"},
        {ASKS(ALL_EXTENSION_NUMBERS_OF_TYPE), "no.Such", "no such message"},
        {ASKS(ALL_EXTENSION_NUMBERS_OF_TYPE), "grpc.health.v1.Health", "no such message"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Grpc__Reflection__V1__ServerReflectionResponse *const response =
            ask(rows[i].kind, rows[i].text);

        expect_error(response, WR_STATUS_NOT_FOUND, rows[i].error);
        close_answer(response);
    }
}

Test(reflection, knows_no_extensions)
{
    const struct wr_str message = bytes_of_hex("2a05 0a0161 1005");
    Grpc__Reflection__V1__ServerReflectionResponse *response = answer(message);

    expect_error(response, WR_STATUS_NOT_FOUND, "no such extension");
    cr_assert_str_eq(response->original_request->file_containing_extension->containing_type, "a");
    cr_assert_eq(response->original_request->file_containing_extension->extension_number, 5);
    close_answer(response);
    bytes_free(message);

    response = ask(ASKS(ALL_EXTENSION_NUMBERS_OF_TYPE), "google.rpc.Status");
    cr_assert_eq(response->message_response_case, TELLS(ALL_EXTENSION_NUMBERS_RESPONSE));
    cr_assert_str_eq(response->all_extension_numbers_response->base_type_name, "google.rpc.Status");
    cr_assert_eq(response->all_extension_numbers_response->n_extension_number, 0);
    close_answer(response);
}

Test(reflection, answers_a_question_that_asks_nothing_with_an_error)
{
    Grpc__Reflection__V1__ServerReflectionResponse *const response =
        answer((struct wr_str){NULL, 0});

    expect_error(response, WR_STATUS_INVALID_ARGUMENT, "the request asks nothing");
    close_answer(response);
}

/* protobuf-c takes a field number 0 that is written long, and would send it back. */
Test(reflection, does_not_send_unknown_fields_back)
{
    static const char *const rows[] = {"3a00 8000 68", "2a03 800068", "2a05 9a0600 1001"};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_str message = bytes_of_hex(rows[i]);
        Grpc__Reflection__V1__ServerReflectionResponse *const response = answer(message);

        cr_assert_eq(response->original_request->base.n_unknown_fields, 0, "%s", rows[i]);
        close_answer(response);
        bytes_free(message);
    }
}

Test(reflection, refuses_what_is_no_request)
{
    static const char *const rows[] = {
        "3a0161 0a",   /* cut */
        "3a01ff",      /* not UTF-8 */
        "0a01ff",      /* neither */
        "2a03 0a01ff", /* neither */
        "3001",        /* another wire type */
        "2601",        /* a wire type that is none */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_str message = bytes_of_hex(rows[i]);
        struct wr_arena arena;
        struct wr_str reply = {NULL, 0};

        wr_arena_init(&arena, 64);
        cr_assert_eq(wr_reflection_answer(pool, message, &arena, &reply), WR_ERR_MALFORMED, "%s",
                     rows[i]);
        cr_assert_null(reply.ptr);
        wr_arena_fini(&arena);
        bytes_free(message);
    }
}

Test(reflection, refuses_a_giant_before_it_takes_memory)
{
    const size_t size = 4 << 20;
    char *const giant = malloc(size);
    struct wr_arena arena;
    struct wr_str reply = {NULL, 0};

    cr_assert_not_null(giant);
    memset(giant, 0x10, size);
    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_reflection_answer(pool, (struct wr_str){giant, size}, &arena, &reply),
                 WR_ERR_TOO_LARGE);
    cr_assert_eq(arena.total_size, 0);
    wr_arena_fini(&arena);
    free(giant);
}

static bool try_to_answer(struct wr_arena *arena, const void *message)
{
    struct wr_str reply = {NULL, 0};
    const enum wr_err err =
        wr_reflection_answer(pool, *(const struct wr_str *) message, arena, &reply);

    cr_assert(err == WR_OK || err == WR_ERR_NO_MEMORY, "%s", wr_err_text(err));
    cr_assert_eq(reply.ptr == NULL, err != WR_OK);
    return err == WR_OK;
}

Test(reflection, says_so_when_memory_is_out_at_any_allocation)
{
    static const struct wr_str messages[] = {
        WR_STR("\x3a\x01*"),
        WR_STR("\x1a\x1bgrpc/health/v1/health.proto"),
        WR_STR("\x22\x01z"),
        WR_STR("\x32\x11google.rpc.Status"),
    };

    for (size_t i = 0; i < COUNT(messages); i++) {
        cr_assert_gt(failing_sweep(try_to_answer, &messages[i]), 3, "row %zu", i);
    }
}
