/* SPDX-License-Identifier: MIT */
/* Plug-ins, kept outside this process: see plugins.h. */
#include "plugins.h"

#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const double most_s = 10;

/* A descriptor with all that it points to, in memory that stands at the same address in parent and child. */
typedef struct agb_plugin_sketch {
    agb_aggregator aggregator;
    const char *phases[AGB_MOST_PHASES + 1];
    agb_param params[AGB_MOST_PARAMS + 1];
    size_t used;
    char texts[1 << 16];
} agb_plugin_sketch;

typedef struct trial {
    agb_registry *registry;
    const char *path;
    agb_plugin_sketch *sketch;
    double timeout_s;
} trial;

/* ---- In the child ------------------------------------------------------------------------------------------------ */

static const char *keep(agb_plugin_sketch *sketch, const char *text, bool *fits)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    if (bytes > sizeof sketch->texts - sketch->used) {
        *fits = false;
        return NULL;
    }
    char *at = sketch->texts + sketch->used;
    sketch->used += bytes;
    return memcpy(at, text, bytes);
}

static agb_status never_create(agb_host *host, const agb_config *config, void **self)
{
    (void)host;
    (void)config;
    (void)self;
    return AGB_ERR_CONTRACT;
}

static agb_status never_consume(void *self, unsigned worker, const agb_batch *batch)
{
    (void)self;
    (void)worker;
    (void)batch;
    return AGB_ERR_CONTRACT;
}

static agb_status never_finish(void *self)
{
    (void)self;
    return AGB_ERR_CONTRACT;
}

static void never_destroy(void *self)
{
    (void)self;
}

static bool draw(agb_plugin_sketch *sketch, const agb_aggregator *real)
{
    bool fits = true;
    for (size_t i = 0; real->phases[i]; i++)
        sketch->phases[i] = keep(sketch, real->phases[i], &fits);
    for (size_t i = 0; real->params && real->params[i].name; i++) {
        sketch->params[i] = real->params[i];
        sketch->params[i].name = keep(sketch, real->params[i].name, &fits);
        sketch->params[i].about = keep(sketch, real->params[i].about, &fits);
    }
    sketch->aggregator = (agb_aggregator){
        .abi = AGB_AGGREGATOR_ABI, .size = sizeof sketch->aggregator, .name = keep(sketch, real->name, &fits),
        .summary = keep(sketch, real->summary, &fits), .prediction = keep(sketch, real->prediction, &fits),
        .phases = sketch->phases, .params = sketch->params, .traits = real->traits, .create = never_create,
        .consume = never_consume, .finish = never_finish, .destroy = never_destroy, .need = real->need};
    return fits;
}

static void try_in_child(void *context, int in, int out)
{
    (void)in;
    const trial *trial = context;
    const agb_aggregator *real;
    agb_error error = {0};
    error.status = agb_registry_open_plugin(trial->registry, trial->path, &real, &error);
    if (error.status == AGB_OK && !draw(trial->sketch, real))
        agb_fail(&error, AGB_ERR_PLUGIN, "%s: its names and texts take more than %zu bytes: shorten them", trial->path,
                 sizeof trial->sketch->texts);
    agb_process_answer(out, &error, sizeof error);
}

agb_status agb_plugins_load(const agb_plugins *plugins, const agb_aggregator **aggregator, agb_error *err)
{
    for (size_t i = 0; plugins && i < plugins->n; i++) {
        if (plugins->plugin[i].aggregator != *aggregator)
            continue;
        agb_registry *registry;    /* not destroyed: what it holds lives as long as this process */
        agb_status status = agb_registry_create_empty(&registry, err);
        return status == AGB_OK ? agb_registry_open_plugin(registry, plugins->plugin[i].path, aggregator, err) : status;
    }
    return AGB_OK;
}

/* ---- In the parent ----------------------------------------------------------------------------------------------- */

/* After it, the child is gone. */
static agb_status run_trial(trial *trial, agb_error *err)
{
    agb_process process;
    agb_error heard = {0};
    char how[128];
    agb_status status = agb_process_start(&process, try_in_child, trial, -1, err);
    if (status != AGB_OK)
        return status;
    agb_answer answer = agb_process_hear(&process, &heard, sizeof heard, trial->timeout_s);
    agb_process_end(&process, answer != AGB_ANSWER_ENDED);
    agb_process_describe_end(&process, how, sizeof how);
    if (answer == AGB_ANSWER_LATE)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: loading it did not end within %g s", trial->path, trial->timeout_s);
    if (answer == AGB_ANSWER_ENDED)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: loading it ended in %s", trial->path, how);
    if (answer == AGB_ANSWER_SPOILED)
        return agb_fail(err, AGB_ERR_PLUGIN, "%s: when it was loaded %s", trial->path, AGB_SPOILED_ANSWER);
    heard.text[sizeof heard.text - 1] = '\0';
    return heard.status == AGB_OK ? AGB_OK : agb_fail(err, heard.status, "%s", heard.text);
}

static agb_status open_one(agb_plugin *plugin, agb_registry *registry, double timeout_s, agb_error *err)
{
    agb_plugin_sketch *sketch = mmap(NULL, sizeof *sketch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sketch == MAP_FAILED)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its description", plugin->path);
    plugin->sketch = sketch;
    trial trial = {registry, plugin->path, sketch, timeout_s < most_s ? timeout_s : most_s};
    agb_status status = run_trial(&trial, err);
    mprotect(sketch, sizeof *sketch, PROT_READ);
    if (status == AGB_OK)
        status = agb_registry_add_aggregator(registry, &sketch->aggregator, err);
    if (status == AGB_OK)
        plugin->aggregator = &sketch->aggregator;
    return status;
}

agb_status agb_plugins_open(agb_plugins *out, agb_registry *registry, const char *const *paths, size_t n,
                            double timeout_s, agb_error *err)
{
    *out = (agb_plugins){.plugin = calloc(n + 1, sizeof *out->plugin)};
    if (!out->plugin)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of plug-ins");
    for (; out->n < n; out->n++) {
        agb_plugin *plugin = &out->plugin[out->n];
        plugin->path = paths[out->n];
        plugin->refused.status = open_one(plugin, registry, timeout_s, &plugin->refused);
        if (plugin->refused.status == AGB_ERR_NOT_FOUND) {
            agb_fail(err, AGB_ERR_NOT_FOUND, "--plugin: %s", plugin->refused.text);
            out->n++;
            return AGB_ERR_NOT_FOUND;
        }
    }
    return AGB_OK;
}

void agb_plugins_release(agb_plugins *plugins)
{
    for (size_t i = 0; i < plugins->n; i++)
        if (plugins->plugin[i].sketch)
            munmap(plugins->plugin[i].sketch, sizeof *plugins->plugin[i].sketch);
    free(plugins->plugin);
    *plugins = (agb_plugins){0};
}

void agb_plugin_stem(const agb_plugin *plugin, char *stem, size_t size)
{
    const char *slash = strrchr(plugin->path, '/'), *name = slash ? slash + 1 : plugin->path;
    const char *dot = strrchr(name, '.');
    snprintf(stem, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

agb_plugin *agb_plugins_refused(const agb_plugins *plugins, const char *stem)
{
    for (size_t i = 0; i < plugins->n; i++) {
        char own[256];
        agb_plugin_stem(&plugins->plugin[i], own, sizeof own);
        if (!plugins->plugin[i].aggregator && strcmp(own, stem) == 0)
            return &plugins->plugin[i];
    }
    return NULL;
}
