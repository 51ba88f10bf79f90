/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

#define MAX_DATABASE 65535
#define MAX_DIGITS 5 /* of a database, or a port */
#define MAX_SHOWN_PORT 99999

/* What a parse is about: filled from the left to the right of the text. */
struct parse {
    const struct wr_redis_target_texts *texts;
    struct wr_arena *arena;
    struct wr_redis_target *target;
    char *message;
};

__attribute__((format(printf, 2, 3))) static enum wr_err refuse(const struct parse *parse,
                                                                const char *format, ...)
{
    const int used =
        snprintf(parse->message, WR_REDIS_TARGET_MESSAGE_SIZE, "%s ", parse->texts->url_option);
    va_list list;

    va_start(list, format);
    (void) vsnprintf(parse->message + used, WR_REDIS_TARGET_MESSAGE_SIZE - (size_t) used, format,
                     list);
    va_end(list);
    return WR_ERR_INVALID;
}

static enum wr_err no_memory(const struct parse *parse)
{
    (void) refuse(parse, "could not be read: out of memory");
    return WR_ERR_NO_MEMORY;
}

/* A NUL-terminated copy in the arena; NULL when memory is out. */
static char *copy_text(const struct parse *parse, struct wr_str text)
{
    char *const copy = wr_arena_alloc(parse->arena, text.len + 1);

    if (copy != NULL) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

static size_t last_place_of(struct wr_str text, char sign)
{
    for (size_t i = text.len; i-- > 0;) {
        if (text.ptr[i] == sign) {
            return i;
        }
    }
    return text.len;
}

static bool take_prefix(struct wr_str *text, const char *prefix)
{
    const struct wr_str begin = wr_str_of(prefix);

    if (!wr_str_has_prefix(*text, begin)) {
        return false;
    }
    *text = wr_str_skip(*text, begin.len);
    return true;
}

static bool parse_number(struct wr_str text, unsigned max, unsigned *out_number)
{
    uint64_t number = 0;

    if (text.len > MAX_DIGITS || !wr_number_parse(text, max, &number)) {
        return false;
    }
    *out_number = (unsigned) number;
    return true;
}

static int hex_digit(char sign)
{
    if (sign >= '0' && sign <= '9') {
        return sign - '0';
    }
    if (sign >= 'a' && sign <= 'f') {
        return sign - 'a' + 10;
    }
    return sign >= 'A' && sign <= 'F' ? sign - 'A' + 10 : -1;
}

/* Undoes %XX in place, as RFC 3986 has it for what stands before an @. */
static bool decode_percent(char *text)
{
    char *out = text;

    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '%') {
            *out++ = *at;
            continue;
        }

        const int high = hex_digit(at[1]);
        const int low = high < 0 ? -1 : hex_digit(at[2]);

        if (low < 0 || (high == 0 && low == 0)) {
            return false;
        }
        *out++ = (char) (high * 16 + low);
        at += 2;
    }
    *out = '\0';
    return true;
}

/* Splits at the first colon; without one all is the password. */
static enum wr_err parse_login(const struct parse *parse, struct wr_str text, bool is_escaped,
                               struct wr_redis_login *out_login)
{
    const size_t colon = wr_str_find(text, ':');
    const bool has_user = colon < text.len;
    char *const user = has_user && colon > 0 ? copy_text(parse, wr_str_part(text, 0, colon)) : NULL;
    char *const password = copy_text(parse, has_user ? wr_str_skip(text, colon + 1) : text);

    if (password == NULL || (has_user && colon > 0 && user == NULL)) {
        return no_memory(parse);
    }
    if (is_escaped && ((user != NULL && !decode_percent(user)) || !decode_percent(password))) {
        return refuse(parse, "has a %% in user or password that no two hex digits follow");
    }
    *out_login = (struct wr_redis_login){.user = user, .password = password};
    return WR_OK;
}

static enum wr_err refuse_several(const struct parse *parse)
{
    return refuse(parse, "names several servers, but the type is single; for several it is "
                         "sentinel or cluster (--redis-type, --redis-per-second-type)");
}

/* Digits and colons, perhaps with an IPv4 address or a zone at the end. */
static bool is_v6_like(struct wr_str text)
{
    const size_t end = wr_str_find(text, '%');

    for (size_t i = 0; i < end; i++) {
        if (hex_digit(text.ptr[i]) < 0 && text.ptr[i] != ':' && text.ptr[i] != '.') {
            return false;
        }
    }
    return true;
}

/* What a host without brackets cannot have, and what its writer took it for. */
static enum wr_err check_colons(const struct parse *parse, struct wr_str text)
{
    if (last_place_of(text, ':') == wr_str_find(text, ':')) {
        return WR_OK;
    }
    return refuse(parse, is_v6_like(text)
                             ? "has an IPv6 address without brackets; write [ADDRESS]:PORT"
                             : "has more than one colon in a HOST:PORT; a user or password needs "
                               "redis:// before it: redis://USER:PASSWORD@HOST:PORT");
}

/* Only digits behind the / are shown: who writes no redis:// may mean a password. */
static enum wr_err refuse_slash(const struct parse *parse, struct wr_str text)
{
    static const char remedy[] = "needs redis:// before it: redis://HOST:PORT/DATABASE";
    const size_t slash = wr_str_find(text, '/');
    unsigned database = 0;

    return parse_number(wr_str_skip(text, slash + 1), MAX_DATABASE, &database)
               ? refuse(parse, "has a database, /%u, behind a HOST:PORT, which %s", database,
                        remedy)
               : refuse(parse, "has a / behind a HOST:PORT; a database %s", remedy);
}

/* The same of any host. None of it is shown: it may hold a password. */
static enum wr_err check_host(const struct parse *parse, struct wr_str text)
{
    const bool is_sentinel = parse->target->topology == WR_REDIS_SENTINEL;

    if (is_sentinel && (wr_str_find(text, '@') < text.len || wr_str_find(text, '/') < text.len)) {
        return refuse(parse, "has more than HOST:PORT of a sentinel; user and password of "
                             "sentinels have options of their own (--redis-sentinel-auth, "
                             "--redis-per-second-sentinel-auth)");
    }
    if (wr_str_find(text, '@') < text.len) {
        return refuse(parse, "has a user or password without redis:// before it; write "
                             "redis://USER:PASSWORD@HOST:PORT");
    }
    if (wr_str_find(text, '/') < text.len) {
        return refuse_slash(parse, text);
    }
    return wr_str_find(text, ',') < text.len ? refuse_several(parse) : WR_OK;
}

/* A number that no port has is shown; what is no number may be a password. */
static enum wr_err refuse_port(const struct parse *parse, struct wr_str text)
{
    unsigned number = 0;

    return parse_number(text, MAX_SHOWN_PORT, &number)
               ? refuse(parse, "has the port %u, which is no number from 1 to %d", number,
                        UINT16_MAX)
               : refuse(
                     parse,
                     "has a port that is no number from 1 to %d; allowed is HOST:PORT, and "
                     "user and password stand before an @, as in redis://USER:PASSWORD@HOST:PORT",
                     UINT16_MAX);
}

/* What stands behind a host: nothing, or a port. */
static enum wr_err parse_port(const struct parse *parse, struct wr_str text, uint16_t *out_port)
{
    unsigned number = 0;

    if (text.len == 0) {
        return WR_OK;
    }
    if (text.ptr[0] != ':' || !parse_number(wr_str_skip(text, 1), UINT16_MAX, &number) ||
        number == 0) {
        return refuse_port(parse, wr_str_skip(text, 1));
    }
    *out_port = (uint16_t) number;
    return WR_OK;
}

static enum wr_err parse_host(const struct parse *parse, struct wr_str text, uint16_t port,
                              struct wr_redis_address *out_address)
{
    const size_t bracket = text.len > 0 && text.ptr[0] == '[' ? wr_str_find(text, ']') : text.len;
    const bool is_v6 = bracket < text.len;
    struct wr_str host = is_v6 ? wr_str_part(text, 1, bracket) : text;
    struct wr_str rest = is_v6 ? wr_str_skip(text, bracket + 1) : (struct wr_str){text.ptr, 0};
    enum wr_err err = check_host(parse, text);

    if (err == WR_OK && !is_v6) {
        err = check_colons(parse, text);
    }
    if (err != WR_OK) {
        return err;
    }
    if (!is_v6) {
        const size_t colon = wr_str_find(text, ':');

        host = wr_str_part(text, 0, colon);
        rest = wr_str_skip(text, colon);
    }
    if (host.len == 0) {
        return refuse(parse, "has no host; allowed is HOST:PORT, redis://HOST:PORT or a path "
                             "that begins with /");
    }
    err = parse_port(parse, rest, &port);
    if (err != WR_OK) {
        return err;
    }
    *out_address = (struct wr_redis_address){.host = copy_text(parse, host), .port = port};
    return out_address->host == NULL ? no_memory(parse) : WR_OK;
}

static enum wr_err parse_database(const struct parse *parse, struct wr_str text)
{
    if (!parse_number(text, MAX_DATABASE, &parse->target->database)) {
        return refuse(parse, "has a database that is no number from 0 to %d", MAX_DATABASE);
    }
    return WR_OK;
}

/* What stands before the last @ logs in; the rest is left in `*text`. */
static enum wr_err take_login(const struct parse *parse, struct wr_str *text)
{
    const size_t at = last_place_of(*text, '@');

    if (at == text->len) {
        return WR_OK;
    }

    const struct wr_str login = wr_str_part(*text, 0, at);

    *text = wr_str_skip(*text, at + 1);
    return parse_login(parse, login, true, &parse->target->login);
}

static enum wr_err parse_path(const struct parse *parse, struct wr_str text,
                              struct wr_redis_address *out_address)
{
    static const struct wr_str database = WR_STR("db=");
    const size_t mark = wr_str_find(text, '?');
    const struct wr_str path = wr_str_part(text, 0, mark);

    if (path.len == 0) {
        return refuse(parse, "has no path of a Unix socket");
    }
    if (mark < text.len) {
        const struct wr_str query = wr_str_skip(text, mark + 1);

        if (!wr_str_has_prefix(query, database)) {
            return refuse(parse, "has something else than db=DATABASE behind the ?");
        }

        const enum wr_err err = parse_database(parse, wr_str_skip(query, database.len));

        if (err != WR_OK) {
            return err;
        }
    }
    *out_address = (struct wr_redis_address){.host = copy_text(parse, path)};
    return out_address->host == NULL ? no_memory(parse) : WR_OK;
}

/* HOST:PORT, perhaps with what a redis:// URL has around it. */
static enum wr_err parse_server(const struct parse *parse, struct wr_str text,
                                struct wr_redis_address *out_address)
{
    const bool is_secure = take_prefix(&text, "rediss://");
    const bool is_url = is_secure || take_prefix(&text, "redis://");

    if (!is_url && strstr(parse->texts->url, "://") != NULL && wr_str_find(text, '/') < text.len &&
        text.ptr[0] != '/') {
        return refuse(parse, "has an unknown scheme; allowed are redis://, rediss:// and unix://");
    }
    parse->target->has_tls |= is_secure;
    if (is_url) {
        enum wr_err err = take_login(parse, &text);
        const size_t slash = wr_str_find(text, '/');

        if (err == WR_OK && slash + 1 < text.len) {
            err = parse_database(parse, wr_str_skip(text, slash + 1));
        }
        if (err != WR_OK) {
            return err;
        }
        text = wr_str_part(text, 0, slash);
    }
    return parse_host(parse, text, WR_REDIS_PORT, out_address);
}

static bool is_path(const struct parse *parse, struct wr_str *text)
{
    const bool has_scheme = take_prefix(text, "redis+unix:") || take_prefix(text, "unix:");

    if (has_scheme) {
        (void) take_prefix(text, "//");
        return true;
    }
    return parse->texts->socket_type == WR_REDIS_SOCKET_UNIX ||
           (text->len > 0 && text->ptr[0] == '/');
}

/* What nobody calls a socket: something without a slash that ends with a port. */
static bool is_host_and_port(struct wr_str text)
{
    const size_t colon = last_place_of(text, ':');
    unsigned port = 0;

    return wr_str_find(text, '/') == text.len && colon < text.len &&
           parse_number(wr_str_skip(text, colon + 1), UINT16_MAX, &port);
}

/* One server's URL can have commas, but no slash unless it is escaped. */
static bool has_several_urls(const char *text)
{
    return strstr(text, ",redis://") != NULL || strstr(text, ",rediss://") != NULL;
}

static enum wr_err parse_single(const struct parse *parse, struct wr_str text,
                                struct wr_redis_address *addresses)
{
    parse->target->n_addresses = 1;
    if (has_several_urls(parse->texts->url)) {
        return refuse_several(parse);
    }
    if (parse->texts->socket_type == WR_REDIS_SOCKET_UNIX && is_host_and_port(text)) {
        return refuse(parse, "is a host and a port, but the socket type is unix");
    }
    if (!is_path(parse, &text)) {
        return parse_server(parse, text, addresses);
    }
    if (parse->texts->socket_type == WR_REDIS_SOCKET_TCP) {
        return refuse(parse, "is the path of a Unix socket, but the socket type is tcp");
    }

    const enum wr_err err = take_login(parse, &text);

    return err != WR_OK ? err : parse_path(parse, text, addresses);
}

/* The next item of a list parted by commas, blanks around it left out. */
static struct wr_str take_item(struct wr_str *list)
{
    const size_t comma = wr_str_find(*list, ',');
    struct wr_str item = wr_str_part(*list, 0, comma);

    *list = wr_str_skip(*list, comma < list->len ? comma + 1 : comma);
    while (item.len > 0 && item.ptr[0] == ' ') {
        item = wr_str_skip(item, 1);
    }
    while (item.len > 0 && item.ptr[item.len - 1] == ' ') {
        item.len--;
    }
    return item;
}

static enum wr_err parse_list(const struct parse *parse, struct wr_str list,
                              struct wr_redis_address *addresses)
{
    const bool is_sentinel = parse->target->topology == WR_REDIS_SENTINEL;

    while (list.len > 0) {
        const struct wr_str item = take_item(&list);
        struct wr_redis_address *const address = &addresses[parse->target->n_addresses];
        const enum wr_err err = is_sentinel
                                    ? parse_host(parse, item, WR_REDIS_SENTINEL_PORT, address)
                                    : parse_server(parse, item, address);

        if (err != WR_OK) {
            return err;
        }
        parse->target->n_addresses++;
    }
    return WR_OK;
}

static enum wr_err parse_sentinel(const struct parse *parse, struct wr_str text,
                                  struct wr_redis_address *addresses)
{
    const struct wr_str name = take_item(&text);

    if (name.len == 0 || text.len == 0 || wr_str_find(name, '/') < name.len ||
        wr_str_find(name, '@') < name.len) {
        return refuse(parse, "does not name a primary and its sentinels; with type sentinel "
                             "allowed is NAME,HOST:PORT[,HOST:PORT…]");
    }
    parse->target->primary_name = copy_text(parse, name);
    if (parse->target->primary_name == NULL) {
        return no_memory(parse);
    }
    return parse_list(parse, text, addresses);
}

static enum wr_err parse_cluster(const struct parse *parse, struct wr_str text,
                                 struct wr_redis_address *addresses)
{
    const enum wr_err err = parse_list(parse, text, addresses);

    if (err == WR_OK && parse->target->database != 0) {
        return refuse(parse, "chooses a database, but in a cluster weir uses 0 alone");
    }
    return err;
}

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static enum wr_err parse_logins(const struct parse *parse)
{
    const struct wr_redis_target_texts *const texts = parse->texts;
    enum wr_err err = WR_OK;

    if (is_given(texts->auth)) {
        err = parse_login(parse, wr_str_of(texts->auth), false, &parse->target->login);
    }
    if (err == WR_OK && is_given(texts->sentinel_auth)) {
        err = parse_login(parse, wr_str_of(texts->sentinel_auth), false,
                          &parse->target->sentinel_login);
    }
    return err;
}

enum wr_err wr_redis_target_parse(const struct wr_redis_target_texts *texts, struct wr_arena *arena,
                                  struct wr_redis_target *out_target,
                                  char message[WR_REDIS_TARGET_MESSAGE_SIZE])
{
    static enum wr_err (*const parsers[])(const struct parse *, struct wr_str,
                                          struct wr_redis_address *) = {
        [WR_REDIS_SINGLE] = parse_single,
        [WR_REDIS_SENTINEL] = parse_sentinel,
        [WR_REDIS_CLUSTER] = parse_cluster,
    };
    const struct parse parse = {
        .texts = texts, .arena = arena, .target = out_target, .message = message};

    *out_target = (struct wr_redis_target){
        .topology = texts->topology,
        .has_tls = texts->has_tls,
        .has_sentinel_tls = texts->has_sentinel_tls,
    };
    if (!is_given(texts->url)) {
        return refuse(&parse, "is needed: it says where the store is, as redis://HOST:PORT");
    }

    const struct wr_str url = wr_str_of(texts->url);
    size_t n = 1;

    for (size_t i = 0; i < url.len; i++) {
        n += url.ptr[i] == ',';
    }

    struct wr_redis_address *const addresses = wr_arena_calloc(arena, n, sizeof *addresses);

    if (addresses == NULL) {
        return no_memory(&parse);
    }
    out_target->addresses = addresses;

    const enum wr_err err = parsers[texts->topology](&parse, url, addresses);

    return err != WR_OK ? err : parse_logins(&parse);
}
