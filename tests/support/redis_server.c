/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/redis_server.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_MS 60000
#define MAX_WORDS 64

/* Debian keeps the server's program under this name too, in the package of the tools. */
#define OTHER_PROGRAM "/usr/bin/redis-check-rdb"

static _Noreturn void become_server(const struct wr_redis_server *server,
                                    const char *const *options, int log_fd)
{
    const char *const own[] = {"redis-server",
                               "--port",
                               "0",
                               "--unixsocket",
                               server->socket_path,
                               "--dir",
                               server->dir,
                               "--save",
                               "",
                               "--appendonly",
                               "no"};
    const char *words[MAX_WORDS + 1];
    size_t n = sizeof own / sizeof own[0];

    memcpy(words, own, sizeof own);
    for (size_t i = 0; options != NULL && options[i] != NULL && n < MAX_WORDS; i++) {
        words[n++] = options[i];
    }
    words[n] = NULL;
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void) dup2(log_fd, STDOUT_FILENO);

    union {
        const char **ours;
        char *const *theirs; /* exec changes nothing */
    } arguments = {.ours = words};

    const char *const chosen = getenv("TEST_REDIS_SERVER");

    if (chosen != NULL) {
        (void) execv(chosen, arguments.theirs);
    } else {
        (void) execvp("redis-server", arguments.theirs);
        (void) execv(OTHER_PROGRAM, arguments.theirs);
    }
    perror(chosen != NULL ? chosen : "redis-server");
    _exit(127);
}

/* Reads what it prints until it says that it is ready, or ends, or says nothing for too long. */
static bool is_ready(int log_fd)
{
    char text[16384];
    size_t len = 0;
    struct pollfd poller = {.fd = log_fd, .events = POLLIN};

    while (len < sizeof text - 1 && poll(&poller, 1, READY_MS) == 1) {
        const ssize_t n = read(log_fd, text + len, sizeof text - 1 - len);

        if (n <= 0) {
            break;
        }
        len += (size_t) n;
        text[len] = '\0';
        if (strstr(text, "eady to accept connections") != NULL) {
            return true;
        }
    }
    (void) fprintf(stderr, "redis-server is not ready:\n%.*s\n", (int) len, text);
    return false;
}

static bool make_dir(struct wr_redis_server *server)
{
    const char *const top = getenv("TMPDIR");

    (void) snprintf(server->dir, sizeof server->dir, "%.40s/weir-redis-XXXXXX",
                    top != NULL ? top : "/tmp");
    if (mkdtemp(server->dir) == NULL) {
        perror(server->dir);
        return false;
    }
    (void) snprintf(server->socket_path, sizeof server->socket_path, "%s/socket", server->dir);
    return true;
}

bool wr_redis_server_start(struct wr_redis_server *server, const char *const *options)
{
    int log_pipe[2];

    *server = (struct wr_redis_server){.pid = -1, .log_fd = -1};
    if (!make_dir(server)) {
        return false;
    }
    if (pipe(log_pipe) != 0) {
        perror("pipe");
        wr_redis_server_stop(server);
        return false;
    }
    server->pid = fork();
    if (server->pid == 0) {
        (void) close(log_pipe[0]);
        become_server(server, options, log_pipe[1]);
    }
    (void) close(log_pipe[1]);
    server->log_fd = log_pipe[0];
    if (server->pid < 0 || !is_ready(server->log_fd)) {
        wr_redis_server_stop(server);
        return false;
    }
    return true;
}

static void remove_dir(const char *dir)
{
    DIR *const entries = opendir(dir);

    if (entries != NULL) {
        for (const struct dirent *entry = readdir(entries); entry != NULL;
             entry = readdir(entries)) {
            (void) unlinkat(dirfd(entries), entry->d_name, 0);
        }
        (void) closedir(entries);
    }
    (void) rmdir(dir);
}

void wr_redis_server_stop(struct wr_redis_server *server)
{
    if (server->pid > 0) {
        (void) kill(server->pid, SIGKILL);
        (void) waitpid(server->pid, NULL, 0);
    }
    if (server->log_fd >= 0) {
        (void) close(server->log_fd);
    }
    remove_dir(server->dir);
    server->pid = -1;
    server->log_fd = -1;
}
