/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/target.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"

struct desk {
    struct wr_arena arena;
    struct wr_redis_target target;
    char message[WR_REDIS_TARGET_MESSAGE_SIZE];
};

static enum wr_err parse(struct desk *desk, const struct wr_redis_target_texts *texts)
{
    struct wr_redis_target_texts named = *texts;

    named.url_option = "--redis-url";
    wr_arena_init(&desk->arena, 1024);
    desk->message[0] = '\0';
    return wr_redis_target_parse(&named, &desk->arena, &desk->target, desk->message);
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

Test(redis_target, single)
{
    static const struct {
        const char *url, *host, *user, *password;
        uint16_t port;
        unsigned database;
        bool has_tls;
    } rows[] = {
        {"redis", "redis", NULL, NULL, 6379, 0, false},
        {"redis:7000", "redis", NULL, NULL, 7000, 0, false},
        {"10.0.0.1:1", "10.0.0.1", NULL, NULL, 1, 0, false},
        {"[::1]:65535", "::1", NULL, NULL, 65535, 0, false},
        {"[::1]", "::1", NULL, NULL, 6379, 0, false},
        {"redis://cache", "cache", NULL, NULL, 6379, 0, false},
        {"redis://cache/", "cache", NULL, NULL, 6379, 0, false},
        {"redis://cache:2/7", "cache", NULL, NULL, 2, 7, false},
        {"rediss://cache:2", "cache", NULL, NULL, 2, 0, true},
        {"redis://:secret@cache", "cache", NULL, "secret", 6379, 0, false},
        {"redis://secret@cache", "cache", NULL, "secret", 6379, 0, false},
        {"redis://ann:s%40c%3Aret@cache:2/1", "cache", "ann", "s@c:ret", 2, 1, false},
        {"redis://ann:a@b@cache", "cache", "ann", "a@b", 6379, 0, false},
        {"rediss://ann:pw@[fe80::1]:3/15", "fe80::1", "ann", "pw", 3, 15, true},
        {"/run/redis.sock", "/run/redis.sock", NULL, NULL, 0, 0, false},
        {"unix:/run/r.sock", "/run/r.sock", NULL, NULL, 0, 0, false},
        {"unix:///run/r.sock", "/run/r.sock", NULL, NULL, 0, 0, false},
        {"unix://ann:pw@/run/r.sock?db=3", "/run/r.sock", "ann", "pw", 0, 3, false},
        {"redis+unix:///r", "/r", NULL, NULL, 0, 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;
        const struct wr_redis_target_texts texts = {.url = rows[i].url};

        cr_assert_eq(parse(&desk, &texts), WR_OK, "%s: %s", rows[i].url, desk.message);
        cr_assert_eq(desk.target.n_addresses, 1);
        cr_assert(same(desk.target.addresses[0].host, rows[i].host), "%s", rows[i].url);
        cr_assert_eq(desk.target.addresses[0].port, rows[i].port, "%s", rows[i].url);
        cr_assert(same(desk.target.login.user, rows[i].user), "%s", rows[i].url);
        cr_assert(same(desk.target.login.password, rows[i].password), "%s", rows[i].url);
        cr_assert_eq(desk.target.database, rows[i].database, "%s", rows[i].url);
        cr_assert_eq(desk.target.has_tls, rows[i].has_tls, "%s", rows[i].url);
        wr_arena_fini(&desk.arena);
    }
}

Test(redis_target, sentinel)
{
    struct desk desk;
    const struct wr_redis_target_texts texts = {
        .url = "mymaster, s1:1,s2, [::1]:9",
        .topology = WR_REDIS_SENTINEL,
        .auth = "ann:p:w%40",
        .sentinel_auth = "other",
    };

    cr_assert_eq(parse(&desk, &texts), WR_OK, "%s", desk.message);
    cr_assert_str_eq(desk.target.primary_name, "mymaster");
    cr_assert_eq(desk.target.n_addresses, 3);
    cr_assert_str_eq(desk.target.addresses[0].host, "s1");
    cr_assert_eq(desk.target.addresses[0].port, 1);
    cr_assert_eq(desk.target.addresses[1].port, WR_REDIS_SENTINEL_PORT);
    cr_assert_str_eq(desk.target.addresses[2].host, "::1");
    cr_assert_str_eq(desk.target.login.user, "ann");
    cr_assert_str_eq(desk.target.login.password, "p:w%40");
    cr_assert_null(desk.target.sentinel_login.user);
    cr_assert_str_eq(desk.target.sentinel_login.password, "other");
    wr_arena_fini(&desk.arena);
}

Test(redis_target, cluster)
{
    struct desk desk;
    const struct wr_redis_target_texts texts = {
        .url = "a:1,rediss://ann:pw@b:2",
        .topology = WR_REDIS_CLUSTER,
    };

    cr_assert_eq(parse(&desk, &texts), WR_OK, "%s", desk.message);
    cr_assert_eq(desk.target.n_addresses, 2);
    cr_assert_str_eq(desk.target.addresses[0].host, "a");
    cr_assert_str_eq(desk.target.addresses[1].host, "b");
    cr_assert_eq(desk.target.addresses[1].port, 2);
    cr_assert(desk.target.has_tls);
    cr_assert_str_eq(desk.target.login.password, "pw");
    wr_arena_fini(&desk.arena);
}

Test(redis_target, refused)
{
    static const struct {
        struct wr_redis_target_texts texts;
        const char *says;
    } rows[] = {
        {{.url = NULL}, "is needed"},
        {{.url = ""}, "is needed"},
        {{.url = ":7"}, "no host"},
        {{.url = "redis://"}, "no host"},
        {{.url = "a:0"}, "has the port 0, which is no number from 1 to 65535"},
        {{.url = "a:65536"}, "has the port 65536, which is no number from 1 to 65535"},
        {{.url = "a:655360"}, "has a port that is no number from 1 to 65535"},
        {{.url = "a:x"}, "has a port that is no number from 1 to 65535; allowed is HOST:PORT"},
        {{.url = "a:sesame"}, "user and password stand before an @, as in redis://USER:PASSWORD@"},
        {{.url = "redis://u:sesame"}, "has a port that is no number from 1 to 65535"},
        {{.url = "redis://u:sesame/1"}, "has a port that is no number from 1 to 65535"},
        {{.url = "a:"}, "port"},
        {{.url = "127.0.0.1:6379/1"}, "has a database, /1, behind a HOST:PORT"},
        {{.url = "127.0.0.1:6379/1"}, "before it: redis://HOST:PORT/DATABASE"},
        {{.url = "[::1]:6379/12"}, "has a database, /12, behind a HOST:PORT"},
        {{.url = "a/1"}, "has a database, /1, behind a HOST:PORT"},
        {{.url = "a:1/"}, "has a / behind a HOST:PORT"},
        {{.url = "a:1/sesame"}, "has a / behind a HOST:PORT"},
        {{.url = "u:sesame/1/2"}, "has a / behind a HOST:PORT"},
        {{.url = "u:1/sesame@h:2"}, "without redis:// before it"},
        {{.url = "a:1,b:1/0", .topology = WR_REDIS_CLUSTER}, "has a database, /0, behind"},
        {{.url = "::1:5"}, "brackets"},
        {{.url = "fe80::1%eth0"}, "brackets"},
        {{.url = "::ffff:192.0.2.1"}, "brackets"},
        {{.url = "[::1]5"}, "port"},
        {{.url = "h:1:2"}, "more than one colon in a HOST:PORT; a user or password needs redis://"},
        {{.url = "u:sesame@h:1"}, "without redis:// before it; write redis://USER:PASSWORD@HOST"},
        {{.url = "sesame@h"}, "without redis:// before it"},
        {{.url = "sesame@/path"}, "without redis:// before it"},
        {{.url = "u:sesame@[::1]:1"}, "without redis:// before it"},
        {{.url = "h:1,g:2"}, "names several servers, but the type is single"},
        {{.url = "h,g"}, "sentinel or cluster (--redis-type, --redis-per-second-type)"},
        {{.url = "[::1]:1,[::2]:2"}, "names several servers"},
        {{.url = "redis://h:1,g:2"}, "names several servers"},
        {{.url = "redis://u:sesame@h:1,redis://u:sesame@g:2"}, "names several servers"},
        {{.url = "rediss://h:1,rediss://g:2"}, "names several servers"},
        {{.url = "http://a"}, "scheme"},
        {{.url = "redis://a/x"}, "database"},
        {{.url = "redis://a/65536"}, "database"},
        {{.url = "redis://sesame%4@a"}, "hex"},
        {{.url = "redis://sesame%00@a"}, "hex"},
        {{.url = "unix:"}, "path"},
        {{.url = "/a?x=1"}, "db=DATABASE"},
        {{.url = "/a", .socket_type = WR_REDIS_SOCKET_TCP}, "socket type is tcp"},
        {{.url = "a:1", .socket_type = WR_REDIS_SOCKET_UNIX}, "socket type is unix"},
        {{.url = "a:1", .topology = WR_REDIS_SENTINEL}, "NAME,HOST:PORT"},
        {{.url = "m,", .topology = WR_REDIS_SENTINEL}, "NAME,HOST:PORT"},
        {{.url = "m,a,,b", .topology = WR_REDIS_SENTINEL}, "no host"},
        {{.url = "u:sesame@m,a", .topology = WR_REDIS_SENTINEL}, "NAME,HOST:PORT"},
        {{.url = "m,u:sesame@a:1", .topology = WR_REDIS_SENTINEL}, "--redis-sentinel-auth"},
        {{.url = "m,redis://a:1", .topology = WR_REDIS_SENTINEL}, "HOST:PORT of a sentinel"},
        {{.url = "m,h:1:2", .topology = WR_REDIS_SENTINEL}, "more than one colon"},
        {{.url = "a,u:sesame@b:1", .topology = WR_REDIS_CLUSTER}, "without redis:// before it"},
        {{.url = "redis://sesame@a/2,b", .topology = WR_REDIS_CLUSTER}, "uses 0 alone"},
        {{.url = "a,b:x", .topology = WR_REDIS_CLUSTER}, "port"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        cr_assert_eq(parse(&desk, &rows[i].texts), WR_ERR_INVALID, "row %zu", i);
        cr_assert_not_null(strstr(desk.message, rows[i].says), "row %zu: %s", i, desk.message);
        cr_assert_not_null(strstr(desk.message, "--redis-url"), "row %zu: %s", i, desk.message);
        cr_assert_null(strstr(desk.message, "sesame"), "row %zu: %s", i, desk.message);
        wr_arena_fini(&desk.arena);
    }
}

Test(redis_target, socket_type_unix_takes_a_bare_path)
{
    struct desk desk;
    const struct wr_redis_target_texts texts = {.url = "redis.sock",
                                                .socket_type = WR_REDIS_SOCKET_UNIX};

    cr_assert_eq(parse(&desk, &texts), WR_OK, "%s", desk.message);
    cr_assert_str_eq(desk.target.addresses[0].host, "redis.sock");
    cr_assert_eq(desk.target.addresses[0].port, 0);
    wr_arena_fini(&desk.arena);
}
