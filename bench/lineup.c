/* SPDX-License-Identifier: MIT */
/* From options to an experiment: see lineup.h. */
#include "lineup.h"

#include "clickbench.h"
#include "precision.h"
#include "pins.h"
#include "query.h"
#include "sampling.h"
#include "schema_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAMES = 256 };

/* The baseline of `all`. */
static const char plainest[] = "naive";

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

agb_status agb_lineup_add_entry(agb_experiment *experiment, const agb_aggregator *aggregator, const char *name,
                                const char *params, const agb_error *refused, agb_error *err)
{
    agb_entry *entries = realloc(experiment->entries, (experiment->n_entries + 1) * sizeof *entries);
    if (!entries)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of contestants");
    experiment->entries = entries;
    agb_entry *entry = &entries[experiment->n_entries];
    *entry = (agb_entry){.aggregator = aggregator, .name = strdup(name), .params = strdup(params)};
    if (!entry->name || !entry->params) {
        free(entry->name);
        free(entry->params);
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of contestants");
    }
    if (refused)
        entry->refused = *refused;
    experiment->n_entries++;
    return AGB_OK;
}

agb_status agb_lineup_find_aggregator(const agb_registry *registry, const char *name, const agb_aggregator **out,
                                      agb_error *err)
{
    *out = agb_registry_find_aggregator(registry, name);
    if (*out)
        return AGB_OK;
    const char *names[MOST_NAMES + 2] = {"all"};
    const agb_aggregator *aggregator;
    for (size_t i = 0; i < MOST_NAMES && (aggregator = agb_registry_aggregator_at(registry, i)); i++)
        names[i + 1] = aggregator->name;
    const char *near = agb_nearest_name(names, name);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "aggregator %s: no such name%s%s: `aggbench list` shows them",
                    *name ? name : "(empty)", near ? ": did you mean " : "", near ? near : "");
}

static bool takes_part(const agb_experiment *experiment, const agb_aggregator *aggregator)
{
    for (size_t i = 0; i < experiment->n_entries; i++) {
        if (experiment->entries[i].aggregator == aggregator)
            return true;
    }
    return false;
}

/* Every aggregator that does not take part yet; the plainest first, because the first is the baseline. */
static agb_status add_all(agb_lineup *lineup, const char *params, agb_error *err)
{
    agb_experiment *experiment = &lineup->experiment;
    if (*params)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--aggregator: all:%s: `all` takes no parameters: name the aggregator",
                        params);
    const agb_aggregator *aggregator = agb_registry_find_aggregator(lineup->registry, plainest);
    agb_status status = AGB_OK;
    if (aggregator && !takes_part(experiment, aggregator))
        status = agb_lineup_add_entry(experiment, aggregator, plainest, "", NULL, err);
    for (size_t i = 0; status == AGB_OK && (aggregator = agb_registry_aggregator_at(lineup->registry, i)); i++) {
        if (!(aggregator->traits & AGB_EXAMPLE) && !takes_part(experiment, aggregator))
            status = agb_lineup_add_entry(experiment, aggregator, aggregator->name, "", NULL, err);
    }
    return status;
}

/* "radix:bits=10" */
static agb_status add_named(agb_lineup *lineup, const char *word, agb_error *err)
{
    const char *colon = strchr(word, ':');
    const char *params = colon ? colon + 1 : "";
    char *name = strndup(word, colon ? (size_t)(colon - word) : strlen(word));
    if (!name)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of contestants");
    const agb_aggregator *aggregator = agb_registry_find_aggregator(lineup->registry, name);
    agb_plugin *refused = aggregator ? NULL : agb_plugins_refused(&lineup->plugins, name);
    int64_t values[AGB_MOST_PARAMS];
    agb_status status;
    if (strcmp(name, "all") == 0) {
        status = add_all(lineup, params, err);
    } else if (refused) {
        refused->named = true;
        status = agb_lineup_add_entry(&lineup->experiment, NULL, name, params, &refused->refused, err);
    } else {
        status = agb_lineup_find_aggregator(lineup->registry, name, &aggregator, err);
        if (status == AGB_OK)
            status = agb_params_parse(aggregator, params, values, err);
        if (status == AGB_OK)
            status = agb_lineup_add_entry(&lineup->experiment, aggregator, name, params, NULL, err);
    }
    free(name);
    return status;
}

static agb_status add_list(agb_lineup *lineup, const char *list, agb_error *err)
{
    char *copy = strdup(list), *rest = copy, *word;
    agb_status status = copy ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "no memory for the list of contestants");
    while (status == AGB_OK && (word = strsep(&rest, ",")))
        status = add_named(lineup, word, err);
    free(copy);
    return status;
}

/* Plug-ins are opened first, so that the list can name them; each takes part even when it was not named. One that is
 * refused becomes a row that says why; one that is not there is a slip of the command line. */
static agb_status add_contestants(agb_lineup *lineup, const agb_options *options, const char *standard, agb_error *err)
{
    const agb_words *words = &options->plugins, *lists = &options->aggregators;
    agb_plugins *plugins = &lineup->plugins;
    agb_status status = agb_plugins_open(plugins, lineup->registry, words->word, words->n,
                                         (double)options->timeout_s, err);
    if (status == AGB_OK && lists->n == 0)
        status = add_list(lineup, standard, err);
    for (size_t i = 0; i < lists->n && status == AGB_OK; i++)
        status = add_list(lineup, lists->word[i], err);
    for (size_t i = 0; i < plugins->n && status == AGB_OK; i++) {
        const agb_plugin *plugin = &plugins->plugin[i];
        char stem[256];
        agb_plugin_stem(plugin, stem, sizeof stem);
        if (!plugin->aggregator && !plugin->named)
            status = agb_lineup_add_entry(&lineup->experiment, NULL, stem, "", &plugin->refused, err);
        else if (plugin->aggregator && !takes_part(&lineup->experiment, plugin->aggregator))
            status =
                agb_lineup_add_entry(&lineup->experiment, plugin->aggregator, plugin->aggregator->name, "", NULL, err);
    }
    lineup->experiment.plugins = plugins;
    return status;
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

static agb_status set_threads(agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    agb_settings *settings = &lineup->experiment.settings;
    int allowed[AGB_MOST_PINS];
    unsigned n_allowed = agb_machine_allowed_cpus(allowed, AGB_MOST_PINS);
    n_allowed = n_allowed > AGB_MOST_PINS ? AGB_MOST_PINS : n_allowed;
    bool threads_given = agb_option_given(options, "threads");
    if (threads_given && lineup->most_threads)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--threads: %" PRIu64 ": --sweep gives the numbers of threads: leave "
                        "one of them out", options->threads);
    settings->threads = !threads_given && options->pins.n ? options->pins.n : (unsigned)options->threads;
    if (lineup->most_threads)
        settings->threads = lineup->most_threads;
    lineup->pins = options->pins;
    if (settings->threads == 1 && lineup->pins.n == 0 && n_allowed > 0)
        lineup->pins = (agb_pins){.cpu = {allowed[n_allowed - 1]}, .n = 1};
    unsigned useful = agb_machine_default_threads("");
    if (settings->threads > useful)
        agb_results_note(&lineup->warnings,
                         "%u threads share %u processor%s (affinity and cgroup quota): they wait for "
                         "each other",
                         settings->threads, useful, useful == 1 ? "" : "s");
    if (lineup->pins.n > 0) {
        settings->cpus = lineup->pins.cpu;
        settings->n_cpus = lineup->pins.n;
        return agb_pins_check(&lineup->pins, settings->threads, err);
    }
    return AGB_OK;
}

static agb_status set_hash(agb_settings *settings, const char *name, agb_error *err)
{
    agb_hash hash;
    const char *const *names = agb_hash_names();
    settings->hash = name ? name : names[0];
    if (agb_hash_named(settings->hash, &hash))
        return AGB_OK;
    const char *near = agb_nearest_name(names, name);
    char list[256] = "";
    for (size_t i = 0, length = 0; names[i] && length < sizeof list - 40; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "--hash: %s: no such hash%s%s: there are %s", name,
                    near ? ": did you mean " : "", near ? near : "", list);
}

static agb_status check_loader(const agb_registry *registry, const char *name, const char *source, agb_error *err)
{
    const agb_loader *named = name ? agb_registry_find_loader(registry, name) : NULL;
    if (named && !(named->traits & AGB_LOADER_GENERATES) && agb_lineup_is_generated(registry, source))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--input-format: %s: reads files, but %s is generated: leave it out",
                        name, source);
    if (!name || named)
        return AGB_OK;
    const char *names[MOST_NAMES + 1] = {0};
    const agb_loader *loader;
    for (size_t i = 0; i < MOST_NAMES && (loader = agb_registry_loader_at(registry, i)); i++)
        names[i] = loader->name;
    const char *near = agb_nearest_name(names, name);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "--input-format: %s: no such loader%s%s: `aggbench list` shows them", name,
                    near ? ": did you mean " : "", near ? near : "");
}

/* A query of ClickBench gives what is else said by options; its limit is a default. */
static agb_status set_clickbench(agb_settings *settings, const agb_options *options, agb_error *err)
{
    static const char *const own[] = {"group-by", "where"};
    const agb_clickbench *query = agb_clickbench_find(options->query, err);
    if (!query)
        return AGB_ERR_ARGUMENT;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (agb_option_given(options, own[i]))
            return agb_fail(err, AGB_ERR_ARGUMENT, "--query: %u has its own --%s: leave one of them out", query->number,
                            own[i]);
    settings->query = query->number + 1;
    settings->group_by = query->group_by;
    settings->where = query->where;
    if (!agb_option_given(options, "top"))
        settings->top = query->limit ? query->limit : AGB_MOST_TOP;
    if (!agb_option_given(options, "offset"))
        settings->offset = query->offset;
    return AGB_OK;
}

static agb_status set_query(agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    agb_settings *settings = &lineup->experiment.settings;
    settings->group_by = options->group_by;
    settings->where = options->where;
    settings->top = options->top;
    settings->offset = options->offset;
    agb_status status = agb_option_given(options, "query") ? set_clickbench(settings, options, err) : AGB_OK;
    if (status == AGB_OK && settings->where)
        status = agb_filter_parse(&lineup->filter, settings->where, err);
    settings->filter = lineup->filter;
    return status;
}

agb_status agb_lineup_check_folder(const char *folder, agb_error *err)
{
    struct stat there;
    if (!folder)
        return AGB_OK;
    int reason = stat(folder, &there) != 0 ? errno : S_ISDIR(there.st_mode) ? 0 : ENOTDIR;
    if (reason == 0 && access(folder, W_OK | X_OK) != 0)
        reason = errno;
    return reason == 0 ? AGB_OK : agb_fail(err, AGB_ERR_IO, "--spill-folder: %s: %s: name a folder that takes files",
                                           folder, strerror(reason));
}

/* How long to go on, and in which of several processes this is. */
static agb_status set_effort(agb_lineup *lineup, const agb_options *options, const char *source, agb_error *err)
{
    agb_settings *settings = &lineup->experiment.settings;
    agb_status status = options->precision ? agb_precision_parse(options->precision, settings, err) : AGB_OK;
    if (settings->precision > 0 && !agb_option_given(options, "repetitions"))
        settings->repetitions = AGB_PRECISION_CAP;
    if (status == AGB_OK && settings->processes > 1 && agb_source_is_stream(source))
        return agb_fail(err, AGB_ERR_ARGUMENT,
                        "--processes: %u: %s gives its rows only once: write them to a file first", settings->processes,
                        strcmp(source, "-") == 0 ? "standard input" : source);
    if (status != AGB_OK || !options->process_of)
        return status;
    enum { SEEDS_APART = 1000003 };
    status = agb_share_parse(&lineup->share, options->process_of, err);
    lineup->experiment.share = &lineup->share;
    settings->seed += (uint64_t)lineup->share.process * SEEDS_APART;    /* other orders than those of the first */
    return status;
}

static agb_status set_settings(agb_lineup *lineup, const agb_options *options, const char *source, agb_error *err)
{
    agb_experiment *experiment = &lineup->experiment;
    agb_settings *settings = &experiment->settings;
    *settings = (agb_settings){
        .repetitions = (unsigned)options->repetitions, .warmup = (unsigned)options->warmup,
        .pages = (agb_pages)options->pages, .memory = (agb_memory_mode)options->memory,
        .memory_budget = options->memory_budget, .seed = options->seed,
        .batch_rows = options->batch_rows, .sample = agb_sampling_of(options)};
    experiment->registry = lineup->registry;
    experiment->input_format = options->input_format;
    experiment->timeout_s = (double)options->timeout_s;
    experiment->spill_folder = options->spill_folder;
    settings->processes = (unsigned)options->processes;
    experiment->command = options->command->name;
    experiment->words = options->words;
    experiment->n_words = options->n_words;
    if (options->twin && options->no_twin)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--twin and --no-twin: say the opposite of each other: leave one out");
    agb_status status = set_effort(lineup, options, source, err);
    if (status == AGB_OK)
        status = set_query(lineup, options, err);
    if (status == AGB_OK)
        status = set_hash(settings, options->hash, err);
    if (status == AGB_OK)
        status = check_loader(lineup->registry, options->input_format, source, err);
    if (status == AGB_OK)
        status = agb_schema_file_read(&lineup->schema, options->schema, err);
    experiment->schema = lineup->schema;
    if (status == AGB_OK)
        status = agb_lineup_check_folder(options->spill_folder, err);
    return status;
}

/* ---- The source's columns, before its rows are read -------------------------------------------------------------- */

static agb_status check_columns(const agb_lineup *lineup, const char *source, agb_error *err)
{
    const agb_settings *settings = &lineup->experiment.settings;
    if (agb_source_is_stream(source))
        return AGB_OK;    /* the load itself will tell */
    agb_schema schema;
    agb_load_options load = {.loader = lineup->experiment.input_format, .schema = lineup->schema};
    agb_status status = agb_source_describe_as(&schema, lineup->registry, source, &load, err);
    if (status != AGB_OK)
        return status;
    status = agb_query_check(settings->group_by, settings->filter, &schema, source, err);
    agb_schema_release(&schema);
    return status;
}

agb_status agb_lineup_create(agb_lineup *out, const agb_options *options, const char *source, const char *standard,
                             agb_error *err)
{
    *out = (agb_lineup){0};
    agb_status status = agb_registry_create(&out->registry, err);
    if (status == AGB_OK)
        status = set_settings(out, options, source, err);
    if (status == AGB_OK)
        status = add_contestants(out, options, standard, err);
    if (status == AGB_OK)
        status = agb_lineup_set_sources(out, options, source, err);
    if (status == AGB_OK)
        status = set_threads(out, options, err);
    if (status == AGB_OK)
        status = agb_lineup_set_counters(out, options, err);
    for (size_t i = 0; status == AGB_OK && i < out->experiment.n_sources; i++)
        status = check_columns(out, out->experiment.sources[i], err);
    out->experiment.twin = options->twin || (!options->no_twin && out->experiment.n_entries > 1);
    return status;
}

void agb_lineup_release(agb_lineup *lineup)
{
    agb_lineup_release_entries(lineup->experiment.entries, lineup->experiment.n_entries);
    for (size_t i = 0; i < lineup->experiment.n_sources; i++)
        free(lineup->experiment.sources[i]);
    free(lineup->experiment.sources);
    agb_results_release(&lineup->warnings);
    agb_replay_release(&lineup->replay);
    agb_filter_destroy(lineup->filter);
    free(lineup->schema);
    agb_registry_destroy(lineup->registry);
    agb_plugins_release(&lineup->plugins);
    lineup->registry = NULL;
}

agb_status agb_lineup_run(agb_lineup *lineup, agb_results *out, agb_error *err)
{
    *out = (agb_results){.support = lineup->support, .counters_off = !lineup->experiment.support};
    agb_machine_read(&out->machine);
    if (strstr(out->machine.flags, "-fsanitize") || strstr(out->machine.flags, "-O0"))
        agb_results_note(out, "this program was built for finding errors (%s): its times mean nothing",
                         out->machine.flags);
    for (size_t i = 0; i < lineup->warnings.n_notes; i++)
        agb_results_note(out, "%s", lineup->warnings.notes[i]);
    return agb_experiment_run(&lineup->experiment, out, err);
}
