/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/descriptor_pool.h"

#include <stdlib.h>

#include "google/protobuf/descriptor.pb-c.h"
#include "proto/descriptors.h"
#include "wire/message.h"
#include "wire/reflection.h"
#include "wire/scan.h"

#define ARENA_SIZE 65536
#define SET_FILE WR_TAG(1, WR_WIRE_BYTES) /* FileDescriptorSet.file */

struct file {
    struct wr_str name;  /* in the pool's arena */
    struct wr_str bytes; /* of its FileDescriptorProto, borrowed */
    size_t *imports;     /* numbers of files, each less than its own; in the pool's arena */
    size_t n_imports;
};

struct wr_descriptor_pool {
    struct wr_arena arena;
    struct file *files; /* in arena */
    size_t n_files;
    struct wr_symbol_table symbols; /* names in arena */
};

/* A symbol of the file being read, which is the last one; `*out_full` may be NULL. */
static bool add_symbol(struct wr_descriptor_pool *pool, struct wr_str scope, const char *name,
                       enum wr_symbol_kind kind, struct wr_str *out_full)
{
    const struct wr_symbol symbol = {.name = wr_str_of(name), .file = pool->n_files, .kind = kind};

    return wr_symbol_table_add(&pool->symbols, &pool->arena, scope, &symbol, out_full);
}

/* The values of an enumeration are named beside it, not in it, as in C++. */
static bool add_enum(struct wr_descriptor_pool *pool, struct wr_str scope,
                     const Google__Protobuf__EnumDescriptorProto *type)
{
    if (!add_symbol(pool, scope, type->name, WR_SYMBOL_OTHER, NULL)) {
        return false;
    }
    for (size_t i = 0; i < type->n_value; i++) {
        if (!add_symbol(pool, scope, type->value[i]->name, WR_SYMBOL_OTHER, NULL)) {
            return false;
        }
    }
    return true;
}

/* Recurses as deeply as our own proto files nest their messages. */
static bool add_message(struct wr_descriptor_pool *pool, struct wr_str scope,
                        const Google__Protobuf__DescriptorProto *type)
{
    struct wr_str full = {NULL, 0};

    if (!add_symbol(pool, scope, type->name, WR_SYMBOL_MESSAGE, &full)) {
        return false;
    }
    for (size_t i = 0; i < type->n_field; i++) {
        if (!add_symbol(pool, full, type->field[i]->name, WR_SYMBOL_OTHER, NULL)) {
            return false;
        }
    }
    for (size_t i = 0; i < type->n_oneof_decl; i++) {
        if (!add_symbol(pool, full, type->oneof_decl[i]->name, WR_SYMBOL_OTHER, NULL)) {
            return false;
        }
    }
    for (size_t i = 0; i < type->n_enum_type; i++) {
        if (!add_enum(pool, full, type->enum_type[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < type->n_nested_type; i++) {
        if (!add_message(pool, full, type->nested_type[i])) {
            return false;
        }
    }
    return true;
}

static bool add_service(struct wr_descriptor_pool *pool, struct wr_str scope,
                        const Google__Protobuf__ServiceDescriptorProto *service)
{
    struct wr_str full = {NULL, 0};

    if (!add_symbol(pool, scope, service->name, WR_SYMBOL_SERVICE, &full)) {
        return false;
    }
    for (size_t i = 0; i < service->n_method; i++) {
        if (!add_symbol(pool, full, service->method[i]->name, WR_SYMBOL_OTHER, NULL)) {
            return false;
        }
    }
    return true;
}

static bool add_symbols(struct wr_descriptor_pool *pool,
                        const Google__Protobuf__FileDescriptorProto *proto)
{
    const struct wr_str package = wr_str_of(proto->package == NULL ? "" : proto->package);

    for (size_t i = 0; i < proto->n_message_type; i++) {
        if (!add_message(pool, package, proto->message_type[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < proto->n_enum_type; i++) {
        if (!add_enum(pool, package, proto->enum_type[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < proto->n_service; i++) {
        if (!add_service(pool, package, proto->service[i])) {
            return false;
        }
    }
    return true;
}

static enum wr_err add_imports(struct wr_descriptor_pool *pool, struct file *file,
                               const Google__Protobuf__FileDescriptorProto *proto)
{
    file->imports = wr_arena_calloc(&pool->arena, proto->n_dependency, sizeof *file->imports);
    if (file->imports == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    for (; file->n_imports < proto->n_dependency; file->n_imports++) {
        if (!wr_descriptor_pool_find_file(pool, wr_str_of(proto->dependency[file->n_imports]),
                                          &file->imports[file->n_imports])) {
            return WR_ERR_MALFORMED;
        }
    }
    return WR_OK;
}

static enum wr_err add_file(struct wr_descriptor_pool *pool, struct wr_str bytes,
                            struct wr_arena *scratch)
{
    struct file *const file = &pool->files[pool->n_files];
    ProtobufCMessage *message = NULL;
    enum wr_err err = wr_message_unpack(&google__protobuf__file_descriptor_proto__descriptor, bytes,
                                        scratch, &message);

    if (err != WR_OK) {
        return err;
    }

    const Google__Protobuf__FileDescriptorProto *const proto =
        (const Google__Protobuf__FileDescriptorProto *) message;

    if (proto->name == NULL) {
        return WR_ERR_MALFORMED;
    }
    if (!wr_arena_copy(&pool->arena, wr_str_of(proto->name), &file->name) ||
        !add_symbols(pool, proto)) {
        return WR_ERR_NO_MEMORY;
    }
    file->bytes = bytes;
    err = add_imports(pool, file, proto);
    if (err == WR_OK) {
        pool->n_files++;
    }
    return err;
}

/* The next file of the set from `*at` on; false at its end or when it is malformed. */
static bool next_file(struct wr_scan *scan, const unsigned char **at, const unsigned char *end,
                      struct wr_str *out_bytes)
{
    while (*at != NULL && *at < end) {
        uint32_t tag = 0;
        const unsigned char *behind = NULL;
        const unsigned char *const value = wr_scan_tag(scan, *at, end, &tag);

        *at = value == NULL ? NULL : wr_scan_skip(scan, value, end, tag);
        if (*at != NULL && tag == SET_FILE) {
            const unsigned char *const begin = wr_scan_length(scan, value, end, &behind);

            *out_bytes =
                (struct wr_str){.ptr = (const char *) begin, .len = (size_t) (behind - begin)};
            return true;
        }
    }
    return false;
}

static enum wr_err add_files(struct wr_descriptor_pool *pool, struct wr_str set,
                             struct wr_arena *scratch)
{
    const unsigned char *const begin = (const unsigned char *) set.ptr;
    const unsigned char *const end = begin + set.len;
    const unsigned char *at = begin;
    struct wr_scan scan = {.fault = WR_FAULT_NONE};
    struct wr_str bytes = {NULL, 0};
    size_t n = 0;

    while (next_file(&scan, &at, end, &bytes)) {
        n++;
    }
    pool->files = wr_arena_calloc(&pool->arena, n, sizeof *pool->files);
    if (pool->files == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    at = begin;
    while (next_file(&scan, &at, end, &bytes)) {
        const enum wr_err err = add_file(pool, bytes, scratch);

        if (err != WR_OK) {
            return err;
        }
    }
    return scan.fault == WR_FAULT_NONE && n > 0 ? WR_OK : WR_ERR_MALFORMED;
}

enum wr_err wr_descriptor_pool_load(struct wr_str set, struct wr_descriptor_pool **out_pool)
{
    struct wr_descriptor_pool *const pool = calloc(1, sizeof *pool);
    struct wr_arena scratch;

    if (pool == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    wr_arena_init(&pool->arena, ARENA_SIZE);
    wr_arena_init(&scratch, ARENA_SIZE);

    const enum wr_err err = add_files(pool, set, &scratch);

    wr_arena_fini(&scratch);
    if (err != WR_OK) {
        wr_descriptor_pool_destroy(pool);
        return err;
    }
    wr_symbol_table_sort(&pool->symbols);
    *out_pool = pool;
    return WR_OK;
}

enum wr_err wr_descriptor_pool_new(struct wr_descriptor_pool **out_pool)
{
    const struct wr_str set = {.ptr = (const char *) wr_proto_descriptors,
                               .len = wr_proto_descriptors_len};

    return wr_descriptor_pool_load(set, out_pool);
}

void wr_descriptor_pool_destroy(struct wr_descriptor_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    wr_arena_fini(&pool->arena);
    free(pool);
}

bool wr_descriptor_pool_find_file(const struct wr_descriptor_pool *pool, struct wr_str name,
                                  size_t *out_file)
{
    for (size_t i = 0; i < pool->n_files; i++) {
        if (wr_str_equal(pool->files[i].name, name)) {
            *out_file = i;
            return true;
        }
    }
    return false;
}

const struct wr_symbol_table *wr_descriptor_pool_symbols(const struct wr_descriptor_pool *pool)
{
    return &pool->symbols;
}

/* Imports have lower numbers than the file that names them, so one pass downwards finds them all.
 */
const struct wr_str *wr_descriptor_pool_closure(const struct wr_descriptor_pool *pool, size_t file,
                                                struct wr_arena *arena, size_t *out_n)
{
    bool *const is_needed = wr_arena_calloc(arena, file + 1, sizeof *is_needed);
    struct wr_str *const bytes = wr_arena_calloc(arena, file + 1, sizeof *bytes);
    size_t n = 0;

    if (is_needed == NULL || bytes == NULL) {
        return NULL;
    }
    is_needed[file] = true;
    for (size_t i = file + 1; i-- > 0;) {
        if (!is_needed[i]) {
            continue;
        }
        bytes[n++] = pool->files[i].bytes;
        for (size_t k = 0; k < pool->files[i].n_imports; k++) {
            is_needed[pool->files[i].imports[k]] = true;
        }
    }
    *out_n = n;
    return bytes;
}
