/* SPDX-License-Identifier: MIT
 *
 * Entry of the one binary; everything is in server/app.
 */
#include "server/app/app.h"

int main(int argc, char **argv)
{
    return app_main(argc, argv);
}
