/* SPDX-License-Identifier: MIT
 *
 * assayd simulate turbofan DIR [--engines N] [--seed S]: data to try things on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/data/simulate.h"
#include "server/cli/cli_internal.h"

const char cli_simulate_usage[] =
    "usage: assayd simulate turbofan DIRECTORY [--engines N] [--seed S]\n"
    "       writes train_FD.txt, test_FD.txt and RUL_FD.txt: runs to failure of simulated engines\n"
    "       in the columns of C-MAPSS (100 engines a file, seed 1 unless said otherwise);\n"
    "       makes DIRECTORY where it is not there.\n";

enum { ENGINES = 100 };

/* Decimal digits only; an absent text leaves the default. */
static bool read_number(const char *flag, const char *text, uint64_t *inout_value)
{
    if (!text) {
        return true;
    }
    errno = 0;
    bool digits = text[0] && text[strspn(text, "0123456789")] == '\0';
    unsigned long long value = digits ? strtoull(text, NULL, 10) : 0;
    if (!digits || errno == ERANGE) {
        (void)fprintf(stderr, "assayd: %s takes a whole number\n%s", flag, cli_simulate_usage);
        return false;
    }
    *inout_value = value;
    return true;
}

int cli_simulate_main(int argc, char **argv)
{
    const char *engines_text = NULL;
    const char *seed_text = NULL;
    const struct cli_option options[] = {{"--engines", &engines_text, NULL},
                                         {"--seed", &seed_text, NULL}};
    uint64_t engines = ENGINES;
    uint64_t seed = 1;
    struct nn_error err = {0};
    if (!cli_arguments(&argc, argv, options, 2, cli_simulate_usage)) {
        return CLI_EXIT_USAGE;
    }
    if (argc != 2 || strcmp(argv[0], "turbofan") != 0) {
        (void)fputs(cli_simulate_usage, stderr);
        return CLI_EXIT_USAGE;
    }
    if (!read_number("--engines", engines_text, &engines) ||
        !read_number("--seed", seed_text, &seed)) {
        return CLI_EXIT_USAGE;
    }
    if (mkdir(argv[1], 0777) < 0 && errno != EEXIST) {
        (void)fprintf(stderr, "assayd: %s cannot be made: %s\n", argv[1], strerror(errno));
        return CLI_EXIT_FAILED;
    }
    const struct nn_turbofan_options turbofan = {.engines = (size_t)engines, .seed = seed};
    if (nn_simulate_turbofan(argv[1], &turbofan, &err) != NN_OK) {
        (void)fprintf(stderr, "assayd: %s\n", err.text);
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_OK;
}
