/* SPDX-License-Identifier: MIT */
/* From the options of a matrix to its cells: see matrix.h. */
#include "matrix.h"

#include "json_text.h"
#include "loader.h"
#include "machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const agb_distribution distributions[] = {
    {"uniform", "uniform", "", true},
    {"zipf0.8", "zipf", ",skew=0.8", true},
    {"zipf1.0", "zipf", ",skew=1.0", false},
    {"zipf1.2", "zipf", ",skew=1.2", true},
    {"hits", "hits", "", true},                /* in the order of hits: equal keys stand together */
    {"sorted", "uniform", ",order=sorted", true},
    {"giant", "giant", "", false},             /* one group has nine rows of ten */
};

enum { DISTRIBUTIONS = sizeof distributions / sizeof distributions[0] };
_Static_assert((int)DISTRIBUTIONS <= (int)AGB_MOST_DISTRIBUTIONS, "agb_matrix.distribution has room for all");

/* "4000000", "4M", "1e7" */
static agb_status parse_rows(const char *text, uint64_t *rows, agb_error *err)
{
    const double most = 1e11;
    char *end = (char *)text;
    double number = *text >= '0' && *text <= '9' ? strtod(text, &end) : NAN;
    double scale = *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    end += scale > 1;
    if (*end != '\0' || !(number * scale >= 1 && number * scale <= most))
        return agb_fail(err, AGB_ERR_ARGUMENT,
                        "--rows: %s: not a number such as 4000000, 4M or 1e7 in the allowed range "
                        "1..100000000000",
                        text);
    *rows = (uint64_t)(number * scale);
    return AGB_OK;
}

static agb_status parse_axis(agb_sweep *out, const char *option, const char *text, agb_error *err)
{
    char word[512];
    agb_error ignored = {0};
    snprintf(word, sizeof word, "%s=%.400s", option, text);
    bool good = strlen(text) <= 400 && agb_sweep_parse(out, word, &ignored) == AGB_OK;
    for (size_t i = 0; good && i < out->n; i++) {
        char *end;
        double value = strtod(out->value[i], &end);
        good = *end == '\0' && value >= 1 && value <= 1e12 && value == floor(value);
        snprintf(out->value[i], sizeof out->value[i], "%.0f", value);
    }
    return good ? AGB_OK
                : agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: not whole numbers such as 10,1000 or 10..1e8", option,
                           text);
}

/* 1, 2, 4 ... and all. */
static void all_threads(agb_sweep *out)
{
    unsigned all = agb_machine_default_threads("");
    *out = (agb_sweep){0};
    for (unsigned threads = 1; threads < all; threads *= 2)
        snprintf(out->value[out->n++], sizeof out->value[0], "%u", threads);
    snprintf(out->value[out->n++], sizeof out->value[0], "%u", all);
}

static agb_status add_distribution(agb_matrix *matrix, const char *name, size_t length, agb_error *err)
{
    const char *names[DISTRIBUTIONS + 1] = {0};
    char word[64];
    for (size_t i = 0; i < DISTRIBUTIONS; i++) {
        names[i] = distributions[i].name;
        if (strlen(names[i]) != length || memcmp(names[i], name, length) != 0)
            continue;
        for (size_t k = 0; k < matrix->distributions; k++)
            if (matrix->distribution[k] == &distributions[i])
                return agb_fail(err, AGB_ERR_ARGUMENT, "--distributions: %s: is named twice", names[i]);
        matrix->distribution[matrix->distributions++] = &distributions[i];
        return AGB_OK;
    }
    snprintf(word, sizeof word, "%.*s", length < 60 ? (int)length : 60, name);
    const char *near = agb_nearest_name(names, word);
    return agb_fail(err, AGB_ERR_NOT_FOUND,
                    "--distributions: %s: no such distribution%s%s: there are uniform, zipf0.8, "
                    "zipf1.0, zipf1.2, hits, sorted and giant",
                    *word ? word : "(empty)", near ? ": did you mean " : "", near ? near : "");
}

static agb_status parse_distributions(agb_matrix *matrix, const char *list, agb_error *err)
{
    agb_status status = AGB_OK;
    bool all = list && strcmp(list, "all") == 0;
    for (size_t i = 0; (!list || all) && i < DISTRIBUTIONS; i++)
        if (all || distributions[i].standard)
            matrix->distribution[matrix->distributions++] = &distributions[i];
    for (const char *at = all ? NULL : list; at && status == AGB_OK;) {
        size_t length = strcspn(at, ",");
        status = add_distribution(matrix, at, length, err);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

/* A cell whose source the generator refuses, for more groups than its rows can have, is left out. */
static agb_status make_cells(agb_matrix *matrix, const agb_registry *registry, agb_error *err)
{
    size_t room = matrix->threads.n * matrix->distributions * matrix->groups.n;
    agb_error why = {0};
    if (room > AGB_MOST_CELLS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "matrix: %zu cells: at most %d: give fewer --groups, --threads or "
                        "--distributions", room, AGB_MOST_CELLS);
    matrix->cells = calloc(room + 1, sizeof *matrix->cells);
    for (size_t i = 0; matrix->cells && i < room; i++) {
        size_t group = i % matrix->groups.n, rest = i / matrix->groups.n;
        agb_matrix_cell *cell = &matrix->cells[matrix->n];
        *cell = (agb_matrix_cell){.distribution = matrix->distribution[rest % matrix->distributions],
                                  .groups = strtoull(matrix->groups.value[group], NULL, 10),
                                  .threads =
                                      (unsigned)strtoul(matrix->threads.value[rest / matrix->distributions], NULL, 10)};
        snprintf(cell->source, sizeof cell->source, "synth:%s,rows=%" PRIu64 ",groups=%" PRIu64 "%s",
                 cell->distribution->kind, matrix->rows, cell->groups, cell->distribution->rest);
        agb_schema schema;
        if (agb_source_describe(&schema, registry, cell->source, &why) != AGB_OK) {
            matrix->beyond++;
            continue;
        }
        agb_schema_release(&schema);
        matrix->n++;
    }
    if (!matrix->cells)
        return agb_fail(err, AGB_ERR_MEMORY, "matrix: no memory for its cells");
    return matrix->n > 0 ? AGB_OK : agb_fail(err, AGB_ERR_ARGUMENT, "matrix: no cell is possible: %s", why.text);
}

agb_status agb_matrix_grid(agb_matrix *matrix, const agb_registry *registry, agb_error *err)
{
    const agb_options *options = matrix->options;
    agb_status status = parse_rows(options->rows ? options->rows : "4M", &matrix->rows, err);
    if (status == AGB_OK)
        status = parse_axis(&matrix->groups, "groups", options->grid_groups ? options->grid_groups : "10..1e8", err);
    if (status == AGB_OK && options->grid_threads)
        status = parse_axis(&matrix->threads, "threads", options->grid_threads, err);
    else
        all_threads(&matrix->threads);
    for (size_t i = 0; status == AGB_OK && i < matrix->threads.n; i++)
        if (strtoull(matrix->threads.value[i], NULL, 10) > 1024)
            status =
                agb_fail(err, AGB_ERR_ARGUMENT, "--threads: %s: allowed range is 1..1024", matrix->threads.value[i]);
    if (status == AGB_OK)
        status = parse_distributions(matrix, options->distributions, err);
    if (status == AGB_OK)
        status = make_cells(matrix, registry, err);
    return status;
}
