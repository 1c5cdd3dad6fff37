/* SPDX-License-Identifier: MIT */
/* A file that appears when it is complete: see draft.h. The order is what counts: the bytes are on the disk (fsync)
 * before the name points to them (rename), and the name is on the disk before success is told (fsync of the folder). */
#include "common/draft.h"

#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static agb_status cannot(const char *name, int reason, agb_error *err)
{
    return agb_fail(err, AGB_ERR_IO, "writing %s: %s%s", name, strerror(reason),
                    reason == ENOSPC || reason == EDQUOT ? ": make room or choose another place" : "");
}

static void release(agb_draft *draft)
{
    if (draft->fd >= 0)
        close(draft->fd);
    free(draft->path);
    free(draft->temporary);
    *draft = (agb_draft){.fd = -1};
}

/* Its name without links, so that the link stays and its target is replaced. */
static agb_status resolve(agb_draft *draft, agb_error *err)
{
    struct stat there;
    if (stat(draft->name, &there) == 0) {
        if (!S_ISREG(there.st_mode))
            return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: %s: give the name of a file", draft->name,
                            S_ISDIR(there.st_mode) ? "it is a folder" : "it is no regular file");
        draft->path = realpath(draft->name, NULL);
    } else if (lstat(draft->name, &there) == 0) {
        return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: it is a link to nothing: remove it first", draft->name);
    } else {
        draft->path = strdup(draft->name);
    }
    return draft->path ? AGB_OK : cannot(draft->name, errno, err);
}

/* Where the folder's part of a path ends. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static agb_status create(agb_draft *draft, agb_error *err)
{
    int folder = folder_length(draft->path);
    if (asprintf(&draft->temporary, "%.*s.%s.%d.tmp", folder, draft->path, draft->path + folder, (int)getpid()) < 0) {
        draft->temporary = NULL;
        return cannot(draft->name, ENOMEM, err);
    }
    draft->fd = open(draft->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return draft->fd >= 0 ? AGB_OK : cannot(draft->name, errno, err);
}

agb_status agb_draft_open(agb_draft *out, const char *path, agb_error *err)
{
    *out = (agb_draft){.name = path, .fd = -1};
    agb_status status = resolve(out, err);
    if (status == AGB_OK)
        status = create(out, err);
    if (status != AGB_OK)
        release(out);
    return status;
}

agb_status agb_draft_append(agb_draft *draft, const void *from, size_t bytes, agb_error *err)
{
    int reason = agb_file_write(draft->fd, draft->bytes, from, bytes);
    draft->bytes += bytes;
    return reason ? cannot(draft->name, reason, err) : AGB_OK;
}

void agb_draft_align(agb_draft *draft, uint64_t bytes)
{
    draft->bytes = (draft->bytes + bytes - 1) / bytes * bytes;
}

/* A file system that cannot do this to a folder has other ways to keep its names. */
static void keep_name(const char *path)
{
    int length = folder_length(path);
    char *folder = length ? strndup(path, (size_t)length) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

agb_status agb_draft_publish(agb_draft *draft, agb_error *err)
{
    int reason = fsync(draft->fd) != 0 ? errno : 0;
    if (!reason && rename(draft->temporary, draft->path) != 0)
        reason = errno;
    if (reason) {
        agb_status status = cannot(draft->name, reason, err);
        agb_draft_drop(draft);
        return status;
    }
    keep_name(draft->path);
    release(draft);
    return AGB_OK;
}

void agb_draft_drop(agb_draft *draft)
{
    if (draft->temporary)
        unlink(draft->temporary);
    release(draft);
}
