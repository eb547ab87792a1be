/* SPDX-License-Identifier: MIT
 *
 * assayd dataset create --layout L [--name N] [--image-size S] [--channels 3] [--classes A,B]
 * [--table JSON] [--signal JSON] FILES...; dataset list; dataset show
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/cli/asset_internal.h"

const char cli_dataset_usage[] =
    "usage: assayd dataset create --layout idx|archive|table|cmapss|signals [--name NAME]\n"
    "                             [--image-size SIDE|HEIGHT,WIDTH] [--channels 3]\n"
    "                             [--classes A,B,...] [--table JSON] [--signal JSON]\n"
    "                             [--no-wait] [--server URL] FILES...\n"
    "       assayd dataset list [--server URL]\n"
    "       assayd dataset show ID [--server URL]\n"
    "       create prints the data set's id once it is ready. The layouts:\n"
    "       archive  photographs, a folder a class, packed: tar -czf photos.tar.gz -C photos .\n"
    "       table    CSV, a row a step; --table names the columns:\n"
    "                '{\"sequence\": \"machine\", \"time\": \"hour\", \"target\": \"wear\"}', or\n"
    "                \"remaining_life\": true instead of a target; the other columns are inputs\n"
    "       cmapss   train_FD001.txt test_FD001.txt RUL_FD001.txt, or a train file alone\n"
    "       signals  recordings (.wav, .npy, .f32, .csv), a folder a class or with a labels.csv,\n"
    "                packed; --signal says how they are cut:\n"
    "                '{\"window\": 2048, \"parts\": {\"by\": \"time\"}}'\n"
    "       idx      images and labels of train, then of t10k, in the form of MNIST\n";

enum { MAX_FILES = 64 };

struct create {
    const char *server, *layout, *name, *image_size, *channels, *classes, *table, *signal;
    bool no_wait;
};

static json_t *split_names(const char *text)
{
    json_t *list = json_array();
    while (text) {
        const char *comma = strchr(text, ',');
        size_t length = comma ? (size_t)(comma - text) : strlen(text);
        (void)json_array_append_new(list, json_stringn(text, length));
        text = comma ? comma + 1 : NULL;
    }
    return list;
}

/* "96" or "96,64" as numbers, which the server checks; false when it is neither. */
static bool add_numbers(json_t *body, const char *flag, const char *key, const char *text)
{
    char list[64];
    json_t *numbers = NULL;
    if (!text) {
        return true;
    }
    if (strspn(text, "0123456789,") == strlen(text) && strlen(text) < sizeof list - 2) {
        (void)snprintf(list, sizeof list, "[%s]", text);
        numbers = json_loads(list, 0, NULL);
    }
    if (json_array_size(numbers) == 0) {
        (void)fprintf(stderr, "assayd: %s takes whole numbers, not %s\n", flag, text);
        json_decref(numbers);
        return false;
    }
    json_t *value = json_array_size(numbers) == 1 ? json_array_get(numbers, 0) : numbers;
    bool fine = json_object_set(body, key, value) == 0;
    json_decref(numbers);
    return fine;
}

/* How tables or signals are read, as the API takes it. */
static bool add_object(json_t *body, const char *flag, const char *text)
{
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    if (text && !object) {
        (void)fprintf(stderr, "assayd: %s is no JSON object\n", flag);
        return false;
    }
    return !object || json_object_set_new(body, flag + 2, object) == 0;
}

/* The declaration; NULL when a file is not there. */
static json_t *declare(const struct create *create, int n_files, char **files)
{
    char name[64];
    time_t now = time(NULL);
    struct tm parts;
    (void)strftime(name, sizeof name, "data set %Y-%m-%d %H:%M:%S", gmtime_r(&now, &parts));
    json_t *list = cli_asset_files(n_files, files);
    if (!list) {
        return NULL;
    }
    json_t *body = json_pack("{s:s, s:s, s:o}", "name", create->name ? create->name : name,
                             "layout", create->layout, "files", list);
    if (strcmp(create->layout, "table") == 0 || strcmp(create->layout, "cmapss") == 0) {
        (void)json_object_set_new(body, "kind", json_string("sequences"));
    }
    if (create->classes) {
        (void)json_object_set_new(body, "classes", split_names(create->classes));
    }
    if (!add_numbers(body, "--image-size", "image_size", create->image_size) ||
        !add_numbers(body, "--channels", "channels", create->channels) ||
        !add_object(body, "--table", create->table) ||
        !add_object(body, "--signal", create->signal)) {
        json_decref(body);
        return NULL;
    }
    return body;
}

static const char *const KEYS[] = {"number", "id", "name", "state", "class_count"};
static const bool RIGHT[] = {true, false, false, false, true};
static const struct cli_asset DATASETS = {
    "data set is", "/v1/datasets", cli_dataset_usage, KEYS, RIGHT, sizeof KEYS / sizeof KEYS[0]};

static int create_main(int argc, char **argv)
{
    struct create create = {0};
    const struct cli_option options[] = {
        {"--server", &create.server, NULL},
        {"--layout", &create.layout, NULL},
        {"--name", &create.name, NULL},
        {"--classes", &create.classes, NULL},
        {"--image-size", &create.image_size, NULL},
        {"--channels", &create.channels, NULL},
        {"--table", &create.table, NULL},
        {"--signal", &create.signal, NULL},
        {"--no-wait", NULL, &create.no_wait},
    };
    if (!cli_arguments(&argc, argv, options, sizeof options / sizeof options[0],
                       cli_dataset_usage)) {
        return CLI_EXIT_USAGE;
    }
    if (!create.layout || argc < 1 || argc > MAX_FILES) {
        (void)fprintf(stderr, "assayd: %s\n%s",
                      !create.layout ? "--layout is missing"
                      : argc < 1     ? "no file is named"
                                     : "more than 64 files are named",
                      cli_dataset_usage);
        return CLI_EXIT_USAGE;
    }
    json_t *body = declare(&create, argc, argv);
    if (!body) {
        return CLI_EXIT_USAGE;
    }
    int status = cli_asset_create(&DATASETS, create.server, create.no_wait, body, argc, argv);
    json_decref(body);
    return status;
}

int cli_dataset_main(int argc, char **argv)
{
    const char *verb = argc > 0 ? argv[0] : "";
    if (strcmp(verb, "create") == 0) {
        return create_main(argc - 1, argv + 1);
    }
    if (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0) {
        return cli_asset_look(&DATASETS, verb, argc - 1, argv + 1);
    }
    (void)fputs(cli_dataset_usage, stderr);
    return CLI_EXIT_USAGE;
}
