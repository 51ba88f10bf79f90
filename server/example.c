/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/arena.h"
#include "rules/draft_file.h"
#include "rules/example.h"
#include "rules/rule_files.h"
#include "rules_source.h"

#include <jansson.h>

#define MAX_NOTES 100
#define ARENA_BYTES 4096
/* As many as weirctl sends. */
#define MAX_ENTRIES 8
/* Where weirctl asks when nothing else is said. */
#define ADDRESS "127.0.0.1:8081"
#define METHOD "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"

struct call {
    struct wr_str domain;
    struct wr_entry entries[MAX_ENTRIES];
    size_t n_entries;
};

static bool is_plain(struct wr_str text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./:,=@%+";

    for (size_t i = 0; i < text.len; i++) {
        if (memchr(plain, text.ptr[i], sizeof plain - 1) == NULL) {
            return false;
        }
    }
    return text.len > 0;
}

/* One word of a POSIX shell. */
static void put_word(struct wr_str text, FILE *out)
{
    if (is_plain(text)) {
        (void) fwrite(text.ptr, 1, text.len, out);
        return;
    }
    (void) fputc('\'', out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'') {
            (void) fputs("'\\''", out);
        } else {
            (void) fputc(text.ptr[i], out);
        }
    }
    (void) fputc('\'', out);
}

static json_t *text_value(struct wr_str text)
{
    return json_stringn(text.ptr, text.len);
}

/* NULL when memory is out. */
static json_t *entries_value(const struct call *call)
{
    json_t *const entries = json_array();

    for (size_t i = 0; i < call->n_entries; i++) {
        json_t *const entry = json_pack("{s:o, s:o}", "key", text_value(call->entries[i].key),
                                        "value", text_value(call->entries[i].value));

        if (json_array_append_new(entries, entry) != 0) {
            json_decref(entries);
            return NULL;
        }
    }
    return entries;
}

/* NULL when memory is out. */
static char *json_of(const struct call *call)
{
    json_t *const request = json_pack("{s:o, s:[{s:o}]}", "domain", text_value(call->domain),
                                      "descriptors", "entries", entries_value(call));
    char *const text = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);

    json_decref(request);
    return text;
}

/* With the signs escaped that part entries, and in a key what parts it from its value. */
static void put_escaped(struct wr_str text, const char *signs, FILE *out)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(signs, text.ptr[i]) != NULL) {
            (void) fputc('\\', out);
        }
        (void) fputc(text.ptr[i], out);
    }
}

/* As weirctl takes it; NULL when memory is out. */
static char *descriptor_of(const struct call *call)
{
    char *text = NULL;
    size_t len;
    FILE *const out = open_memstream(&text, &len);

    if (out == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < call->n_entries; i++) {
        (void) fputs(i == 0 ? "" : ",", out);
        put_escaped(call->entries[i].key, "\\,=", out);
        (void) fputc('=', out);
        put_escaped(call->entries[i].value, "\\,", out);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* What begins with a dash is no option behind a --. */
static void put_calls(const struct call *call, const char *json, const char *descriptor, FILE *out)
{
    const bool has_dash = call->domain.ptr[0] == '-' || descriptor[0] == '-';

    fprintf(out, "grpcurl -plaintext -d ");
    put_word(wr_str_of(json), out);
    fprintf(out, " " ADDRESS " " METHOD "\nweirctl check %s", has_dash ? "-- " : "");
    put_word(call->domain, out);
    fprintf(out, " ");
    put_word(wr_str_of(descriptor), out);
    fprintf(out, "\n");
}

static bool print(const struct call *call, FILE *out)
{
    char *const json = json_of(call);
    char *const descriptor = descriptor_of(call);
    const bool is_made = json != NULL && descriptor != NULL;

    if (is_made) {
        put_calls(call, json, descriptor, out);
    }
    free(json);
    free(descriptor);
    return is_made;
}

static bool print_of_file(const char *path, const struct wr_config_bounds *bounds,
                          struct wr_diag *diag, FILE *out)
{
    static const struct wr_example_bounds typed = {.max_entries = MAX_ENTRIES, .is_typed = true};
    struct wr_draft draft = {0};
    struct call call;
    struct wr_arena arena;
    bool is_printed = false;

    wr_arena_init(&arena, ARENA_BYTES);
    if (wr_draft_file_read(path, bounds, &arena, diag, &draft) == WR_OK) {
        call.domain = draft.domain;
        call.n_entries = wr_example_find(&draft, &typed, &arena, call.entries);
        is_printed = call.n_entries > 0 && print(&call, out);
    }
    wr_arena_fini(&arena);
    return is_printed;
}

int wr_example(const struct wr_command_line *line, FILE *out, FILE *err)
{
    static const struct wr_file_choice choice = {0};
    const struct wr_load_options load = wr_load_options_of(&line->options);
    struct wr_file_list files = {0};
    struct wr_diag diag;
    enum wr_err listed = WR_OK;
    bool is_printed = false;

    if (line->n_operands == 0) {
        fprintf(err, "weir example: name the files or directories to make one for\n");
        return EX_USAGE;
    }
    wr_diag_init(&diag, MAX_NOTES);
    for (size_t i = 0; i < line->n_operands && listed != WR_ERR_NO_MEMORY; i++) {
        listed = wr_file_list_add(&files, line->operands[i], &choice, &diag); /* noted */
    }
    for (size_t i = 0; i < files.n && !is_printed; i++) {
        is_printed = print_of_file(files.paths[i], &load.bounds, &diag, out);
    }
    if (!is_printed) {
        wr_diag_print(&diag, err);
        fprintf(err, "weir example: no file has a limit that a call can be made for\n");
    }
    wr_file_list_fini(&files);
    wr_diag_fini(&diag);
    return is_printed ? EX_OK : 1;
}
