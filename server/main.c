/* SPDX-License-Identifier: Apache-2.0 */
#include "app.h"
#include "program.h"

int main(int argc, char **argv)
{
    return wr_program(argc, argv, wr_store_choose);
}
