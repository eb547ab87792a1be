/* SPDX-License-Identifier: MIT
 *
 * From default, environment and flags to the struct of values, and back to an environment.
 */
#include "server/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the text of each option comes from while loading. */
struct source {
    const char *text;
    const char *name; /* flag or environment name, for the error text */
};

static bool parse_number(const char *text, bool suffix, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) {
        return false;
    }
    int64_t factor = 1;
    if (suffix && *end) {
        const char *units = "KMG";
        const char *unit = strchr(units, *end);
        if (!unit) {
            return false;
        }
        factor = INT64_C(1) << (10 * (unit - units + 1));
        end++;
    }
    return *end == '\0' && !__builtin_mul_overflow((int64_t)value, factor, out);
}

static bool parse_bool(const char *text, bool *out)
{
    bool yes = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    bool no = strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
    if (yes || no) {
        *out = yes;
    }
    return yes || no;
}

/* Is word one of the words in "a|b|c"? */
static bool word_in(const char *range, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = range; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, word, n) == 0 && (p[n] == '|' || p[n] == '\0')) {
            return n > 0;
        }
    }
    return false;
}

static enum sv_status set_text(const struct cfg_option *option, const struct source *from,
                               char **inout_storage, const char **field, struct sv_error *err)
{
    if (option->type == CFG_CHOICE && !word_in(option->range, from->text)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, from->name, "%s must be one of %s",
                                 from->name, option->range);
    }
    size_t size = strlen(from->text) + 1;
    memcpy(*inout_storage, from->text, size);
    *field = *inout_storage;
    *inout_storage += size;
    return SV_OK;
}

static enum sv_status set_number(const struct cfg_option *option, const struct source *from,
                                 int64_t *field, struct sv_error *err)
{
    int64_t value = 0;
    bool parsed = parse_number(from->text, option->type == CFG_BYTES, &value);
    if (!parsed || value < option->min || value > option->max) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, from->name,
                                 "%s must be a whole number from %lld to %lld", from->name,
                                 (long long)option->min, (long long)option->max);
    }
    *field = value;
    return SV_OK;
}

static enum sv_status set_option(const struct cfg_option *option, const struct source *from,
                                 struct cfg *cfg, char **inout_storage, struct sv_error *err)
{
    void *field = (char *)cfg + option->offset;
    switch (option->type) {
    case CFG_TEXT:
    case CFG_CHOICE:
        return set_text(option, from, inout_storage, field, err);
    case CFG_INT:
    case CFG_BYTES:
    case CFG_SECONDS:
        return set_number(option, from, field, err);
    case CFG_BOOL:
        break;
    }
    bool *flag = field;
    if (!parse_bool(from->text, flag)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, from->name,
                                 "%s must be true or false", from->name);
    }
    return SV_OK;
}

static const char *environment_find(char *const *environment, const char *name)
{
    size_t n = strlen(name);
    for (char *const *p = environment; p && *p; p++) {
        if (strncmp(*p, name, n) == 0 && (*p)[n] == '=') {
            return *p + n + 1;
        }
    }
    return NULL;
}

/* argv[at] is "--key=value" or "--key" "value": returns how many words it takes (0: another flag,
 * -1: the value is missing) and points *out_text at the value. */
static int flag_match(const char *flag, int argc, char **argv, int at, const char **out_text)
{
    size_t n = strlen(flag);
    if (strncmp(argv[at], flag, n) != 0) {
        return 0;
    }
    if (argv[at][n] == '=') {
        *out_text = argv[at] + n + 1;
        return 1;
    }
    if (argv[at][n] != '\0') {
        return 0;
    }
    if (at + 1 >= argc) {
        return -1;
    }
    *out_text = argv[at + 1];
    return 2;
}

/* Looks argv[at] up among all flags; as flag_match. */
static int flag_take(const struct cfg_option *options, size_t count, int argc, char **argv, int at,
                     struct source *sources)
{
    char flag[CFG_NAME_SIZE];
    for (size_t i = 0; i < count; i++) {
        cfg_flag_name(&options[i], flag, sizeof flag);
        int words = flag_match(flag, argc, argv, at, &sources[i].text);
        if (words) {
            sources[i].name = argv[at];
            return words;
        }
    }
    return 0;
}

static enum sv_status read_flags(const struct cfg_option *options, size_t count, int *inout_argc,
                                 char **argv, struct source *sources, struct sv_error *err)
{
    int kept = 0;
    int argc = *inout_argc;
    int at = 0;
    for (; at < argc && strcmp(argv[at], "--") != 0;) {
        int words = flag_take(options, count, argc, argv, at, sources);
        if (words < 0) {
            return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, argv[at], "%s needs a value",
                                     argv[at]);
        }
        if (words == 0) {
            argv[kept++] = argv[at++];
        }
        at += words;
    }
    for (at++; at < argc; at++) {
        argv[kept++] = argv[at];
    }
    argv[kept] = NULL;
    *inout_argc = kept;
    return SV_OK;
}

static enum sv_status set_all(const struct cfg_option *options, size_t count,
                              const struct source *sources, struct cfg *cfg, struct sv_error *err)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(sources[i].text) + 1;
    }
    char *storage = calloc(1, bytes);
    if (!storage) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    cfg->storage = storage;
    enum sv_status status = SV_OK;
    for (size_t i = 0; i < count && status == SV_OK; i++) {
        status = set_option(&options[i], &sources[i], cfg, &storage, err);
    }
    return status;
}

enum sv_status cfg_load(int *inout_argc, char **argv, char *const *environment, struct cfg *out_cfg,
                        struct sv_error *err)
{
    size_t count = 0;
    const struct cfg_option *options = cfg_options(&count);
    struct cfg cfg = {0};
    enum sv_status status = SV_ERR_INTERNAL;
    char(*names)[CFG_NAME_SIZE] = calloc(count, sizeof *names);
    struct source *sources = calloc(count, sizeof *sources);
    if (!sources || !names) {
        (void)sv_fail(err, status, "out of memory");
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++) {
        cfg_env_name(&options[i], names[i], sizeof names[i]);
        const char *text = environment_find(environment, names[i]);
        sources[i] = (struct source){text ? text : options[i].def, names[i]};
    }
    status = read_flags(options, count, inout_argc, argv, sources, err);
    if (status == SV_OK) {
        status = set_all(options, count, sources, &cfg, err);
    }
    if (status == SV_OK) {
        *out_cfg = cfg;
        cfg.storage = NULL;
    }
cleanup:
    free(cfg.storage);
    free(sources);
    free(names);
    return status;
}

void cfg_deinit(struct cfg *cfg)
{
    free(cfg->storage);
    *cfg = (struct cfg){0};
}

void cfg_export(const struct cfg *cfg, cfg_export_fn set, void *ctx)
{
    size_t count = 0;
    const struct cfg_option *options = cfg_options(&count);
    char name[CFG_NAME_SIZE];
    char number[32];
    for (size_t i = 0; i < count; i++) {
        const void *field = (const char *)cfg + options[i].offset;
        const char *value = number;
        cfg_env_name(&options[i], name, sizeof name);
        switch (options[i].type) {
        case CFG_TEXT:
        case CFG_CHOICE:
            value = *(const char *const *)field;
            break;
        case CFG_INT:
        case CFG_BYTES:
        case CFG_SECONDS:
            (void)snprintf(number, sizeof number, "%lld", (long long)*(const int64_t *)field);
            break;
        case CFG_BOOL:
            value = *(const bool *)field ? "true" : "false";
            break;
        }
        set(ctx, name, value);
    }
}
