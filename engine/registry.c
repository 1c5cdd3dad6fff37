/* SPDX-License-Identifier: MIT */
/* What there is to choose from: built-in aggregators and loaders (lists made by the Makefile), and plug-ins. */
#include "internal.h"
#include "loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

extern const agb_aggregator *const agb_builtin_aggregators[];
extern const agb_loader *const agb_builtin_loaders[];

typedef struct entry {
    const agb_aggregator *aggregator;
    agb_aggregator *completed;    /* owned: the descriptor of an older header, with 0 in the fields it lacks; or NULL */
} entry;

struct agb_registry {
    size_t aggregators, libraries;
    entry *entry;
    void **library;
};

/* What the first header of this interface version had. Never to be raised within the version. */
static const size_t least_bytes = offsetof(agb_aggregator, need);

const char *agb_version(void)
{
    return AGB_VERSION;
}

/* ---- Checking a descriptor ---- */

static agb_status refuse(const char *from, const char *why, agb_error *err)
{
    return agb_fail(err, AGB_ERR_PLUGIN, "%s: %s: build it against this program's engine/aggregator.h", from, why);
}

static agb_status check_params(const agb_aggregator *a, const char *from, agb_error *err)
{
    size_t count = 0;
    for (const agb_param *p = a->params; p && p->name; p++, count++) {
        if (count == AGB_MOST_PARAMS)
            return refuse(from, "it has more than 8 parameters", err);
        if (!p->about || p->least > p->standard || p->standard > p->most)
            return agb_fail(err, AGB_ERR_PLUGIN, "%s: parameter '%s': needs a text and least <= standard <= most", from,
                            p->name);
    }
    return AGB_OK;
}

agb_status agb_aggregator_check_version(uint32_t abi, uint32_t size, const char *from, agb_error *err)
{
    if (abi != AGB_AGGREGATOR_ABI)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: built for interface version %u, this program has version %u: build "
                        "it again", from, abi, AGB_AGGREGATOR_ABI);
    if (size < least_bytes)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: its descriptor has %u bytes, at least %zu are needed: build it again",
                        from, size, least_bytes);
    return AGB_OK;
}

agb_status agb_aggregator_check(const agb_aggregator *a, const char *from, agb_error *err)
{
    agb_status status = agb_aggregator_check_version(a->abi, a->size, from, err);
    if (status != AGB_OK)
        return status;
    if (!a->name || !*a->name || strpbrk(a->name, ":,= /"))
        return refuse(from, "its name is missing or holds one of : , = / or a space", err);
    if (!a->summary || !a->create || !a->consume || !a->finish || !a->destroy)
        return refuse(from, "its summary or one of create, consume, finish, destroy is missing", err);
    if (!(a->traits & (AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES)))
        return refuse(from, "its traits name no kind of key", err);
    size_t phases = 0;
    while (a->phases && phases <= AGB_MOST_PHASES && a->phases[phases])
        phases++;
    if (phases == 0 || phases > AGB_MOST_PHASES)
        return refuse(from, "it must name 1 to 8 phases", err);
    return check_params(a, from, err);
}

/* ---- The registry ---- */

agb_status agb_registry_create_empty(agb_registry **out, agb_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "registry: no memory");
}

agb_status agb_registry_create(agb_registry **out, agb_error *err)
{
    agb_status status = agb_registry_create_empty(out, err);
    for (size_t i = 0; status == AGB_OK && agb_builtin_aggregators[i]; i++)
        status = agb_registry_add_aggregator(*out, agb_builtin_aggregators[i], err);
    if (status != AGB_OK) {
        agb_registry_destroy(*out);
        *out = NULL;
    }
    return status;
}

void agb_registry_destroy(agb_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->libraries; i++)
        dlclose(registry->library[i]);
    for (size_t i = 0; i < registry->aggregators; i++)
        free(registry->entry[i].completed);
    free(registry->library);
    free(registry->entry);
    free(registry);
}

agb_status agb_registry_add_aggregator(agb_registry *registry, const agb_aggregator *aggregator, agb_error *err)
{
    bool readable = aggregator->abi == AGB_AGGREGATOR_ABI && aggregator->size >= least_bytes && aggregator->name;
    const char *name = readable ? aggregator->name : "aggregator without a name";
    agb_status status = agb_aggregator_check(aggregator, name, err);
    if (status != AGB_OK)
        return status;
    if (agb_registry_find_aggregator(registry, name))
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: an aggregator of that name is there already: rename one", name);
    entry *more = realloc(registry->entry, (registry->aggregators + 1) * sizeof(*more));
    agb_aggregator *completed = more && aggregator->size < sizeof *completed ? calloc(1, sizeof *completed) : NULL;
    if (more)
        registry->entry = more;
    if (!more || (aggregator->size < sizeof *completed && !completed))
        return agb_fail(err, AGB_ERR_MEMORY, "registry: no memory for '%s'", name);
    if (completed)
        memcpy(completed, aggregator, aggregator->size);
    more[registry->aggregators++] = (entry){completed ? completed : aggregator, completed};
    return AGB_OK;
}

agb_status agb_registry_keep_open(agb_registry *registry, void *library, agb_error *err)
{
    void **more = realloc(registry->library, (registry->libraries + 1) * sizeof *more);
    if (!more)
        return agb_fail(err, AGB_ERR_MEMORY, "registry: no memory for one more plug-in");
    registry->library = more;
    registry->library[registry->libraries++] = library;
    return AGB_OK;
}

const agb_aggregator *agb_registry_find_aggregator(const agb_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->aggregators; i++)
        if (strcmp(registry->entry[i].aggregator->name, name) == 0)
            return registry->entry[i].aggregator;
    return NULL;
}

const agb_aggregator *agb_registry_aggregator_at(const agb_registry *registry, size_t i)
{
    return i < registry->aggregators ? registry->entry[i].aggregator : NULL;
}

const agb_loader *agb_registry_find_loader(const agb_registry *registry, const char *name)
{
    const agb_loader *loader = NULL;
    for (size_t i = 0; (loader = agb_registry_loader_at(registry, i)); i++)
        if (strcmp(loader->name, name) == 0)
            break;
    return loader;
}

const agb_loader *agb_registry_loader_at(const agb_registry *registry, size_t i)
{
    (void)registry;    /* loaders are built in only */
    size_t count = 0;
    while (agb_builtin_loaders[count])
        count++;
    return i < count ? agb_builtin_loaders[i] : NULL;
}
