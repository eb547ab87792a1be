/* SPDX-License-Identifier: MIT
 *
 * Role table: the first argument picks what this process is.
 */
#include "server/app/app.h"

#include <stdio.h>

int app_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)fputs("usage: assayd [serve | work | submit]\n", stderr);
    return 2;
}
