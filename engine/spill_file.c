/* SPDX-License-Identifier: MIT */
/* A file for what does not fit the memory budget: blocks are appended, each with its length and an XXH3 checksum, and
 * read back by their ticket. It has no name from the first moment on, so that no end of the process, however sudden,
 * leaves it behind.
 *
 *     file    [length|checksum|bytes ...][length|checksum|bytes ...] ...        ticket = offset + 1; 0 is no block */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct block_head {
    uint64_t bytes, checksum;
} block_head;

struct agb_spill_file {
    char *folder;
    pthread_mutex_t lock;
    int fd;                      /* -1 until the first block */
    atomic_uint_fast64_t end;    /* of the file: blocks of several workers are written side by side */
    atomic_uint_fast64_t bytes;
    agb_error failure;           /* the first one */
};

agb_status agb_spill_file_create(agb_spill_file **out, const char *folder, agb_error *err)
{
    agb_spill_file *spill = calloc(1, sizeof *spill);
    char *copy = strdup(folder);
    *out = spill;
    if (!spill || !copy) {
        free(spill);
        free(copy);
        *out = NULL;
        return agb_fail(err, AGB_ERR_MEMORY, "spill: no memory for its own bookkeeping");
    }
    spill->folder = copy;
    spill->fd = -1;
    pthread_mutex_init(&spill->lock, NULL);
    return AGB_OK;
}

void agb_spill_file_destroy(agb_spill_file *spill)
{
    if (!spill)
        return;
    if (spill->fd >= 0)
        close(spill->fd);
    pthread_mutex_destroy(&spill->lock);
    free(spill->folder);
    free(spill);
}

uint64_t agb_spill_file_bytes(const agb_spill_file *spill)
{
    return spill ? atomic_load(&spill->bytes) : 0;
}

const agb_error *agb_spill_file_failure(const agb_spill_file *spill)
{
    return spill && spill->failure.status != AGB_OK ? &spill->failure : NULL;
}

static agb_status fail(agb_spill_file *spill, const char *what, const char *why)
{
    pthread_mutex_lock(&spill->lock);
    if (spill->failure.status == AGB_OK)
        agb_fail(&spill->failure, AGB_ERR_IO, "spill: %s: %s: %s: free space there, name another folder, or raise the "
                 "memory budget", spill->folder, what, why);
    pthread_mutex_unlock(&spill->lock);
    return AGB_ERR_IO;
}

/* A file without a name; where the file system has none, one whose name is taken away at once. */
static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path;
    if (asprintf(&path, "%s/aggbench-spill-XXXXXX", folder) < 0)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static agb_status open_once(agb_spill_file *spill)
{
    pthread_mutex_lock(&spill->lock);
    if (spill->fd < 0)
        spill->fd = open_nameless(spill->folder);
    int fd = spill->fd, reason = errno;
    pthread_mutex_unlock(&spill->lock);
    return fd >= 0 ? AGB_OK : fail(spill, "no temporary file can be made", strerror(reason));
}

/* All of both parts at this offset, however often the system stops half-way. */
static agb_status write_all(agb_spill_file *spill, struct iovec parts[2], uint64_t offset)
{
    while (parts[0].iov_len + parts[1].iov_len) {
        ssize_t n = pwritev(spill->fd, parts, 2, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(spill, "cannot write", n < 0 ? strerror(errno) : "nothing was taken");
        offset += (uint64_t)n;
        for (int i = 0; i < 2 && n; i++) {
            size_t done = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + done;
            parts[i].iov_len -= done;
            n -= (ssize_t)done;
        }
    }
    return AGB_OK;
}

agb_status agb_spill_file_write(agb_spill_file *spill, const void *bytes, size_t n, uint64_t *ticket)
{
    agb_status status = open_once(spill);
    if (status != AGB_OK)
        return status;
    block_head head = {n, XXH3_64bits(bytes, n)};
    uint64_t offset = atomic_fetch_add(&spill->end, sizeof head + n);
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, n}};
    status = write_all(spill, parts, offset);
    atomic_fetch_add(&spill->bytes, n);
    *ticket = offset + 1;
    return status;
}

static agb_status read_all(agb_spill_file *spill, void *bytes, size_t n, uint64_t offset)
{
    while (n) {
        ssize_t got = pread(spill->fd, bytes, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(spill, "cannot read back", got < 0 ? strerror(errno) : "the file is shorter than was written");
        bytes = (char *)bytes + got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return AGB_OK;
}

agb_status agb_spill_file_read(agb_spill_file *spill, uint64_t ticket, void *bytes, size_t n)
{
    block_head head;
    agb_status status = read_all(spill, &head, sizeof head, ticket - 1);
    if (status == AGB_OK && head.bytes != n)
        return fail(spill, "cannot read back", "the length differs from what was written");
    if (status == AGB_OK)
        status = read_all(spill, bytes, n, ticket - 1 + sizeof head);
    if (status == AGB_OK && XXH3_64bits(bytes, n) != head.checksum)
        return fail(spill, "cannot read back", "the checksum differs from what was written");
    return status;
}
