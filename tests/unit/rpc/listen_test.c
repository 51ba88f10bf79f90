/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/listen.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct wr_diag diag;
static char folder[] = "/tmp/listen_test.XXXXXX";
static char path[64], address_of_path[80];

static void set_up(void)
{
    wr_diag_init(&diag, 8);
    cr_assert_not_null(mkdtemp(folder));
    (void) snprintf(path, sizeof path, "%s/socket", folder);
    (void) snprintf(address_of_path, sizeof address_of_path, "unix:%s", path);
}

static void tear_down(void)
{
    wr_diag_fini(&diag);
    (void) unlink(path);
    (void) rmdir(folder);
}

TestSuite(listen, .init = set_up, .fini = tear_down);

static enum wr_err open_one(const char *text, struct wr_listen **out_listen)
{
    const struct wr_str address = wr_str_of(text);
    const struct wr_listen_options options = {
        .addresses = &address, .n_addresses = 1, .option = "--grpc-listen"};

    return wr_listen_open(&options, &diag, out_listen);
}

static struct wr_listen *must_open(const char *text)
{
    struct wr_listen *listen = NULL;

    cr_assert_eq(open_one(text, &listen), WR_OK, "%s", text);
    return listen;
}

/* The first note, as a person sees it. */
static const char *note(void)
{
    static char line[1024];

    cr_assert_not_null(diag.first);
    wr_note_format(diag.first, line, sizeof line);
    return line;
}

static void expect_note(const char *part)
{
    cr_assert_not_null(strstr(note(), part), "\"%s\" is not in: %s", part, note());
}

static int connect_to(const struct wr_address *address)
{
    const int fd = socket(address->storage.ss_family, SOCK_STREAM, 0);

    cr_assert_geq(fd, 0);
    if (connect(fd, (const struct sockaddr *) &address->storage, address->len) != 0) {
        (void) close(fd);
        return -1;
    }
    return fd;
}

static bool answers(const struct wr_address *address)
{
    const int fd = connect_to(address);

    if (fd >= 0) {
        (void) close(fd);
    }
    return fd >= 0;
}

Test(listen, takes_a_free_port_for_0_and_tells_which)
{
    static const char *const texts[] = {"127.0.0.1:0", "localhost:0", "0.0.0.0:0", ":0", "[::]:0"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct wr_listen *const listen = must_open(texts[i]);
        char text[WR_ADDRESS_TEXT_SIZE];

        cr_assert_eq(wr_listen_count(listen), 1);
        wr_address_format(wr_listen_address(listen, 0), text);
        cr_assert_null(strstr(text, ":0"), "%s", text);
        cr_assert(answers(wr_listen_address(listen, 0)), "%s", text);
        wr_listen_close(listen);
    }
}

Test(listen, on_all_addresses_hears_IPv4_too)
{
    struct wr_listen *const listen = must_open("[::]:0");
    const struct sockaddr_in6 *const bound = (const void *) &wr_listen_address(listen, 0)->storage;
    struct sockaddr_in loopback = {.sin_family = AF_INET,
                                   .sin_port = bound->sin6_port,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct wr_address v4 = {.len = sizeof loopback};

    memcpy(&v4.storage, &loopback, sizeof loopback);
    cr_assert(answers(&v4));
    wr_listen_close(listen);
}

Test(listen, refuses_a_port_that_is_taken)
{
    struct wr_listen *const first = must_open("127.0.0.1:0");
    struct wr_listen *second = NULL;
    char text[WR_ADDRESS_TEXT_SIZE];

    wr_address_format(wr_listen_address(first, 0), text);
    cr_assert_eq(open_one(text, &second), WR_ERR_EXISTS);
    cr_assert_null(second);
    expect_note("--grpc-listen: error: ");
    expect_note(text);
    expect_note("in use by another process; stop that process, or choose another port");
    wr_listen_close(first);
    wr_listen_close(must_open(text));
}

Test(listen, reopens_a_port_whose_connections_linger)
{
    struct wr_listen *first = must_open("127.0.0.1:0");
    const struct wr_address address = *wr_listen_address(first, 0);
    const int client = connect_to(&address);
    int server = -1;
    char text[WR_ADDRESS_TEXT_SIZE];

    while (server < 0) {
        server = accept(wr_listen_fd(first, 0), NULL, NULL);
    }
    wr_listen_close(first);
    (void) close(server); /* first to close: it lingers in TIME_WAIT */
    (void) close(client);
    wr_address_format(&address, text);
    wr_listen_close(must_open(text));
}

Test(listen, names_the_option_and_the_address_that_is_none)
{
    struct wr_listen *listen = NULL;

    cr_assert_eq(open_one("not-a-host", &listen), WR_ERR_INVALID);
    expect_note("--grpc-listen: error: not-a-host is neither HOST:PORT nor unix:PATH");
}

Test(listen, opens_all_or_none)
{
    const struct wr_str addresses[] = {wr_str_of(address_of_path), wr_str_of("nonsense")};
    const struct wr_listen_options options = {
        .addresses = addresses, .n_addresses = 2, .option = "--grpc-listen"};
    struct wr_listen *listen = NULL;
    struct stat now;

    cr_assert_eq(wr_listen_open(&options, &diag, &listen), WR_ERR_INVALID);
    cr_assert_null(listen);
    cr_assert_neq(stat(path, &now), 0, "the first socket's file is gone again");
}

Test(listen, makes_a_Unix_socket_with_its_mode_and_removes_it)
{
    const struct wr_str address = wr_str_of(address_of_path);
    const struct wr_listen_options options = {
        .addresses = &address, .n_addresses = 1, .option = "--grpc-listen", .unix_mode = 0600};
    struct wr_listen *listen = NULL;
    struct stat made;

    cr_assert_eq(wr_listen_open(&options, &diag, &listen), WR_OK);
    cr_assert_eq(stat(path, &made), 0);
    cr_assert(S_ISSOCK(made.st_mode));
    cr_assert_eq(made.st_mode & 0777, 0600);
    cr_assert(answers(wr_listen_address(listen, 0)));
    wr_listen_close(listen);
    cr_assert_neq(stat(path, &made), 0);
}

Test(listen, leaves_a_live_Unix_socket_alone)
{
    struct wr_listen *const first = must_open(address_of_path);
    struct wr_listen *second = NULL;

    cr_assert_eq(open_one(address_of_path, &second), WR_ERR_EXISTS);
    expect_note("in use by another process");
    cr_assert(answers(wr_listen_address(first, 0)));
    wr_listen_close(first);
}

Test(listen, replaces_a_dead_Unix_socket)
{
    const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path));
    cr_assert_eq(bind(dead, (const struct sockaddr *) &address, sizeof address), 0);
    (void) close(dead);

    struct wr_listen *const listen = must_open(address_of_path);

    cr_assert(answers(wr_listen_address(listen, 0)));
    wr_listen_close(listen);
}

Test(listen, does_not_touch_a_file_that_is_no_socket)
{
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    struct wr_listen *listen = NULL;
    struct stat now;

    (void) close(fd);
    cr_assert_eq(open_one(address_of_path, &listen), WR_ERR_EXISTS);
    expect_note("exists and is not a socket");
    cr_assert_eq(stat(path, &now), 0);
}

Test(listen, keeps_a_successors_file_at_close)
{
    struct wr_listen *const first = must_open(address_of_path);
    struct stat now;

    cr_assert_eq(unlink(path), 0);

    struct wr_listen *const second = must_open(address_of_path);

    wr_listen_close(first);
    cr_assert_eq(stat(path, &now), 0, "it is the second's");
    cr_assert(answers(wr_listen_address(second, 0)));
    wr_listen_close(second);
}

Test(listen, says_that_a_folder_is_missing)
{
    struct wr_listen *listen = NULL;

    cr_assert_eq(open_one("unix:/nowhere/at/all/socket", &listen), WR_ERR_SYSTEM);
    expect_note("create the directory");
}
