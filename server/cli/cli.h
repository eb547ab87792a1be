/* SPDX-License-Identifier: MIT
 *
 * The command-line client; each function is the main of one command and returns its exit status.
 * argv holds what follows the command's name.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

enum cli_exit { CLI_EXIT_OK = 0, CLI_EXIT_FAILED = 1, CLI_EXIT_USAGE = 2 };

/* How each is called, several lines. */
extern const char cli_submit_usage[], cli_dataset_usage[], cli_weights_usage[], cli_jobs_usage[],
    cli_simulate_usage[], cli_health_usage[];

int cli_submit_main(int argc, char **argv);
int cli_dataset_main(int argc, char **argv);
int cli_weights_main(int argc, char **argv);
int cli_list_main(int argc, char **argv);
int cli_show_main(int argc, char **argv);
int cli_cancel_main(int argc, char **argv);
int cli_simulate_main(int argc, char **argv);
int cli_health_main(int argc, char **argv);

#endif
