/* SPDX-License-Identifier: MIT
 *
 * Options of a command.
 */
#include <string.h>

#include "server/cli/cli_internal.h"

static const struct cli_option *find_option(const struct cli_option *options, size_t n,
                                            const char *argument)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(options[i].flag, argument) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

bool cli_arguments(int *inout_argc, char **argv, const struct cli_option *options, size_t n,
                   const char *usage)
{
    int kept = 0;
    bool ended = false;
    for (int i = 0; i < *inout_argc; i++) {
        if (ended || strncmp(argv[i], "--", 2) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            ended = true;
            continue;
        }
        const struct cli_option *option = find_option(options, n, argv[i]);
        if (!option || (option->value && i + 1 >= *inout_argc)) {
            (void)fprintf(stderr, "assayd: %s '%s'\n%s",
                          option ? "a value is missing after" : "unknown option", argv[i], usage);
            return false;
        }
        if (option->value) {
            *option->value = argv[++i];
        }
        if (option->given) {
            *option->given = true;
        }
    }
    *inout_argc = kept;
    return true;
}
