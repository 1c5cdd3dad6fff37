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
    if (!file)
        return agb_fail(err, AGB_ERR_IO, "--schema: %s: %s: name a file of lines NAME TYPE", path, strerror(errno));
    char *read = malloc(MOST_BYTES + 1);
    size_t bytes = read ? fread(read, 1, MOST_BYTES + 1, file) : 0;
    int reason = !read ? ENOMEM : ferror(file) ? errno : 0;
    fclose(file);
    agb_status status = AGB_OK;
    if (reason)
        status = agb_fail(err, AGB_ERR_IO, "--schema: %s: %s: name a file of lines NAME TYPE", path, strerror(reason));
    else if (bytes > MOST_BYTES || memchr(read, '\0', bytes))
        status = agb_fail(err, AGB_ERR_ARGUMENT, "--schema: %s: %s: name a file of lines NAME TYPE", path,
                          bytes > MOST_BYTES ? "larger than 1 MiB" : "no text: it holds a NUL byte");
    if (status != AGB_OK) {
        free(read);
        return status;
    }
    read[bytes] = '\0';
    *text = read;
    return AGB_OK;
}
