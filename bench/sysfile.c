/* SPDX-License-Identifier: MIT */
/* Reading of small kernel files. A file that is missing or malformed is an ordinary answer here, never an error. */
#include "sysfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_below(const char *root, const char *path)
{
    char full[PATH_MAX];
    if ((size_t)snprintf(full, sizeof full, "%s%s", root, path) >= sizeof full) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(full, "re");
}

int agb_sysfile_try(const char *root, const char *path, char *text, size_t size)
{
    text[0] = '\0';
    FILE *file = open_below(root, path);
    if (!file)
        return errno;
    errno = 0;
    size_t length = fread(text, 1, size - 1, file);
    int failed = ferror(file) ? errno ? errno : EIO : 0;
    fclose(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[failed ? 0 : length] = '\0';
    return failed;
}

bool agb_sysfile_read(const char *root, const char *path, char *text, size_t size)
{
    return agb_sysfile_try(root, path, text, size) == 0;
}

bool agb_sysfile_number(const char *root, const char *path, int64_t *number)
{
    char text[64], *end;
    if (!agb_sysfile_read(root, path, text, sizeof text) || text[0] == '\0')
        return false;
    *number = strtoll(text, &end, 10);
    return *end == '\0';
}

bool agb_sysfile_any_line(const char *root, const char *path, bool (*see)(char *line, void *context), void *context)
{
    FILE *file = open_below(root, path);
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (file && !found && getline(&line, &room, file) > 0)
        found = see(line, context);
    free(line);
    if (file)
        fclose(file);
    return found;
}

typedef struct wanted_field {
    const char *name;
    char *value;
    size_t size;
} wanted_field;

static bool read_field(char *line, void *context)
{
    const wanted_field *wanted = context;
    size_t length = strlen(wanted->name);
    if (strncmp(line, wanted->name, length) != 0)
        return false;
    const char *at = line + length;
    at += strspn(at, " \t");
    if (*at != ':')
        return false;
    at++;
    at += strspn(at, " \t");
    snprintf(wanted->value, wanted->size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

bool agb_sysfile_field(const char *root, const char *path, const char *name, char *value, size_t size)
{
    wanted_field wanted = {name, value, size};
    value[0] = '\0';
    return agb_sysfile_any_line(root, path, read_field, &wanted);
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
