/* SPDX-License-Identifier: MIT
 *
 * assayd simulate turbofan|gearbox DIR: data to try things on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/data/simulate.h"
#include "server/cli/cli_internal.h"

const char cli_simulate_usage[] =
    "usage: assayd simulate turbofan DIRECTORY [--engines N] [--seed S]\n"
    "       assayd simulate gearbox DIRECTORY [--recordings N] [--samples N] [--seed S]\n"
    "       turbofan: train_FD.txt, test_FD.txt and RUL_FD.txt, runs to failure of simulated\n"
    "       engines in the columns of C-MAPSS (100 engines a file);\n"
    "       gearbox: vibration at 12,800 Hz in eight classes of health, a folder each, of raw\n"
    "       float32 (60 recordings a class of 20,480 samples).\n"
    "       Seed 1 unless said otherwise; makes DIRECTORY where it is not there.\n";

enum { ENGINES = 100, RECORDINGS = 60, SAMPLES = 20480 };

/* What the command line says; zero: nothing. */
struct simulation {
    uint64_t engines, recordings, samples, seed;
};

static enum nn_status simulate_turbofan(const char *directory, const struct simulation *given,
                                        struct nn_error *err)
{
    const struct nn_turbofan_options options = {.engines = (size_t)given->engines,
                                                .seed = given->seed};
    return nn_simulate_turbofan(directory, &options, err);
}

static enum nn_status simulate_gearbox(const char *directory, const struct simulation *given,
                                       struct nn_error *err)
{
    const struct nn_gearbox_options options = {.recordings = (size_t)given->recordings,
                                               .samples = (size_t)given->samples,
                                               .seed = given->seed};
    return nn_simulate_gearbox(directory, &options, err);
}

static const struct machine {
    const char *name;
    enum nn_status (*simulate)(const char *directory, const struct simulation *given,
                               struct nn_error *err);
    const char *flags[3]; /* beside --seed */
} MACHINES[] = {
    {"turbofan", simulate_turbofan, {"--engines"}},
    {"gearbox", simulate_gearbox, {"--recordings", "--samples"}},
};

static const struct machine *find_machine(const char *name)
{
    for (size_t i = 0; i < sizeof MACHINES / sizeof MACHINES[0]; i++) {
        if (strcmp(MACHINES[i].name, name) == 0) {
            return &MACHINES[i];
        }
    }
    return NULL;
}

/* A flag that says nothing of this machine. */
static bool is_foreign(const struct machine *machine, const char *flag)
{
    for (size_t i = 0; machine->flags[i]; i++) {
        if (strcmp(machine->flags[i], flag) == 0) {
            return false;
        }
    }
    return strcmp(flag, "--seed") != 0;
}

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
    struct simulation given = {ENGINES, RECORDINGS, SAMPLES, 1};
    const char *texts[4] = {0};
    const struct cli_option options[] = {{"--engines", &texts[0], NULL},
                                         {"--recordings", &texts[1], NULL},
                                         {"--samples", &texts[2], NULL},
                                         {"--seed", &texts[3], NULL}};
    uint64_t *const values[] = {&given.engines, &given.recordings, &given.samples, &given.seed};
    struct nn_error err = {0};
    if (!cli_arguments(&argc, argv, options, 4, cli_simulate_usage)) {
        return CLI_EXIT_USAGE;
    }
    const struct machine *machine = argc == 2 ? find_machine(argv[0]) : NULL;
    bool fits = machine != NULL;
    for (size_t i = 0; i < 4 && fits; i++) {
        fits = !texts[i] || !is_foreign(machine, options[i].flag);
    }
    if (!fits) {
        (void)fputs(cli_simulate_usage, stderr);
        return CLI_EXIT_USAGE;
    }
    for (size_t i = 0; i < 4; i++) {
        if (!read_number(options[i].flag, texts[i], values[i])) {
            return CLI_EXIT_USAGE;
        }
    }
    if (mkdir(argv[1], 0777) < 0 && errno != EEXIST) {
        (void)fprintf(stderr, "assayd: %s cannot be made: %s\n", argv[1], strerror(errno));
        return CLI_EXIT_FAILED;
    }
    if (machine->simulate(argv[1], &given, &err) != NN_OK) {
        (void)fprintf(stderr, "assayd: %s\n", err.text);
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_OK;
}
