/* SPDX-License-Identifier: MIT */
/* Plug-ins: a strategy's file compiled with `cc -shared -fPIC -Iengine -Iaggregators NAME.c -o NAME.so`. The file's stem
 * tells the symbol, `agb_aggregator_NAME`, which is checked before any of its functions is called. */
#include "internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void stem_of(const char *path, char *stem, size_t room)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.');
    snprintf(stem, room, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

static agb_status check_symbol(void *library, const char *path, const agb_aggregator **out, agb_error *err)
{
    char stem[128], symbol[160];
    stem_of(path, stem, sizeof stem);
    snprintf(symbol, sizeof symbol, "agb_aggregator_%s", stem);
    *out = dlsym(library, symbol);
    if (!*out)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: it has no symbol %s: define `const agb_aggregator %s`, named after the "
                        "file", path, symbol, symbol);
    agb_status status = agb_aggregator_check(*out, path, err);
    if (status == AGB_OK && strcmp((*out)->name, stem) != 0)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: its name is '%s', but the file's stem is '%s': make them equal", path,
                        (*out)->name, stem);
    return status;
}

agb_status agb_registry_open_plugin(agb_registry *registry, const char *path, const agb_aggregator **added,
                                    agb_error *err)
{
    if (added)
        *added = NULL;
    if (access(path, R_OK) != 0)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no such plug-in, or it cannot be read", path);
    char *full = realpath(path, NULL);    /* a bare name would be looked up in the system's library path */
    void *library = dlopen(full ? full : path, RTLD_NOW | RTLD_LOCAL);
    free(full);
    if (!library)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: cannot be loaded: %s", path, dlerror());
    const agb_aggregator *aggregator;
    agb_status status = check_symbol(library, path, &aggregator, err);
    if (status == AGB_OK)
        status = agb_registry_add_aggregator(registry, aggregator, err);
    if (status == AGB_OK)
        status = agb_registry_keep_open(registry, library, err);
    if (status != AGB_OK) {
        dlclose(library);
        return status;
    }
    if (added)
        *added = agb_registry_find_aggregator(registry, aggregator->name);
    return AGB_OK;
}
