/* SPDX-License-Identifier: MIT */
/* Plug-ins: a strategy's file compiled with `cc -shared -fPIC -Iengine -Iaggregators NAME.c -o NAME.so`. The file's
 * stem tells the symbol, `agb_aggregator_NAME`. Whether it is there, and of which version, is looked up in the file
 * first, for to load a plug-in is to run its constructors. */
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

typedef struct names {
    const char *path;
    char stem[128], symbol[160];
} names;

static agb_status no_symbol(const names *names, agb_error *err)
{
    return agb_fail(err, AGB_ERR_PLUGIN, "%s: it has no symbol %s: define `const agb_aggregator %s`, named after the "
                    "file", names->path, names->symbol, names->symbol);
}

/* Before it is loaded. What its file does not tell is told after that. */
static agb_status check_file(const names *names, agb_error *err)
{
    agb_plugin_head head = agb_plugin_head_read(names->path, names->symbol);
    if (head.is_known && !head.has_symbol)
        return no_symbol(names, err);
    return head.has_numbers ? agb_aggregator_check_version(head.abi, head.size, names->path, err) : AGB_OK;
}

static agb_status check_symbol(void *library, const names *names, const agb_aggregator **out, agb_error *err)
{
    *out = dlsym(library, names->symbol);
    if (!*out)
        return no_symbol(names, err);
    agb_status status = agb_aggregator_check(*out, names->path, err);
    if (status == AGB_OK && strcmp((*out)->name, names->stem) != 0)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: its name is '%s', but the file's stem is '%s': make them equal",
                        names->path, (*out)->name, names->stem);
    return status;
}

agb_status agb_registry_open_plugin(agb_registry *registry, const char *path, const agb_aggregator **added,
                                    agb_error *err)
{
    if (added)
        *added = NULL;
    if (access(path, R_OK) != 0)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no such plug-in, or it cannot be read", path);
    names names = {.path = path};
    stem_of(path, names.stem, sizeof names.stem);
    snprintf(names.symbol, sizeof names.symbol, "agb_aggregator_%s", names.stem);
    agb_status status = check_file(&names, err);
    if (status != AGB_OK)
        return status;
    char *full = realpath(path, NULL);    /* a bare name would be looked up in the system's library path */
    void *library = dlopen(full ? full : path, RTLD_NOW | RTLD_LOCAL);
    free(full);
    if (!library)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: cannot be loaded: %s", path, dlerror());
    const agb_aggregator *aggregator;
    status = check_symbol(library, &names, &aggregator, err);
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
