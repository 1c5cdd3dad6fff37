/* SPDX-License-Identifier: MIT */
/* Reading and writing at a place of a file: see file.h. */
#include "common/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

agb_status agb_file_read(int fd, uint64_t offset, void *out, size_t bytes, agb_error *err)
{
    unsigned char *to = out;
    while (bytes) {
        ssize_t got = pread(fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return agb_fail(err, AGB_ERR_IO, "reading %zu bytes at offset %llu: %s", bytes,
                            (unsigned long long)offset, strerror(errno));
        if (got == 0)
            return agb_fail(err, AGB_ERR_IO, "the file became shorter while it was read: nothing is at offset %llu: "
                            "load it again when nobody writes to it", (unsigned long long)offset);
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return AGB_OK;
}

int agb_file_write(int fd, uint64_t offset, const void *from, size_t bytes)
{
    const unsigned char *at = from;
    while (bytes) {
        ssize_t put = pwrite(fd, at, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : EIO;
        at += put;
        offset += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return 0;
}

bool agb_file_has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(path + length - suffix_length, suffix) == 0;
}
