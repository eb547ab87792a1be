/* SPDX-License-Identifier: MIT
 *
 * Progress of a job: one bar a trial, redrawn in place on a terminal; elsewhere one line whenever a
 * trial's state or tenth of its way changes. Long polls with an ETag; an unreachable server is
 * tried again for a while, since it may be restarting.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/cli/cli_internal.h"

enum { BAR_WIDTH = 24, RETRY_MS = 500, MAX_SHOWN = 40 };

struct watch {
    struct cli_client *client;
    const char *job_id;
    bool terminal;
    size_t drawn; /* lines on the terminal now */
    int *told;    /* what the last line of a trial said: state and tenth */
    size_t n_told;
};

void cli_bar(char *out, size_t size, size_t width, double share)
{
    double clamped = share > 0 ? (share < 1 ? share : 1) : 0; /* NaN too */
    size_t full = (size_t)(clamped * (double)width + 0.5);
    if (size < width + 3) {
        if (size > 0) {
            out[0] = '\0';
        }
        return;
    }
    out[0] = '[';
    memset(out + 1, '#', full);
    memset(out + 1 + full, '.', width - full);
    out[width + 1] = ']';
    out[width + 2] = '\0';
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool is_final(const char *state)
{
    return strcmp(state, "completed") == 0 || strcmp(state, "stopped") == 0 ||
           strcmp(state, "cancelled") == 0 || strcmp(state, "failed") == 0;
}

static double share_done(const json_t *trial)
{
    double total = json_number_value(json_object_get(trial, "total_steps"));
    bool done = strcmp(text_of(trial, "state"), "completed") == 0;
    return done ? 1 : total > 0 ? json_number_value(json_object_get(trial, "step")) / total : 0;
}

/* "sgdm" or "training.solver=sgdm, network.filters=20": values alone when there is one. */
static void name_of(const json_t *trial, char *out, size_t size)
{
    json_t *parameters = json_object_get(trial, "parameters");
    bool single = json_object_size(parameters) == 1;
    const char *key;
    json_t *value;
    size_t used = 0;
    out[0] = '\0';
    json_object_foreach(parameters, key, value)
    {
        char *cell = cli_cell(value);
        int n = snprintf(out + used, size - used, "%s%s%s%s", used ? ", " : "", single ? "" : key,
                         single ? "" : "=", cell ? cell : "");
        free(cell);
        used = n > 0 && used + (size_t)n < size ? used + (size_t)n : size - 1;
    }
}

static void line_of(const json_t *trial, char *out, size_t size)
{
    char bar[BAR_WIDTH + 4];
    char name[64];
    const char *state = text_of(trial, "state");
    const char *phase = text_of(trial, "phase");
    bool running = strcmp(state, "running") == 0;
    double share = share_done(trial);
    cli_bar(bar, sizeof bar, BAR_WIDTH, share);
    name_of(trial, name, sizeof name);
    (void)snprintf(out, size, "%3lld %-12s %s %3.0f %%  step %lld  epoch %lld  %s",
                   (long long)json_integer_value(json_object_get(trial, "index")), name, bar,
                   100 * share, (long long)json_integer_value(json_object_get(trial, "step")),
                   (long long)json_integer_value(json_object_get(trial, "epoch")),
                   running && *phase ? phase : state);
    if (strcmp(state, "failed") == 0) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, ": %s",
                       text_of(json_object_get(trial, "error"), "text"));
    }
}

static void print_line(const json_t *trial, const char *before)
{
    char line[300];
    line_of(trial, line, sizeof line);
    char *plain = cli_plain(line, "");
    (void)fprintf(stderr, "%s%s\n", before, plain ? plain : "");
    free(plain);
}

static void draw_terminal(struct watch *watch, const json_t *trials)
{
    size_t n = json_array_size(trials);
    size_t shown = n < MAX_SHOWN ? n : MAX_SHOWN;
    if (watch->drawn > 0) {
        (void)fprintf(stderr, "\033[%zuA", watch->drawn);
    }
    for (size_t i = 0; i < shown; i++) {
        print_line(json_array_get(trials, i), "\r\033[K");
    }
    if (n > shown) {
        (void)fprintf(stderr, "\r\033[K... and %zu more\n", n - shown);
    }
    watch->drawn = shown + (n > shown);
}

/* What was told of each of n trials; nothing yet of new ones. */
static bool told_grow(struct watch *watch, size_t n)
{
    int *told = n > watch->n_told ? realloc(watch->told, n * sizeof *told) : watch->told;
    if (n > watch->n_told && told) {
        memset(told + watch->n_told, 0, (n - watch->n_told) * sizeof *told);
        watch->n_told = n;
    }
    watch->told = told ? told : watch->told;
    return told || n == 0;
}

static void draw_lines(struct watch *watch, const json_t *trials)
{
    size_t n = json_array_size(trials);
    for (size_t i = 0; told_grow(watch, n) && i < n; i++) {
        const json_t *trial = json_array_get(trials, i);
        const char *state = text_of(trial, "state");
        int letters = *state ? state[0] + 128 * state[1] : 0;
        int now = (int)(share_done(trial) * 10) + 16 * letters;
        if (now != watch->told[i] && strcmp(state, "queued") != 0) {
            print_line(trial, "");
            watch->told[i] = now;
        }
    }
    (void)fflush(stderr);
}

enum heard {
    HEARD_TRIALS,  /* they have changed */
    HEARD_NOTHING, /* the server is there: they are as they were */
    HEARD_SILENCE, /* it is not, or has no time */
    HEARD_NO,      /* it refuses */
};

/* The trials as they are, waiting for a change; *out_trials is a new reference. */
static enum heard read_trials(struct watch *watch, char etag[64], json_t **out_trials)
{
    char path[128];
    char first[160];
    struct cli_reply reply;
    enum heard heard = HEARD_NO;
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s/trials?limit=500", watch->job_id);
    (void)snprintf(first, sizeof first, "%s&wait=20", path);
    struct cli_request request = {.method = "GET", .path = first, .etag = etag, .list = "items"};
    (void)cli_send(watch->client, &request, &reply);
    if (cli_reply_fits(&request, &reply)) {
        (void)memcpy(etag, reply.etag, sizeof reply.etag);
        *out_trials = cli_pages_take(watch->client, path, json_incref(reply.json));
        heard = *out_trials ? HEARD_TRIALS : HEARD_NO;
    } else if (reply.status == 304) {
        heard = HEARD_NOTHING;
    } else if (reply.status == 0 || reply.status == 503) {
        heard = HEARD_SILENCE;
    } else {
        cli_complain(&reply);
    }
    cli_reply_deinit(&reply);
    return heard;
}

static size_t count_open(const json_t *trials)
{
    size_t open = 0;
    for (size_t i = 0; i < json_array_size(trials); i++) {
        open += !is_final(text_of(json_array_get(trials, i), "state"));
    }
    return open;
}

static int judge(const json_t *trials)
{
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const char *state = text_of(json_array_get(trials, i), "state");
        if (strcmp(state, "completed") != 0 && strcmp(state, "stopped") != 0) {
            return CLI_EXIT_FAILED;
        }
    }
    return CLI_EXIT_OK;
}

static void draw(struct watch *watch, const json_t *trials)
{
    if (watch->terminal) {
        draw_terminal(watch, trials);
    } else {
        draw_lines(watch, trials);
    }
}

static int watch_on(struct watch *watch, int64_t away_ms)
{
    char etag[64] = "";
    int64_t heard_ms = sv_clock_monotonic_ms();
    for (;;) {
        json_t *trials = NULL;
        enum heard heard = read_trials(watch, etag, &trials);
        if (heard == HEARD_NO) {
            return CLI_EXIT_FAILED;
        }
        if (heard == HEARD_SILENCE) {
            if (sv_clock_monotonic_ms() - heard_ms > away_ms) {
                cli_say("assayd: %s does not answer any more", cli_client_address(watch->client));
                return CLI_EXIT_FAILED;
            }
            sv_clock_sleep_ms(RETRY_MS);
            continue;
        }
        heard_ms = sv_clock_monotonic_ms();
        if (heard == HEARD_TRIALS) {
            draw(watch, trials);
            bool none = json_array_size(trials) == 0; /* every job has one */
            bool ended = count_open(trials) == 0;
            int status = none ? CLI_EXIT_FAILED : judge(trials);
            json_decref(trials);
            if (ended) {
                return status;
            }
        }
        sv_clock_sleep_ms(200); /* at most five redraws a second */
    }
}

int cli_watch(struct cli_client *client, const char *job_id, int64_t away_ms)
{
    struct watch watch = {
        .client = client, .job_id = job_id, .terminal = isatty(STDERR_FILENO) == 1};
    int status = watch_on(&watch, away_ms);
    free(watch.told);
    return status;
}
