/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <stdlib.h>

static int run(const struct weirctl_args *args)
{
    switch (args->command) {
    case WEIRCTL_CHECK:
        return weirctl_check(args);
    case WEIRCTL_HEALTH:
        return weirctl_health(args);
    case WEIRCTL_BENCH:
        return weirctl_bench(args);
    case WEIRCTL_VERSION:
        puts("weirctl " WEIR_VERSION);
        return WEIRCTL_EXIT_OK;
    case WEIRCTL_HELP:
        break;
    }
    weirctl_args_print_help(stdout);
    return WEIRCTL_EXIT_OK;
}

int main(int argc, char **argv)
{
    struct weirctl_args args;
    struct weir_error error;

    if (weirctl_args_parse(argc, argv, &args, &error) != WEIR_OK) {
        fprintf(stderr, "weirctl: %s\nTry: weirctl --help\n", error.text);
        return WEIRCTL_EXIT_USAGE;
    }
    /* gRPC logs to stderr on its own; weirctl says what matters itself. Who sets it, sees it. */
    setenv("GRPC_VERBOSITY", "NONE", 0);

    const int status = run(&args);

    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        perror("weirctl: cannot write the answer");
        return WEIRCTL_EXIT_IO;
    }
    return status;
}
