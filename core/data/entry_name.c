/* SPDX-License-Identifier: MIT
 *
 * Names of archive entries: user text that is only ever compared, listed and cut into components,
 * never opened. Still refused when it would be dangerous to others, for such archives are no
 * accidents.
 */
#include <string.h>
#include <strings.h>

#include "core/data/import_internal.h"
#include "core/data/prepared_internal.h"

#define COMPONENT_MAX 255

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static bool has_dotdot(const char *name)
{
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            return true;
        }
        p += n;
        p += is_separator(*p);
    }
    return false;
}

static bool has_control(const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p < 0x20 || *p == 0x7f) {
            return true;
        }
    }
    return false;
}

static bool is_absolute(const char *name)
{
    bool letter = (name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z');
    return is_separator(name[0]) || (letter && name[1] == ':');
}

static const char *judge(const char *name)
{
    size_t n = strnlen(name, NN_ENTRY_NAME_MAX + 1);
    if (n > NN_ENTRY_NAME_MAX) {
        return "name_too_long";
    }
    if (!nn_text_is_utf8(name, n)) {
        return "name_not_utf8";
    }
    if (has_dotdot(name)) {
        return "path_traversal";
    }
    if (is_absolute(name)) {
        return "absolute_path";
    }
    return n == 0 || has_control(name) || strchr(name, '\\') ? "bad_path" : NULL;
}

const char *nn_entry_name_clean(const char *stored, char *out)
{
    const char *reason = stored ? judge(stored) : "name_not_utf8";
    char *end = out;
    *out = '\0';
    if (reason) {
        return reason;
    }
    for (const char *p = stored; *p;) {
        size_t n = strcspn(p, "/");
        if (n > COMPONENT_MAX) {
            return "name_too_long";
        }
        if (n > 0 && !(n == 1 && p[0] == '.')) {
            if (end != out) {
                *end++ = '/';
            }
            memcpy(end, p, n);
            end += n;
        }
        p += n + (p[n] == '/');
    }
    *end = '\0';
    return NULL;
}

static bool is_system_file(const char *component, size_t n)
{
    static const char *const names[] = {"__MACOSX", "Thumbs.db", "desktop.ini"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (n == strlen(names[i]) && strncasecmp(component, names[i], n) == 0) {
            return true;
        }
    }
    return false;
}

const char *nn_entry_name_ignored(const char *name)
{
    while (*name) {
        size_t n = strcspn(name, "/");
        if (name[0] == '.') {
            return "hidden";
        }
        if (is_system_file(name, n)) {
            return "system_file";
        }
        name += n + (name[n] == '/');
    }
    return NULL;
}

const char *nn_entry_name_part(const char *name, size_t k, size_t *out_length)
{
    for (; k > 0; k--) {
        name = strchr(name, '/');
        if (!name) {
            return NULL;
        }
        name++;
    }
    *out_length = strcspn(name, "/");
    return name;
}

size_t nn_entry_name_depth(const char *name)
{
    size_t depth = *name != '\0';
    for (; *name; name++) {
        depth += *name == '/';
    }
    return depth;
}

const char *nn_class_name_fault(const char *name)
{
    size_t n = strlen(name);
    return n == 0                      ? "is empty"
           : n > COMPONENT_MAX         ? "is longer than 255 bytes"
           : !nn_text_is_utf8(name, n) ? "is not UTF-8"
           : has_control(name)         ? "has control characters"
                                       : NULL;
}

/* Base letters of U+00C0 to U+017F; '?' where there is none. */
static const char BASE_LETTERS[] = "aaaaaaaceeeeiiiidnooooo?ouuuuyts"
                                   "aaaaaaaceeeeiiiidnooooo?ouuuuyty"
                                   "aaaaaaccccccccddddeeeeeeeeeegggg"
                                   "gggghhhhiiiiiiiiiiiijjkkklllllll"
                                   "lllnnnnnnnnnoooooooorrrrrrssssss"
                                   "ssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
_Static_assert(sizeof BASE_LETTERS == 0x180 - 0xC0 + 1, "one letter each");

void nn_name_fold(const char *name, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t n = 0;
    while (*p && n + 1 < size) {
        unsigned code =
            p[0] >= 0xC3 && p[0] <= 0xCD && p[1] ? (p[0] & 0x1FU) << 6 | (p[1] & 0x3FU) : 0;
        if (code >= 0x300 && code < 0x370) { /* a combining mark */
            p += 2;
        } else if (code >= 0xC0 && code < 0x180 && BASE_LETTERS[code - 0xC0] != '?') {
            out[n++] = BASE_LETTERS[code - 0xC0];
            p += 2;
        } else {
            out[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
            p++;
        }
    }
    out[n] = '\0';
}
