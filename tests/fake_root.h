/* SPDX-License-Identifier: MIT */
/* A small /proc and /sys of the test's own, in a temporary folder. */
#ifndef AGB_FAKE_ROOT_H
#define AGB_FAKE_ROOT_H

#include "test.h"

#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

typedef struct fake_root {
    char path[64];
} fake_root;

static inline fake_root fake_root_create(void)
{
    fake_root root = {"/tmp/agb_root_XXXXXX"};
    assert_non_null(mkdtemp(root.path));
    return root;
}

/* Makes the folders on the way. */
static inline void fake_root_write(const fake_root *root, const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root->path, path);
    for (char *slash = full + strlen(root->path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void fake_root_destroy(const fake_root *root)
{
    char *const paths[] = {(char *)root->path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree));)
        if (entry->fts_info != FTS_D)    /* a folder comes again after what is in it */
            remove(entry->fts_accpath);
    if (tree)
        fts_close(tree);
}

#endif
