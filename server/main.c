/* SPDX-License-Identifier: Apache-2.0 */
#include "app.h"

int main(int argc, char **argv)
{
    return wr_app_main(argc, argv, wr_app_local_backend);
}
