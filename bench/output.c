/* SPDX-License-Identifier: MIT */
/* A file that appears only when it is complete: see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A reader that closed its end of our pipe has had enough: a failure, but not one to be told. */
static agb_status cannot(const char *path, int reason, agb_error *err)
{
    if (reason == EPIPE)
        return agb_fail(err, AGB_ERR_IO, "%s", "");
    return agb_fail(err, AGB_ERR_IO, "writing %s: %s%s", path ? path : "standard output", strerror(reason),
                    reason == ENOSPC ? ": make room or choose another place" : "");
}

/* An open descriptor without a name in the folder of path; -1 where the file system has no such thing. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

agb_status agb_output_open(agb_output *out, const char *path, agb_error *err)
{
    *out = (agb_output){.path = path};
    if (!path) {
        out->file = stdout;
        return AGB_OK;
    }
    struct stat there;
    int fd;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        if (asprintf(&out->temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
            return agb_fail(err, AGB_ERR_MEMORY, "writing %s: no memory", path);
        fd = open_nameless(path);
        out->nameless = fd >= 0;
        if (fd < 0)
            fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out->file) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        free(out->temporary);
        out->temporary = NULL;
        return cannot(path, reason, err);
    }
    return AGB_OK;
}

agb_status agb_output_check(const char *path, agb_error *err)
{
    agb_output output;
    agb_status status = agb_output_open(&output, path, err);
    if (status != AGB_OK || !path)
        return status;
    fclose(output.file);
    if (output.temporary && !output.nameless)
        unlink(output.temporary);
    free(output.temporary);
    return AGB_OK;
}

/* Gives a complete file its name. */
static int publish(const agb_output *out)
{
    if (!out->temporary)
        return 0;
    if (out->nameless) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(out->file));
        if (linkat(AT_FDCWD, link, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) != 0)
            return errno;
    }
    if (rename(out->temporary, out->path) != 0) {
        int reason = errno;
        unlink(out->temporary);
        return reason;
    }
    return 0;
}

/* errno of the first write that failed, or 0. It may have failed long ago: one more byte brings the reason back. */
static int write_error(FILE *file)
{
    if (fflush(file) != 0)
        return errno;
    if (!ferror(file))
        return 0;
    return write(fileno(file), "\n", 1) < 0 ? errno : EIO;
}

agb_status agb_output_close(agb_output *out, agb_error *err)
{
    int reason = write_error(out->file);
    if (reason == 0)
        reason = publish(out);
    if (reason != 0 && out->temporary && !out->nameless)
        unlink(out->temporary);
    if (out->path)
        fclose(out->file);
    free(out->temporary);
    out->temporary = NULL;
    return reason ? cannot(out->path, reason, err) : AGB_OK;
}
