/* SPDX-License-Identifier: Apache-2.0 */
#include "listeners.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "rpc/listen.h"
#include "tests/support/capture.h"

static struct wr_options options;
static struct wr_listen *sockets;
static struct capture capture;
static char folder[] = "/tmp/weir-listeners-XXXXXX", port_file[64];

static void listen_on(const char *address)
{
    options.grpc_listen.items[options.grpc_listen.n++] = address;
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    (void) snprintf(port_file, sizeof port_file, "%s/ports", folder);
    options = (struct wr_options){
        .grpc_host = "127.0.0.1", .grpc_uds = "", .port_file = port_file, .unix_socket_mode = 0660};
    sockets = NULL;
}

static void remove_folder(void)
{
    wr_listen_close(sockets);
    (void) unlink(port_file);
    cr_assert_eq(rmdir(folder), 0, "a file was left");
}

TestSuite(listeners, .init = make_folder, .fini = remove_folder);

/* As a server that is gone has left it. */
static void leave_port_file(void)
{
    FILE *const file = fopen(port_file, "we");

    cr_assert_not_null(file);
    cr_assert_gt(fprintf(file, "grpc 127.0.0.1:1\n"), 0);
    cr_assert_eq(fclose(file), 0);
}

static int open_captured(struct wr_listen **out_sockets)
{
    capture_start(&capture);

    const int code = wr_listeners_open(&options, out_sockets);

    capture_stop(&capture);
    return code;
}

Test(listeners, remove_an_old_port_file_once_they_are_open)
{
    leave_port_file();
    listen_on("127.0.0.1:0");
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(access(port_file, F_OK), -1);
}

Test(listeners, keep_the_port_file_of_whoever_has_the_address)
{
    struct wr_listen *none = NULL;

    listen_on("127.0.0.1:0");
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(wr_listeners_announce(&options, sockets), EX_OK);

    char taken[WR_ADDRESS_TEXT_SIZE];

    wr_address_format(wr_listen_address(sockets, 0), taken);
    options.grpc_listen.items[0] = taken;
    cr_assert_eq(open_captured(&none), EX_UNAVAILABLE);
    cr_assert_null(none);
    cr_assert_not_null(strstr(capture.text, "--grpc-listen"), "%s", capture.text);
    cr_assert_not_null(strstr(capture.text, taken), "%s", capture.text);
    cr_assert_eq(access(port_file, F_OK), 0);
}

Test(listeners, are_a_host_and_a_port_when_no_address_is_given)
{
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(wr_listen_count(sockets), 1);

    char text[WR_ADDRESS_TEXT_SIZE];

    wr_address_format(wr_listen_address(sockets, 0), text);
    cr_assert_eq(strncmp(text, "127.0.0.1:", 10), 0, "%s", text);
}

Test(listeners, are_the_incumbents_socket_when_no_address_is_given)
{
    char path[80], text[WR_ADDRESS_TEXT_SIZE];

    (void) snprintf(path, sizeof path, "%s/s", folder);
    options.grpc_uds = path;
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(wr_listen_count(sockets), 1);
    wr_address_format(wr_listen_address(sockets, 0), text);
    cr_assert_str_eq(text + strlen("unix:"), path);
    wr_listen_close(sockets);
    listen_on("127.0.0.1:0");
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(access(path, F_OK), -1, "--grpc-listen goes over it");
}

Test(listeners, name_the_variables_that_are_wrong)
{
    options.grpc_host = "no such host";
    cr_assert_eq(open_captured(&sockets), EX_USAGE);
    cr_assert_not_null(strstr(capture.text, "GRPC_HOST, GRPC_PORT"), "%s", capture.text);
}

Test(listeners, tell_a_mistake_from_what_the_system_refuses)
{
    listen_on("nonsense");
    cr_assert_eq(open_captured(&sockets), EX_USAGE);
    options.grpc_listen.n = 0;
    listen_on("unix:/nowhere/at/all");
    cr_assert_eq(open_captured(&sockets), EX_OSERR);
    cr_assert_null(sockets);
}

Test(listeners, announce_each_address_in_the_port_file)
{
    char path[96], want[256], got[256] = "", text[WR_ADDRESS_TEXT_SIZE];

    (void) snprintf(path, sizeof path, "unix:%s/s", folder);
    listen_on("127.0.0.1:0");
    listen_on(path);
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(wr_listeners_announce(&options, sockets), EX_OK);

    FILE *const file = fopen(port_file, "re");

    cr_assert_not_null(file);
    cr_assert_gt(fread(got, 1, sizeof got - 1, file), 0);
    fclose(file);
    wr_address_format(wr_listen_address(sockets, 0), text);
    (void) snprintf(want, sizeof want, "grpc %s\ngrpc %s\n", text, path);
    cr_assert_str_eq(got, want);
}

Test(listeners, say_that_the_port_file_cannot_be_written)
{
    options.port_file = "/nowhere/at/all";
    listen_on("127.0.0.1:0");
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    capture_start(&capture);
    cr_assert_eq(wr_listeners_announce(&options, sockets), EX_CANTCREAT);
    capture_stop(&capture);
    cr_assert_not_null(strstr(capture.text, "--port-file: /nowhere/at/all"), "%s", capture.text);
}

Test(listeners, need_no_port_file)
{
    options.port_file = "";
    listen_on("127.0.0.1:0");
    cr_assert_eq(wr_listeners_open(&options, &sockets), EX_OK);
    cr_assert_eq(wr_listeners_announce(&options, sockets), EX_OK);
}
