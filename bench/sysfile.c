/* SPDX-License-Identifier: MIT */
/* Reading of small kernel files. A file that is missing or malformed is an ordinary answer here, never an error. */
#include "sysfile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_below(const char *root, const char *path)
{
    char full[PATH_MAX];
    if ((size_t)snprintf(full, sizeof full, "%s%s", root, path) >= sizeof full)
        return NULL;
    return fopen(full, "re");
}

bool agb_sysfile_read(const char *root, const char *path, char *text, size_t size)
{
    text[0] = '\0';
    FILE *file = open_below(root, path);
    if (!file)
        return false;
    size_t length = fread(text, 1, size - 1, file);
    bool read = !ferror(file);
    fclose(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[read ? length : 0] = '\0';
    return read;
}

bool agb_sysfile_number(const char *root, const char *path, int64_t *number)
{
    char text[64], *end;
    if (!agb_sysfile_read(root, path, text, sizeof text) || text[0] == '\0')
        return false;
    *number = strtoll(text, &end, 10);
    return *end == '\0';
}

bool agb_sysfile_field(const char *root, const char *path, const char *name, char *value, size_t size)
{
    value[0] = '\0';
    FILE *file = open_below(root, path);
    if (!file)
        return false;
    char *line = NULL;
    size_t room = 0, length = strlen(name);
    bool found = false;
    while (!found && getline(&line, &room, file) > 0) {
        const char *at = line + length;
        if (strncmp(line, name, length) != 0)
            continue;
        at += strspn(at, " \t");
        if (*at != ':')
            continue;
        at++;
        at += strspn(at, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    free(line);
    fclose(file);
    return found;
}

bool agb_sysfile_field_number(const char *root, const char *path, const char *name, uint64_t *number)
{
    char text[64], *end;
    if (!agb_sysfile_field(root, path, name, text, sizeof text))
        return false;
    *number = strtoull(text, &end, 0);
    return end != text;
}

bool agb_sysfile_exists(const char *root, const char *path)
{
    char full[PATH_MAX];
    return (size_t)snprintf(full, sizeof full, "%s%s", root, path) < sizeof full && access(full, F_OK) == 0;
}
