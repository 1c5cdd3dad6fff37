/* SPDX-License-Identifier: MIT */
/* --sweep in a line-up: one contestant for each value of a parameter or number of threads, one source for each value of
 * a generator's key, and with two of them every pair. */
#include "lineup.h"

#include "sweep.h"

#include <stdlib.h>
#include <string.h>

static bool has_param(const agb_aggregator *aggregator, const char *name)
{
    for (const agb_param *param = aggregator ? aggregator->params : NULL; param && param->name; param++) {
        if (strcmp(param->name, name) == 0)
            return true;
    }
    return false;
}

/* The entry with other parameters, or another number of threads. */
static agb_status add_like(agb_experiment *experiment, const agb_entry *entry, const char *params, unsigned threads,
                           agb_error *err)
{
    agb_status status = agb_lineup_add_entry(experiment, entry->aggregator, entry->name, params, &entry->refused, err);
    if (status == AGB_OK)
        experiment->entries[experiment->n_entries - 1].threads = threads;
    return status;
}

static agb_status spread_params(agb_experiment *experiment, const agb_entry *entry, const agb_sweep *sweep,
                                agb_error *err)
{
    agb_status status = AGB_OK;
    for (size_t i = 0; i < sweep->n && status == AGB_OK; i++) {
        char *params = agb_sweep_set(entry->params, ':', sweep->name, sweep->value[i]);
        int64_t values[AGB_MOST_PARAMS];
        if (!params)
            return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of contestants");
        status = agb_params_parse(entry->aggregator, params, values, err);
        if (status == AGB_OK)
            status = add_like(experiment, entry, params, entry->threads, err);
        free(params);
    }
    return status;
}

static agb_status parse_threads(const char *text, unsigned *threads, agb_error *err)
{
    enum { MOST = 1024 };
    char *end;
    unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (value < 1 || value > MOST || *end != '\0')
        return agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: threads=%s: not a whole number in the allowed range 1..%d",
                        text, MOST);
    *threads = (unsigned)value;
    return AGB_OK;
}

static agb_status spread_threads(agb_lineup *lineup, const agb_entry *entry, const agb_sweep *sweep, agb_error *err)
{
    agb_status status = AGB_OK;
    for (size_t i = 0; i < sweep->n && status == AGB_OK; i++) {
        unsigned threads = 0;
        status = parse_threads(sweep->value[i], &threads, err);
        if (status == AGB_OK)
            status = add_like(&lineup->experiment, entry, entry->params, threads, err);
        if (status == AGB_OK && threads > lineup->most_threads)
            lineup->most_threads = threads;
    }
    return status;
}

void agb_lineup_release_entries(agb_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(entries[i].name);
        free(entries[i].params);
    }
    free(entries);
}

static bool any_has_param(const agb_experiment *experiment, const char *name)
{
    bool any = false;
    for (size_t i = 0; i < experiment->n_entries; i++)
        any = any || has_param(experiment->entries[i].aggregator, name);
    return any;
}

/* Entries that know the parameter, or can use several threads, become one entry for each value; the others stay.
 * *found: whether there were any. */
static agb_status sweep_entries(agb_lineup *lineup, const agb_sweep *sweep, bool *found, agb_error *err)
{
    agb_entry *before = lineup->experiment.entries;
    size_t n = lineup->experiment.n_entries;
    lineup->experiment.entries = NULL;
    lineup->experiment.n_entries = 0;
    *found = false;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < n && status == AGB_OK; i++) {
        const agb_entry *entry = &before[i];
        bool parallel = entry->aggregator && (entry->aggregator->traits & AGB_PARALLEL);
        if (sweep->of_threads ? !parallel : !has_param(entry->aggregator, sweep->name)) {
            status = add_like(&lineup->experiment, entry, entry->params, entry->threads, err);
            continue;
        }
        *found = true;
        status = sweep->of_threads ? spread_threads(lineup, entry, sweep, err)
                                   : spread_params(&lineup->experiment, entry, sweep, err);
    }
    agb_lineup_release_entries(before, n);
    return status;
}

/* A SOURCE "NAME:spec" of a loader that generates rows. */
bool agb_lineup_is_generated(const agb_registry *registry, const char *source)
{
    size_t length = strcspn(source, ":");
    const agb_loader *loader;
    for (size_t i = 0; source[length] && (loader = agb_registry_loader_at(registry, i)); i++) {
        if ((loader->traits & AGB_LOADER_GENERATES) && strlen(loader->name) == length &&
            strncmp(loader->name, source, length) == 0)
            return true;
    }
    return false;
}

/* Each source becomes one for each value. */
static agb_status sweep_sources(agb_experiment *experiment, const agb_sweep *sweep, agb_error *err)
{
    char **before = experiment->sources;
    size_t n = experiment->n_sources, made = 0;
    char **sources = calloc(n * sweep->n + 1, sizeof *sources);
    for (size_t i = 0; sources && i < n * sweep->n; i++) {
        sources[i] = agb_sweep_set(before[i / sweep->n], ',', sweep->name, sweep->value[i % sweep->n]);
        made += sources[i] != NULL;
    }
    for (size_t i = 0; sources && i < n; i++)
        free(before[i]);
    if (sources) {
        free(before);
        experiment->sources = sources;
        experiment->n_sources = made;
    }
    return sources && made == n * sweep->n ? AGB_OK
                                           : agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of sources");
}

static agb_status apply_sweep(agb_lineup *lineup, agb_sweep *sweep, const char *source, agb_error *err)
{
    bool of_entries;
    sweep->of_threads = strcmp(sweep->name, "threads") == 0 && !any_has_param(&lineup->experiment, sweep->name);
    agb_status status = sweep_entries(lineup, sweep, &of_entries, err);
    sweep->of_source = !of_entries;
    if (status != AGB_OK || of_entries)
        return status;
    if (sweep->of_threads)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: threads: no chosen aggregator can use several: `aggbench "
                        "list` shows which can");
    if (agb_lineup_is_generated(lineup->registry, source))
        return sweep_sources(&lineup->experiment, sweep, err);
    return agb_fail(err, AGB_ERR_NOT_FOUND,
                    "--sweep: %s: no chosen aggregator has a parameter of this name, and %s is not "
                    "generated: `aggbench list` shows the parameters",
                    sweep->name, source);
}

agb_status agb_lineup_set_sources(agb_lineup *lineup, const agb_options *options, const char *source, agb_error *err)
{
    agb_experiment *experiment = &lineup->experiment;
    const agb_words *words = &options->sweeps;
    experiment->sources = calloc(1, sizeof *experiment->sources);
    if (!experiment->sources || !(experiment->sources[0] = strdup(source)))
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of sources");
    experiment->n_sources = 1;
    agb_status status = AGB_OK;
    if (words->n > AGB_MOST_SWEEPS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: given %zu times: at most %d at once", words->n,
                        AGB_MOST_SWEEPS);
    for (size_t i = 0; i < words->n && status == AGB_OK; i++) {
        agb_sweep *sweep = &lineup->sweeps[i];
        status = agb_sweep_parse(sweep, words->word[i], err);
        if (status == AGB_OK && i > 0 && strcmp(sweep->name, lineup->sweeps[0].name) == 0)
            status = agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: %s: names %s a second time: give it once",
                              words->word[i], sweep->name);
        if (status == AGB_OK)
            status = apply_sweep(lineup, sweep, source, err);
    }
    experiment->settings.sweeps = lineup->sweeps;
    experiment->settings.n_sweeps = words->n;
    return status;
}
