/* SPDX-License-Identifier: MIT
 *
 * assayd submit JOB.json [--watch] [--server URL]
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "server/base/ids.h"
#include "server/cli/cli_internal.h"

const char cli_submit_usage[] =
    "usage: assayd submit JOB.json [--watch] [--server URL]\n"
    "       JOB.json may be -; prints the job's id; with --watch also progress and results.\n"
    "       ASSAY_SERVER and ASSAY_TOKEN may stand in the environment.\n";

enum { MAX_JOB_BYTES = 1 << 20, KEY_TRIES = 3 };

static json_t *read_job(const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    errno = 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    int why = errno;
    char *bytes = malloc(MAX_JOB_BYTES + 1);
    struct nn_error err = {0};
    json_t *job = NULL;
    if (!file || !bytes) {
        (void)fprintf(stderr, "assayd: %s cannot be read: %s\n", path,
                      file ? "no memory" : strerror(why));
    } else {
        size_t n = fread(bytes, 1, MAX_JOB_BYTES + 1, file);
        if (jx_parse(bytes, n, NULL, &job, &err) != NN_OK) {
            (void)fprintf(stderr, "assayd: %s: %s\n", path, err.text);
            job = NULL;
        }
    }
    if (file && !standard) {
        (void)fclose(file);
    }
    free(bytes);
    return job;
}

/* Submits under a key of its own, so that a repetition after a lost answer makes no second job. */
static json_t *submit(struct cli_client *client, const json_t *job)
{
    char key[SV_ID_SIZE];
    struct cli_reply reply = {0};
    sv_id_make(key);
    struct cli_request request = {
        .method = "POST", .path = "/v1/jobs", .body = job, .key = key, .text = "id"};
    for (int i = 0; i < KEY_TRIES; i++) {
        cli_reply_deinit(&reply);
        if (cli_send(client, &request, &reply) && reply.status != 503) {
            break;
        }
        (void)usleep(500000);
    }
    json_t *made = NULL;
    if (cli_reply_fits(&request, &reply)) {
        made = json_incref(reply.json);
    } else {
        cli_complain(&reply);
    }
    cli_reply_deinit(&reply);
    return made;
}

int cli_submit_main(int argc, char **argv)
{
    const char *server = NULL;
    bool watch = false;
    const struct cli_option options[] = {{"--server", &server, NULL}, {"--watch", NULL, &watch}};
    if (!cli_arguments(&argc, argv, options, 2, cli_submit_usage)) {
        return CLI_EXIT_USAGE;
    }
    if (argc != 1) {
        (void)fputs(cli_submit_usage, stderr);
        return CLI_EXIT_USAGE;
    }
    json_t *job = read_job(argv[0]);
    if (!job) {
        return CLI_EXIT_USAGE;
    }
    int status = CLI_EXIT_FAILED;
    struct cli_client *client = cli_client_create(server);
    json_t *made = client ? submit(client, job) : NULL;
    const char *id = json_string_value(json_object_get(made, "id"));
    if (id) {
        (void)printf("%s\n", id);
        (void)fflush(stdout);
        status = watch ? cli_watch(client, id, CLI_AWAY_MS) : CLI_EXIT_OK;
        if (watch && !cli_results_print(client, id, stdout)) {
            status = CLI_EXIT_FAILED;
        }
    }
    json_decref(made);
    json_decref(job);
    cli_client_destroy(client);
    return status;
}
