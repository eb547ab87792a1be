/* SPDX-License-Identifier: MIT
 *
 * The rows of the option table, the names that follow from a key, and the table for people.
 */
#include "server/config/config.h"

#include <ctype.h>
#include <string.h>

static const struct cfg_option OPTIONS[] = {
#define OPTION_ROW(kind, key, type, def, min, max, range, doc)                                     \
    {#key, type, def, min, max, range, doc, offsetof(struct cfg, key)},
    CFG_OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
};

#define OPTION_COUNT (sizeof OPTIONS / sizeof OPTIONS[0])

const struct cfg_option *cfg_options(size_t *out_count)
{
    *out_count = OPTION_COUNT;
    return OPTIONS;
}

void cfg_env_name(const struct cfg_option *option, char *out, size_t out_size)
{
    (void)snprintf(out, out_size, "ASSAY_%s", option->key);
    for (char *p = out; *p; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
}

void cfg_flag_name(const struct cfg_option *option, char *out, size_t out_size)
{
    (void)snprintf(out, out_size, "--%s", option->key);
    for (char *p = out; *p; p++) {
        if (*p == '_') {
            *p = '-';
        }
    }
}

static void print_range(FILE *out, const struct cfg_option *option)
{
    switch (option->type) {
    case CFG_TEXT:
        break;
    case CFG_BOOL:
        (void)fputs("; true or false", out);
        break;
    case CFG_CHOICE:
        (void)fprintf(out, "; %s", option->range);
        break;
    case CFG_INT:
    case CFG_BYTES:
    case CFG_SECONDS:
        (void)fprintf(out, "; %lld to %lld%s", (long long)option->min, (long long)option->max,
                      option->type == CFG_BYTES     ? " bytes, suffix K, M or G"
                      : option->type == CFG_SECONDS ? " seconds"
                                                    : "");
        break;
    }
}

void cfg_print_help(FILE *out)
{
    char env[CFG_NAME_SIZE];
    char flag[CFG_NAME_SIZE];
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct cfg_option *option = &OPTIONS[i];
        cfg_env_name(option, env, sizeof env);
        cfg_flag_name(option, flag, sizeof flag);
        (void)fprintf(out, "  %-28s %s\n", flag, env);
        (void)fprintf(out, "      %s\n", option->doc);
        (void)fprintf(out, "      default: %s", option->def[0] ? option->def : "empty");
        print_range(out, option);
        (void)fputc('\n', out);
    }
}
