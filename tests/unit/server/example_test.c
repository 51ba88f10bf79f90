/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tests/unit/server/on_file.h"

/* Of a file with that text; what was printed is in `said`. */
static int example(const char *yaml, char *said, size_t size)
{
    return run_on_file(wr_example, yaml, false, said, size);
}

#define BEHIND " 127.0.0.1:8081 envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit\n"
#define LIMIT "rate_limit: {unit: hour, requests_per_unit: 5}"

Test(example_command, prints_words_that_a_shell_takes_as_they_are)
{
    static const struct {
        const char *yaml, *said;
    } rows[] = {
        {"domain: d\ndescriptors: [{key: k, " LIMIT "}]\n",
         "grpcurl -plaintext -d "
         "'{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":"
         "\"any\"}]}]}'" BEHIND "weirctl check d k=any\n"},
        {"domain: \"my 'own'\"\ndescriptors: [{key: 'user \"id\"', value: 'a,b=c\\d', " LIMIT
         "}]\n",
         "grpcurl -plaintext -d '{\"domain\":\"my "
         "'\\''own'\\''\",\"descriptors\":[{\"entries\":[{\"key\":"
         "\"user \\\"id\\\"\",\"value\":\"a,b=c\\\\d\"}]}]}'" BEHIND
         "weirctl check 'my '\\''own'\\''' 'user \"id\"=a\\,b=c\\\\d'\n"},
        {"domain: d\ndescriptors: [{key: -k, value: $x, descriptors: [{key: a=b, " LIMIT "}]}]\n",
         "grpcurl -plaintext -d "
         "'{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"-k\",\"value\":"
         "\"$x\"},{\"key\":\"a=b\",\"value\":\"any\"}]}]}'" BEHIND
         "weirctl check -- d '-k=$x,a\\=b=any'\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char said[1024] = "";

        cr_assert_eq(example(rows[i].yaml, said, sizeof said), EX_OK, "%s", said);
        cr_assert_str_eq(said, rows[i].said);
    }
}

Test(example_command, says_that_there_is_none)
{
    char said[1024] = "";

    cr_assert_eq(example("domain: d\ndescriptors: [{key: k}]\n", said, sizeof said), 1);
    cr_assert_str_eq(said, "weir example: no file has a limit that a call can be made for\n");
    cr_assert_eq(example("domain: d\ndescriptors: [{kye: k}]\n", said, sizeof said), 1);
    cr_assert_not_null(strstr(said, "unknown key `kye`"), "%s", said);
}

Test(example_command, needs_something_to_look_at)
{
    const struct wr_command_line line = {.command = WR_COMMAND_EXAMPLE};
    char said[256] = "";
    FILE *const out = fmemopen(said, sizeof said, "w");

    cr_assert_eq(wr_example(&line, out, out), EX_USAGE);
    fclose(out);
    cr_assert_not_null(strstr(said, "name the files or directories"), "%s", said);
}
