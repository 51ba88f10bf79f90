/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/descriptor_pool.h"

#include <criterion/criterion.h>
#include <string.h>

#include "google/protobuf/descriptor.pb-c.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/wire/bytes.h"
#include "wire/reflection.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define RLS "envoy/service/ratelimit/v3/rls.proto"

static struct wr_descriptor_pool *open_pool(void)
{
    struct wr_descriptor_pool *pool = NULL;

    cr_assert_eq(wr_descriptor_pool_new(&pool), WR_OK);
    return pool;
}

static size_t file_of(const struct wr_descriptor_pool *pool, const char *name)
{
    size_t file = 0;

    cr_assert(wr_descriptor_pool_find_file(pool, wr_str_of(name), &file), "no file %s", name);
    return file;
}

static const struct wr_symbol *find(const struct wr_descriptor_pool *pool, struct wr_str name)
{
    return wr_symbol_table_find(wr_descriptor_pool_symbols(pool), name);
}

Test(descriptor_pool, knows_every_kind_of_symbol_and_its_file)
{
    static const struct {
        const char *name, *file;
        enum wr_symbol_kind kind;
    } rows[] = {
        {"envoy.service.ratelimit.v3.RateLimitService", RLS, WR_SYMBOL_SERVICE},
        {"envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitRequest", RLS, WR_SYMBOL_MESSAGE},
        {"envoy.service.ratelimit.v3.RateLimitRequest.domain", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.RateLimit", RLS, WR_SYMBOL_MESSAGE},
        {"envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.unit", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.WEEK", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.Code", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.OVER_LIMIT", RLS, WR_SYMBOL_OTHER},
        {"envoy.service.ratelimit.v3.RateLimitResponse.Quota.expiration_specifier", RLS,
         WR_SYMBOL_OTHER},
        {"envoy.type.v3.RateLimitUnit", "envoy/type/v3/ratelimit_unit.proto", WR_SYMBOL_OTHER},
        {"envoy.type.v3.SECOND", "envoy/type/v3/ratelimit_unit.proto", WR_SYMBOL_OTHER},
        {"google.protobuf.Struct.FieldsEntry", "google/protobuf/struct.proto", WR_SYMBOL_MESSAGE},
        {"grpc.health.v1.Health.List", "grpc/health/v1/health.proto", WR_SYMBOL_OTHER},
        {"grpc.reflection.v1alpha.ServerReflection", "grpc/reflection/v1alpha/reflection.proto",
         WR_SYMBOL_SERVICE},
    };
    struct wr_descriptor_pool *const pool = open_pool();

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wr_symbol *const symbol = find(pool, wr_str_of(rows[i].name));

        cr_assert_not_null(symbol, "%s", rows[i].name);
        cr_assert_eq(symbol->file, file_of(pool, rows[i].file), "%s", rows[i].name);
        cr_assert_eq(symbol->kind, rows[i].kind, "%s", rows[i].name);
    }
    wr_descriptor_pool_destroy(pool);
}

Test(descriptor_pool, does_not_know_what_is_only_part_of_a_name)
{
    static const char *const names[] = {
        "",
        ".envoy.service.ratelimit.v3.RateLimitService",
        "envoy.service.ratelimit.v3",
        "envoy.service.ratelimit.v3.RateLimitServic",
        "envoy.service.ratelimit.v3.RateLimitServicee",
        "RateLimitService",
        "envoy.service.ratelimit.v3.RateLimitResponse.Code.OK",
    };
    struct wr_descriptor_pool *const pool = open_pool();
    size_t file = 0;

    for (size_t i = 0; i < COUNT(names); i++) {
        cr_assert_null(find(pool, wr_str_of(names[i])), "%s", names[i]);
        cr_assert_not(wr_descriptor_pool_find_file(pool, wr_str_of(names[i]), &file));
    }
    wr_descriptor_pool_destroy(pool);
}

Test(descriptor_pool, lists_its_symbols_sorted_and_finds_each)
{
    struct wr_descriptor_pool *const pool = open_pool();
    const struct wr_symbol_table *const table = wr_descriptor_pool_symbols(pool);
    const struct wr_symbol *const symbols = table->symbols;

    cr_assert_gt(table->n, 100);
    for (size_t i = 0; i < table->n; i++) {
        cr_assert(i == 0 || wr_str_compare(symbols[i - 1].name, symbols[i].name) < 0,
                  "%.*s comes twice or out of order", (int) symbols[i].name.len,
                  symbols[i].name.ptr);
        cr_assert_eq(find(pool, symbols[i].name), &symbols[i]);
    }
    wr_descriptor_pool_destroy(pool);
}

static bool holds_file(const struct wr_str *files, size_t n, const char *name)
{
    bool is_found = false;

    for (size_t i = 0; i < n && !is_found; i++) {
        Google__Protobuf__FileDescriptorProto *const file =
            google__protobuf__file_descriptor_proto__unpack(NULL, files[i].len,
                                                            (const uint8_t *) files[i].ptr);

        cr_assert_not_null(file);
        is_found = strcmp(file->name, name) == 0;
        google__protobuf__file_descriptor_proto__free_unpacked(file, NULL);
    }
    return is_found;
}

Test(descriptor_pool, hands_out_a_file_and_then_all_that_it_imports_once)
{
    static const char *const wanted[] = {
        "envoy/config/core/v3/base.proto",
        "envoy/extensions/common/ratelimit/v3/ratelimit.proto",
        "envoy/type/v3/ratelimit_unit.proto",
        "google/protobuf/duration.proto",
        "google/protobuf/struct.proto",
        "google/protobuf/timestamp.proto",
        "google/protobuf/wrappers.proto",
    };
    struct wr_descriptor_pool *const pool = open_pool();
    struct wr_arena arena;
    size_t n = 0;

    wr_arena_init(&arena, 64);

    const struct wr_str *const files =
        wr_descriptor_pool_closure(pool, file_of(pool, RLS), &arena, &n);

    cr_assert_not_null(files);
    cr_assert_eq(n, 1 + COUNT(wanted));
    cr_assert(holds_file(files, 1, RLS));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        cr_assert(holds_file(files, n, wanted[i]), "%s", wanted[i]);
    }
    wr_arena_fini(&arena);
    wr_descriptor_pool_destroy(pool);
}

Test(descriptor_pool, hands_out_a_file_without_imports_alone)
{
    struct wr_descriptor_pool *const pool = open_pool();
    struct wr_arena arena;
    size_t n = 0;

    wr_arena_init(&arena, 64);
    cr_assert_not_null(
        wr_descriptor_pool_closure(pool, file_of(pool, "grpc/health/v1/health.proto"), &arena, &n));
    cr_assert_eq(n, 1);
    wr_arena_fini(&arena);
    wr_descriptor_pool_destroy(pool);
}

Test(descriptor_pool, loads_a_file_without_a_package)
{
    const struct wr_str set = bytes_of_hex("0a08 0a0161 2203 0a014d");
    struct wr_descriptor_pool *pool = NULL;

    cr_assert_eq(wr_descriptor_pool_load(set, &pool), WR_OK);
    cr_assert_not_null(find(pool, wr_str_of("M")));
    wr_descriptor_pool_destroy(pool);
    bytes_free(set);
}

Test(descriptor_pool, refuses_a_set_gone_wrong)
{
    static const char *const sets[] = {
        "",                               /* no files */
        "0a",                             /* cut */
        "0a03 0a0461",                    /* a file that is cut */
        "0a02 1201",                      /* as well */
        "0a03 120161",                    /* a file without a name */
        "0a06 0a0161 1a0162",             /* an import that is not there */
        "0a03 0a0161 06",                 /* rubbish after a file */
        "0a06 0a0161 1a0162 0a03 0a0162", /* an import that comes later */
    };

    for (size_t i = 0; i < COUNT(sets); i++) {
        const struct wr_str set = bytes_of_hex(sets[i]);
        struct wr_descriptor_pool *pool = NULL;

        cr_assert_eq(wr_descriptor_pool_load(set, &pool), WR_ERR_MALFORMED, "%s", sets[i]);
        cr_assert_null(pool);
        bytes_free(set);
    }
}

Test(descriptor_pool, says_so_when_memory_is_out_at_any_allocation)
{
    enum wr_err err = WR_ERR_NO_MEMORY;
    size_t n = 0;

    for (; err != WR_OK; n++) {
        struct wr_descriptor_pool *pool = NULL;

        failing_malloc_start(n);
        err = wr_descriptor_pool_new(&pool);
        failing_malloc_stop();
        cr_assert(err == WR_OK || err == WR_ERR_NO_MEMORY, "%zu: %s", n, wr_err_text(err));
        cr_assert_eq(pool == NULL, err != WR_OK);
        wr_descriptor_pool_destroy(pool);
    }
    cr_assert_gt(n, 3);
}
