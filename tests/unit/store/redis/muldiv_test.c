/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the script in Redis, on the rows that limit/muldiv.h must meet, too. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/script_bed.h"

#define ROWS_MIN 100

/* What comes before and behind the part of the script. */
static const char before[] = "local run, kinds = {most = 9007199254740991}, {true} ";
static const char behind[] =
    " return string.format('%.0f %.0f', (run.muldiv(ARGV[1] + 0, ARGV[2] + 0, "
    "ARGV[3] + 0)), run.muldiv_up(ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0))";

static void read_part(char *script, size_t size)
{
    FILE *const file = fopen(WR_MULDIV_LUA, "r");

    cr_assert_not_null(file);

    size_t len = (size_t) snprintf(script, size, "%s", before);

    len += fread(script + len, 1, size - len, file);
    (void) fclose(file);
    cr_assert_lt(len + sizeof behind, size);
    memcpy(script + len, behind, sizeof behind);
}

static void meets(struct wr_script_bed *bed, const char *script, const char *line)
{
    char a[32], b[32], c[32], down[32], up[32], want[80];

    cr_assert_eq(sscanf(line, "%31s %31s %31s %31s %31s", a, b, c, down, up), 5, "%s", line);
    (void) snprintf(want, sizeof want, "%s %s", down, up);
    cr_assert_str_eq(wr_script_bed_ask(bed, "EVAL %s 0 %s %s %s", script, a, b, c), want, "%s",
                     line);
    cr_assert_str_eq(wr_script_bed_ask(bed, "EVAL %s 0 %s %s %s", script, b, a, c), want, "%s",
                     line);
}

Test(redis_muldiv, meets_every_row_of_the_table)
{
    FILE *const file = fopen(WR_MULDIV_ROWS, "r");
    struct wr_script_bed bed;
    char script[8192], line[256];
    int n = 0;

    cr_assert_not_null(file);
    cr_assert(wr_script_bed_init(&bed));
    read_part(script, sizeof script);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] != '#') {
            meets(&bed, script, line);
            n++;
        }
    }
    (void) fclose(file);
    wr_script_bed_fini(&bed);
    cr_assert_geq(n, ROWS_MIN, "only %d rows", n);
}
