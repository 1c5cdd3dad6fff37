/* SPDX-License-Identifier: MIT */
/* A file that appears only when it is complete: see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A reader that closed its end of our pipe has had enough: a failure, but not one to be told. */
agb_status agb_cannot_write(const char *path, int reason, agb_error *err)
{
    const char *cure = reason == ENOSPC ? ": make room or choose another place"
                       : reason == EPIPE ? ": its reader ended before it had all" : "";
    return agb_fail(err, AGB_ERR_IO, "writing %s: %s%s", path && strcmp(path, "-") != 0 ? path : "standard output",
                    strerror(reason), cure);
}

/* ---- What a path means ------------------------------------------------------------------------------------------- */

/* The number of an own descriptor's entry in its folder of /proc, else -1. */
static int descriptor_of(const char *folder, const char *name)
{
    char own[32];
    size_t length = (size_t)snprintf(own, sizeof own, "/proc/%d/", (int)getpid()), whole = strlen(folder);
    if (strncmp(folder, own, length) != 0 || whole < 3 || strcmp(folder + whole - 3, "/fd") != 0)
        return -1;
    char *end;
    long number = strtol(name, &end, 10);
    return end != name && *end == '\0' && number >= 0 && number < INT_MAX ? (int)number : -1;
}

/* FOLDER/NAME without links in FOLDER, or NULL and errno. *descriptor: the own one that this is the name of, or -1. */
static char *without_folder_links(const char *path, int *descriptor)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL, *whole = NULL;
    free(folder);
    if (real && *name == '\0')
        errno = EISDIR;
    else if (real && asprintf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
        whole = NULL;
    *descriptor = real ? descriptor_of(real, name) : -1;
    free(real);
    return whole;
}

/* The text of a link, relative ones made whole; NULL when path is none. */
static char *link_of(const char *path)
{
    char text[PATH_MAX], *whole = NULL;
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = '\0';
    int folder = text[0] == '/' ? 0 : (int)(strrchr(path, '/') - path) + 1;
    return asprintf(&whole, "%.*s%s", folder, path, text) < 0 ? NULL : whole;
}

/* Follows links, to a file that need not be there. NULL with *descriptor >= 0: that descriptor; else errno says why. */
static char *follow(const char *path, int *descriptor)
{
    enum { MOST_LINKS = 40 };
    char *at = strdup(path);
    for (int links = 0; at && links <= MOST_LINKS; links++) {
        char *real = without_folder_links(at, descriptor);
        free(at);
        if (!real || *descriptor >= 0) {
            free(real);
            return NULL;
        }
        at = link_of(real);
        if (!at)
            return real;
        free(real);
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int open_descriptor(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        errno = EBADF;
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

/* An open descriptor in the target's folder; -1 and errno where none can be made. */
static int open_temporary(agb_output *out)
{
    char *folder = strndup(out->target, (size_t)(strrchr(out->target, '/') - out->target) + 1);
    int fd = -1;
    if (folder && asprintf(&out->temporary, "%s.%d.tmp", out->target, (int)getpid()) >= 0) {
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
        out->nameless = fd >= 0;
        if (fd < 0)
            fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    free(folder);
    return fd;
}

static void forget_temporary(agb_output *out)
{
    if (out->temporary && !out->nameless)
        unlink(out->temporary);
    free(out->temporary);
    out->temporary = NULL;
}

static agb_status open_stream(agb_output *out, int fd, agb_error *err)
{
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->file)
        return AGB_OK;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    forget_temporary(out);
    return agb_cannot_write(out->path, reason, err);
}

agb_status agb_output_prepare(agb_output *out, const char *path, agb_error *err)
{
    *out = (agb_output){.path = path};
    int descriptor = STDOUT_FILENO;
    if (path && strcmp(path, "-") != 0)
        out->target = follow(path, &descriptor);
    if (!out->target)
        return open_stream(out, descriptor >= 0 ? open_descriptor(descriptor) : -1, err);
    struct stat there;
    bool exists = stat(out->target, &there) == 0;
    if (exists && !S_ISREG(there.st_mode)) {
        agb_status status = open_stream(out, open(out->target, O_WRONLY | O_CLOEXEC | O_NOCTTY), err);
        free(out->target);
        out->target = NULL;
        return status;
    }
    int fd = exists && access(out->target, W_OK) != 0 ? -1 : open_temporary(out);
    agb_status status = fd < 0 ? agb_cannot_write(path, errno, err) : AGB_OK;
    if (fd >= 0) {
        close(fd);
        forget_temporary(out);
    }
    return status;
}

/* The new file may be read and written by those who could the old one. Only root can also give it the old owner. */
static void keep_rights(const agb_output *out)
{
    struct stat old;
    if (stat(out->target, &old) != 0)
        return;
    if (fchown(fileno(out->file), old.st_uid, old.st_gid) == 0 || errno == EPERM)
        fchmod(fileno(out->file), old.st_mode & 07777);
}

agb_status agb_output_begin(agb_output *out, agb_error *err)
{
    if (!out->target)
        return AGB_OK;
    agb_status status = open_stream(out, open_temporary(out), err);
    if (status == AGB_OK)
        keep_rights(out);
    return status;
}

/* ---- Closing ----------------------------------------------------------------------------------------------------- */

/* Gives a complete file its name. */
static int publish(const agb_output *out)
{
    if (!out->target)
        return 0;
    if (out->nameless) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(out->file));
        if (linkat(AT_FDCWD, link, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) != 0)
            return errno;
    }
    if (rename(out->temporary, out->target) != 0) {
        int reason = errno;
        unlink(out->temporary);
        return reason;
    }
    return 0;
}

/* It may have failed long ago: one more byte brings the reason back. */
int agb_write_error(FILE *file)
{
    if (fflush(file) != 0)
        return errno;
    if (!ferror(file))
        return 0;
    return write(fileno(file), "\n", 1) < 0 ? errno : EIO;
}

agb_status agb_output_close(agb_output *out, agb_error *err)
{
    int reason = agb_write_error(out->file);
    if (reason == 0)
        reason = publish(out);
    if (reason == 0) {
        free(out->temporary);
        out->temporary = NULL;
    }
    agb_output_release(out);
    return reason ? agb_cannot_write(out->path, reason, err) : AGB_OK;
}

void agb_output_release(agb_output *out)
{
    if (out->file)
        fclose(out->file);
    forget_temporary(out);
    free(out->target);
    out->file = NULL;
    out->target = NULL;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static bool find_place(const agb_output *out, struct stat *place)
{
    return (out->target ? stat(out->target, place) : out->file ? fstat(fileno(out->file), place) : -1) == 0;
}

bool agb_output_is(const agb_output *out, const struct stat *file)
{
    struct stat place;
    return find_place(out, &place) && !S_ISCHR(place.st_mode) && place.st_dev == file->st_dev &&
           place.st_ino == file->st_ino;
}

bool agb_output_same(const agb_output *a, const agb_output *b)
{
    struct stat place;
    if (a->target && b->target && strcmp(a->target, b->target) == 0)
        return true;
    return find_place(a, &place) && agb_output_is(b, &place);
}
