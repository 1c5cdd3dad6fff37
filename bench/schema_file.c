/* SPDX-License-Identifier: MIT */
/* Reading the file of --schema whole: see schema_file.h. What stands in it is the loader's to judge. */
#include "schema_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };    /* 4096 columns with names of 250 bytes */

agb_status agb_schema_file_read(char **text, const char *path, agb_error *err)
{
    *text = NULL;
    if (!path)
        return AGB_OK;
    FILE *file = fopen(path, "re");
    char *read = file ? malloc(MOST_BYTES + 1) : NULL;
    size_t bytes = read ? fread(read, 1, MOST_BYTES + 1, file) : 0;
    int reason = !read || ferror(file) ? errno : 0;
    if (file)
        fclose(file);
    const char *problem = reason                      ? strerror(reason)
                          : bytes > MOST_BYTES        ? "larger than 1 MiB"
                          : memchr(read, '\0', bytes) ? "no text: it holds a NUL byte"
                                                      : NULL;
    if (problem) {
        free(read);
        return agb_fail(err, reason ? AGB_ERR_IO : AGB_ERR_ARGUMENT,
                        "--schema: %s: %s: name a file of lines NAME TYPE", path, problem);
    }
    read[bytes] = '\0';
    *text = read;
    return AGB_OK;
}

void agb_schema_file_name(agb_error *err, const char *path)
{
    static const char nameless[] = "schema: ";
    agb_error found = *err;
    if (path && found.status == AGB_ERR_ARGUMENT && strncmp(found.text, nameless, strlen(nameless)) == 0)
        agb_fail(err, found.status, "%s: %s", path, found.text + strlen(nameless));
}
