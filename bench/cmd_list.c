/* SPDX-License-Identifier: MIT */
/* aggbench list: what there is to choose from. */
#include "clickbench.h"
#include "commands.h"
#include "list_counters.h"
#include "loader.h"
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 14 };

static const double patience_s = 10;    /* with a plug-in that is to be shown */

/* ---- For people -------------------------------------------------------------------------------------------------- */

static void traits_of(const agb_aggregator *aggregator, char *text, size_t size)
{
    static const struct {
        unsigned trait;
        const char *words;
    } traits[] = {{AGB_TAKES_WORDS, "integer keys"}, {AGB_TAKES_PAIRS, "two-column keys"},
                  {AGB_TAKES_BYTES, "string keys"},  {AGB_TAKES_WEIGHTS, "weights"},
                  {AGB_PARALLEL, "parallel"},        {AGB_EXAMPLE, "an example: not in `all`"}};
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++) {
        if ((aggregator->traits & traits[i].trait) && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", traits[i].words);
    }
}

/* "at most 8 bytes a row and 34.00 MB", or "" where it is not stated. */
static void need_of(const agb_aggregator *aggregator, char *text, size_t size)
{
    agb_need need = aggregator->need;
    bool by_row = need.bytes_per_row > 0, by_group = need.bytes_per_group > 0;
    text[0] = '\0';
    if (!by_row && !by_group && need.fixed_bytes == 0)
        return;
    int at = snprintf(text, size, "memory: at most ");
    if (by_row)
        at += snprintf(text + at, size - (size_t)at, "%g bytes a row and ", need.bytes_per_row);
    if (by_group)
        at += snprintf(text + at, size - (size_t)at, "%g bytes a group and ", need.bytes_per_group);
    snprintf(text + at, size - (size_t)at, "%s, beside column and result",
             agb_text_bytes((uint64_t)need.fixed_bytes).s);
}

static void print_aggregator(FILE *to, const agb_aggregator *aggregator)
{
    char traits[160], need[160];
    traits_of(aggregator, traits, sizeof traits);
    need_of(aggregator, need, sizeof need);
    agb_help_entry(to, aggregator->name, LEFT, aggregator->summary);
    agb_help_entry(to, "", LEFT, traits);
    if (need[0])
        agb_help_entry(to, "", LEFT, need);
    for (const agb_param *param = aggregator->params; param && param->name; param++) {
        char line[400];
        snprintf(line, sizeof line, "%s=%" PRId64 " (%" PRId64 "..%" PRId64 "): %s", param->name, param->standard,
                 param->least, param->most, param->about);
        agb_help_entry(to, "", LEFT, line);
    }
}

static void print_help_lines(FILE *to, const char *help)
{
    while (help && *help) {
        int line = (int)strcspn(help, "\n");
        fprintf(to, "    %.*s\n", line, help);
        help += line + (help[line] == '\n');
    }
}

static void print_queries(FILE *to)
{
    const agb_clickbench *query;
    fprintf(to, "Queries of ClickBench: --query N\n");
    for (size_t i = 0; (query = agb_clickbench_at(i)); i++) {
        char number[16], *sql = agb_clickbench_sql(query);
        snprintf(number, sizeof number, "%u", query->number);
        agb_help_entry(to, number, LEFT, sql ? sql : query->group_by);
        free(sql);
    }
}

static void print_tables(FILE *to, const agb_registry *registry, bool only_counters)
{
    const agb_aggregator *aggregator;
    const agb_loader *loader;
    if (!only_counters) {
        fprintf(to, "Aggregators: --aggregator NAME[:parameter=value...]\n");
        for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++)
            print_aggregator(to, aggregator);
        fprintf(to, "\nLoaders: found by what a file holds, or named by --input-format\n");
        for (size_t i = 0; (loader = agb_registry_loader_at(registry, i)); i++) {
            agb_help_entry(to, loader->name, LEFT, loader->summary);
            print_help_lines(to, loader->help);
        }
        fprintf(to, "\nHashes: --hash NAME\n ");
        for (const char *const *name = agb_hash_names(); *name; name++)
            fprintf(to, " %s", *name);
        fprintf(to, "\n\n");
        print_queries(to);
        fputc('\n', to);
    }
    agb_list_counters(to);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

static json_t *params_json(const agb_aggregator *aggregator)
{
    json_t *params = json_array();
    for (const agb_param *param = aggregator->params; param && param->name; param++)
        json_array_append_new(params, json_pack("{s:s, s:I, s:I, s:I, s:s}", "name", param->name, "default",
                                                (json_int_t)param->standard, "least", (json_int_t)param->least, "most",
                                                (json_int_t)param->most, "about", param->about));
    return params;
}

static json_t *need_json(const agb_aggregator *aggregator)
{
    agb_need need = aggregator->need;
    return json_pack("{s:f, s:f, s:f}", "bytes_per_row", need.bytes_per_row, "bytes_per_group", need.bytes_per_group,
                     "fixed_bytes", need.fixed_bytes);
}

static json_t *queries_json(void)
{
    json_t *queries = json_array();
    const agb_clickbench *query;
    for (size_t i = 0; (query = agb_clickbench_at(i)); i++) {
        char *sql = agb_clickbench_sql(query);
        json_array_append_new(queries, json_pack("{s:I, s:s?, s:s, s:s?, s:I, s:I}", "number",
                                                 (json_int_t)query->number, "sql", sql, "group_by", query->group_by,
                                                 "where", query->where, "limit", (json_int_t)query->limit, "offset",
                                                 (json_int_t)query->offset));
        free(sql);
    }
    return queries;
}

static void print_json(FILE *to, const agb_registry *registry, bool only_counters)
{
    json_t *out = json_pack("{s:i}", "aggbench", 1);
    json_t *aggregators = json_array(), *loaders = json_array();
    const agb_aggregator *aggregator;
    const agb_loader *loader;
    for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++) {
        char traits[160];
        traits_of(aggregator, traits, sizeof traits);
        json_array_append_new(aggregators, json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", aggregator->name, "summary",
                                                     aggregator->summary, "traits", traits, "params",
                                                     params_json(aggregator), "need", need_json(aggregator)));
    }
    for (size_t i = 0; (loader = agb_registry_loader_at(registry, i)); i++)
        json_array_append_new(loaders, json_pack("{s:s, s:s, s:s?}", "name", loader->name, "summary", loader->summary,
                                                 "help", loader->help));
    if (!only_counters) {
        json_object_set(out, "aggregators", aggregators);
        json_object_set(out, "loaders", loaders);
        json_object_set_new(out, "queries", queries_json());
    }
    json_decref(aggregators);
    json_decref(loaders);
    json_object_set_new(out, "pmu", agb_list_counters_json());
    json_dumpf(out, to, JSON_INDENT(2));
    fputc('\n', to);
    json_decref(out);
}

static void print_only_queries(FILE *to, int format)
{
    if (format != AGB_FORMAT_JSON) {
        print_queries(to);
        return;
    }
    json_t *out = json_pack("{s:i, s:o}", "aggbench", 1, "queries", queries_json());
    json_dumpf(out, to, JSON_INDENT(2));
    fputc('\n', to);
    json_decref(out);
}

static int list(const agb_options *options, agb_error *err)
{
    agb_registry *registry = NULL;
    agb_status status = agb_registry_create(&registry, err);
    const agb_words *plugins = &options->plugins;
    agb_plugins opened = {0};
    if (status == AGB_OK)
        status = agb_plugins_open(&opened, registry, plugins->word, plugins->n, patience_s, err);
    for (size_t i = 0; i < opened.n && status == AGB_OK; i++)
        if (!opened.plugin[i].aggregator)
            status = agb_fail(err, opened.plugin[i].refused.status, "%s", opened.plugin[i].refused.text);
    if (status == AGB_OK && options->show_queries)
        print_only_queries(stdout, options->format);
    else if (status == AGB_OK && options->format == AGB_FORMAT_JSON)
        print_json(stdout, registry, options->show_counters);
    else if (status == AGB_OK)
        print_tables(stdout, registry, options->show_counters);
    agb_registry_destroy(registry);
    agb_plugins_release(&opened);
    return agb_exit_of(status);
}

static const char *const list_options[] = {"counters", "queries", "plugin", "format", NULL};

const agb_command agb_command_list = {
    .name = "list",
    .summary = "aggregators and their parameters, loaders, queries, hardware counters",
    .about = "Shows the aggregators with their parameters (default, range), the loaders, the shared hashes,\n"
             "the queries of ClickBench that `run --query` knows, and whether this machine gives hardware\n"
             "counters, or why not.",
    .example = "aggbench list --counters",
    .options = list_options, .run = list};
