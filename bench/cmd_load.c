/* SPDX-License-Identifier: MIT */
/* aggbench load: columns of a SOURCE to a column file of our own. */
#include "commands.h"
#include "interrupt.h"
#include "json_text.h"
#include "process.h"
#include "progress.h"
#include "sampling.h"
#include "schema_file.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Which columns ---- */

typedef struct names {
    char *text;           /* owned; the names point into it */
    const char **name;
    size_t n;
    size_t left_out;      /* columns that cannot be loaded */
} names;

static void release_names(names *names)
{
    free(names->text);
    free(names->name);
}

static agb_status make_room(names *names, size_t bytes, size_t n, agb_error *err)
{
    names->text = malloc(bytes ? bytes : 1);
    names->name = malloc((n ? n : 1) * sizeof *names->name);
    bool made = names->text && names->name;
    return made ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "load: no memory for the columns' names");
}

static agb_status split_names(names *names, const char *list, agb_error *err)
{
    size_t commas = 0;
    for (const char *at = list; *at; at++)
        commas += *at == ',';
    agb_status status = make_room(names, strlen(list) + 1, commas + 1, err);
    if (status != AGB_OK)
        return status;
    strcpy(names->text, list);
    for (char *at = names->text, *word; (word = strsep(&at, ","));)
        names->name[names->n++] = word;
    return AGB_OK;
}

/* Every column of the source that can be loaded, and how many rows it says it has. */
static agb_status all_names(names *names, const agb_registry *registry, const agb_options *options, const char *text,
                            uint64_t *of_rows, agb_error *err)
{
    agb_schema schema;
    size_t bytes = 0;
    agb_load_options load = {.loader = options->input_format, .schema = text};
    agb_status status = agb_source_describe_as(&schema, registry, options->operand, &load, err);
    if (status != AGB_OK)
        return status;
    *of_rows = schema.rows;
    for (size_t i = 0; i < schema.columns; i++)
        bytes += strlen(schema.column[i].name) + 1;
    status = make_room(names, bytes, schema.columns, err);
    char *to = names->text;
    for (size_t i = 0; i < schema.columns && status == AGB_OK; i++) {
        if (schema.column[i].type == AGB_TYPE_OTHER) {
            names->left_out++;
            continue;
        }
        names->name[names->n++] = to;
        to = stpcpy(to, schema.column[i].name) + 1;
    }
    agb_schema_release(&schema);
    if (status == AGB_OK && names->n == 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "load: %s: it has no column that can be loaded: `aggbench describe` "
                        "says why", options->operand);
    return status;
}

static agb_status find_names(names *names, const agb_registry *registry, const agb_options *options, const char *schema,
                             uint64_t *of_rows, agb_error *err)
{
    *of_rows = UINT64_MAX;
    if (options->columns)
        return split_names(names, options->columns, err);
    if (agb_source_is_stream(options->operand))
        return agb_fail(err, AGB_ERR_ARGUMENT, "load: --columns is missing: with %s all of them cannot be meant: name "
                        "them", strcmp(options->operand, "-") == 0 ? "standard input" : "a pipe");
    return all_names(names, registry, options, schema, of_rows, err);
}

/* ---- Loading and saving ---- */

typedef struct job {
    const agb_options *options;
    char *schema;         /* text of --schema; or NULL */
    agb_registry *registry;
    agb_pool *pool;
    names names;
    agb_table *table;
    agb_progress_printer printer;
    uint64_t of_rows;     /* that the source has; UINT64_MAX: not known */
    double load_s, save_s;
} job;

static void show_loading(void *context, uint64_t done, uint64_t total)
{
    job *job = context;
    agb_progress_print(&job->printer, &(agb_progress){"loading", job->options->operand, done, total});
}

static bool show_saving(void *context, uint64_t done, uint64_t total)
{
    job *job = context;
    agb_progress_print(&job->printer, &(agb_progress){"writing", job->options->output, done, total});
    return agb_interrupt_signal() == 0;
}

static agb_status load_table(job *job, agb_error *err)
{
    double start = agb_now_s();
    /* What is written is looked at again, and must not go away meanwhile: it is copied. */
    agb_load_options options = {.pool = job->pool, .loader = job->options->input_format, .progress = show_loading,
                                .context = job, .may_map = job->options->dry_run, .pages = AGB_PAGES_HUGE,
                                .schema = job->schema, .head = job->options->head};
    agb_status status = agb_table_load(&job->table, job->registry, job->options->operand, job->names.name, job->names.n,
                                       &options, err);
    agb_row_sample sample = agb_sampling_of(job->options);
    if (status == AGB_OK)
        status = agb_sampling_take(&job->table, &sample, options.pages, &job->of_rows, err);
    job->load_s = agb_now_s() - start;
    return status;
}

/* SIGINT and SIGTERM end the program here, too, but only after the unfinished file was removed; one that came when the
 * file was complete has come too late. */
static agb_status save_table(job *job, agb_error *err)
{
    agb_interrupt interrupt;
    agb_save_options options = {.codec = job->options->codec, .pool = job->pool, .progress = show_saving,
                                .context = job};
    double start = agb_now_s();
    agb_interrupt_watch(&interrupt);
    agb_status status = agb_table_save(job->table, job->registry, job->options->output, job->names.name, job->names.n,
                                       &options, err);
    agb_interrupt_release(&interrupt);
    job->save_s = agb_now_s() - start;
    if (status != AGB_OK && agb_interrupt_signal()) {
        agb_progress_end(&job->printer);
        raise(agb_interrupt_signal());
    }
    return status;
}

static agb_status do_job(job *job, agb_error *err)
{
    agb_status status = agb_registry_create(&job->registry, err);
    if (status == AGB_OK)
        status = agb_schema_file_read(&job->schema, job->options->schema, err);
    if (status == AGB_OK)
        status = find_names(&job->names, job->registry, job->options, job->schema, &job->of_rows, err);
    if (status == AGB_OK)
        status = agb_pool_create(&job->pool, (unsigned)job->options->threads, NULL, err);
    if (status == AGB_OK)
        status = load_table(job, err);
    if (status == AGB_OK && !job->options->dry_run)
        status = save_table(job, err);
    agb_progress_end(&job->printer);
    return status;
}

static agb_text part_of(const job *job)
{
    agb_row_sample sample = agb_sampling_of(job->options);
    return agb_sampling_words(&sample, agb_table_rows(job->table), job->of_rows);
}

static void print_summary(FILE *to, const job *job)
{
    struct stat file = {0};
    stat(job->options->output, &file);
    uint64_t rows = agb_table_rows(job->table);
    fprintf(to, "%s: %s row%s%s, %zu column%s, %s (%s in memory); loaded in %s, written in %s\n",
            agb_text_clean(job->options->output).s,
            agb_text_count(rows).s, rows == 1 ? "" : "s", part_of(job).s, job->names.n, job->names.n == 1 ? "" : "s",
            agb_text_bytes((uint64_t)file.st_size).s, agb_text_bytes(agb_table_bytes(job->table)).s,
            agb_text_seconds(job->load_s).s, agb_text_seconds(job->save_s).s);
    if (job->names.left_out)
        fprintf(to, "left out: %zu column%s of types that cannot be loaded\n", job->names.left_out,
                job->names.left_out == 1 ? "" : "s");
}

static void print_loaded(FILE *to, const job *job)
{
    fprintf(to, "%s: %s rows%s, %s in memory; loaded in %s by %s; nothing written\n",
            agb_text_clean(job->options->operand).s,
            agb_text_count(agb_table_rows(job->table)).s, part_of(job).s, agb_text_bytes(agb_table_bytes(job->table)).s,
            agb_text_seconds(job->load_s).s, agb_table_format(job->table));
}

/* The keys of `source` are those of a run's report. */
static void print_json(FILE *to, const job *job)
{
    agb_row_sample sample = agb_sampling_of(job->options);
    json_t *source = json_pack("{s:o, s:s, s:I, s:f, s:I, s:o}", "name", agb_json_text(job->options->operand), "format",
                               agb_table_format(job->table), "rows", (json_int_t)agb_table_rows(job->table), "load_s",
                               job->load_s, "bytes", (json_int_t)agb_table_bytes(job->table), "sample",
                               agb_sampling_json(&sample, agb_table_rows(job->table), job->of_rows));
    json_t *output = job->options->dry_run ? json_null()
                                           : json_pack("{s:o, s:f}", "name", agb_json_text(job->options->output),
                                                       "save_s", job->save_s);
    json_t *out = json_pack("{s:i, s:o, s:o}", "aggbench", 1, "source", source, "output", output);
    if (json_dumpf(out, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0)
        fputc('\n', to);
    json_decref(out);
}

static const char *usage_problem(const agb_options *options)
{
    if (!options->output && !options->dry_run)
        return "load: --output is missing: give FILE.agb";
    if (options->output && options->dry_run)
        return "load: --output and --dry-run: a dry run writes nothing: leave one out";
    return NULL;
}

static int load(const agb_options *options, agb_error *err)
{
    const char *problem = usage_problem(options);
    if (problem) {
        agb_fail(err, AGB_ERR_ARGUMENT, "%s", problem);
        return AGB_EXIT_USAGE;
    }
    job job = {.options = options, .printer = agb_progress_printer_of(stderr, options->quiet, false)};
    agb_status status = do_job(&job, err);
    if (status == AGB_OK && options->format == AGB_FORMAT_JSON)
        print_json(stdout, &job);
    else if (status == AGB_OK && options->dry_run)
        print_loaded(stdout, &job);
    else if (status == AGB_OK)
        print_summary(stdout, &job);
    agb_table_destroy(job.table);
    agb_pool_destroy(job.pool);
    release_names(&job.names);
    free(job.schema);
    agb_registry_destroy(job.registry);
    return agb_exit_of(status);
}

static const char *const load_options[] = {"columns", "output", "dry-run", "codec", "head", "every", "input-format",
                                           "schema", "threads", "format", "quiet", NULL};

const agb_command agb_command_load = {
    .name = "load", .operand = "SOURCE", .needs_operand = true,
    .summary = "columns of a SOURCE to a column file of our own (.agb)",
    .about = "Writes columns, all of them or those that are named, to a file that is loaded many times faster than\n"
             "the formats it may come from, and in which damage to a value never goes unnoticed. The file\n"
             "appears only when it is complete and safe on the disk; what was there before stays until then.",
    .example = "aggbench load hits.parquet --columns UserID,URL --output hits.agb",
    .interrupted = "nothing is written: run it again",
    .options = load_options, .run = load};
