/* SPDX-License-Identifier: MIT */
/* Loader "synth": rows that are made, not read. One column, UserID, 64-bit signed, so that everything that runs on the
 * real table runs on these. The same spec gives the same bytes on every machine and with any number of threads.
 *
 *   synth/spec.c     reads the spec           synth/plain.c    uniform, giant, runs, same, sequential
 *   synth/hits.c     rows like the real ones  synth/zipf.c     Zipf's law, by rejection
 *   synth/order.c    shuffles and sorts       synth/power.c    powers in fixed point
 *   synth/numbers.h  random words, permutations */
#include "synth/fill.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "synth:KIND[,KEY=VALUE...] makes the column UserID (int64)\n"
    "kinds\n"
    "  hits        like ClickBench's hits: ascending segments, runs of equal keys, returning users, heavy tail\n"
    "  uniform     every group at least once, all other rows drawn evenly, in random order\n"
    "  zipf        rank k of 1..groups with probability proportional to k^-skew; not every rank need appear\n"
    "  giant       one group has a share of the rows, all others draw evenly from the rest, in random order\n"
    "  sequential  0, stride, 2*stride ... up to group number groups-1, and from 0 again\n"
    "  runs        run equal rows, then run rows of another random group, every group at least once\n"
    "  same        one key\n"
    "keys (numbers: 1000000, 1e6, 1M, 1Mi; k M G are 10^3 10^6 10^9, Ki Mi Gi are 2^10 2^20 2^30)\n"
    "  rows=N      0..1099511627776 (default 99997497, as hits)\n"
    "  groups=N    distinct keys, exactly; at most rows (default rows * 17630976 / 99997497, as hits; giant: no more\n"
    "              than the share leaves; runs: one for each run); zipf: how many ranks there are, may exceed rows\n"
    "  seed=N      0..18446744073709551615 (default 1): another seed, other keys in other places\n"
    "  order=WORD  natural (default; hits is another name for it in synth:hits), shuffled, sorted: the same rows\n"
    "  keys=WORD   mixed (default: spread over all 64 bits), dense (0, 1, 2 ...; default of sequential), low-zero,\n"
    "              high-equal, edges (0, -1, least, greatest, and their neighbours)\n"
    "  run=N       hits: mean rows in a run, 1..4096 (default 2.5); runs: rows in a run, whole (default 8)\n"
    "  skew=N      zipf: 0..16, up to nine decimals (default 1.2)\n"
    "  share=N     giant: 0..1, of the rows that are of one group, up to nine decimals (default 0.9)\n"
    "  stride=N    sequential with keys=dense: distance of the keys (default 1)\n"
    "example: synth:hits,rows=1M,groups=200k,run=2.5,seed=7,order=shuffled\n";

static agb_status synth_open(const agb_input *input, void **self, agb_error *err)
{
    agb_synth_spec *spec = malloc(sizeof *spec);
    *self = spec;
    if (!spec)
        return agb_fail(err, AGB_ERR_MEMORY, "synth:%s: the system refused %zu bytes: free some memory", input->path,
                        sizeof *spec);
    return agb_synth_spec_parse(spec, input->path, err);
}

static agb_status synth_schema(void *self, agb_schema *schema, agb_error *err)
{
    const agb_synth_spec *spec = self;
    char detail[320];
    int used = snprintf(detail, sizeof detail, "generated: %s, %llu groups%s, seed %llu, %s order, %s keys",
                        agb_synth_kind_name(spec), (unsigned long long)spec->groups,
                        spec->kind == AGB_SYNTH_ZIPF ? " at most" : "", (unsigned long long)spec->seed,
                        agb_synth_order_name(spec), agb_synth_shape_name(spec));
    size_t left = sizeof detail - (size_t)used;
    if (spec->kind == AGB_SYNTH_ZIPF)
        snprintf(detail + used, left, ", skew %.9g", (double)spec->skew_billionths / 1e9);
    else if (spec->kind == AGB_SYNTH_GIANT)
        snprintf(detail + used, left, ", %llu rows in one", (unsigned long long)spec->giant_rows);
    else if (spec->kind == AGB_SYNTH_SEQUENTIAL)
        snprintf(detail + used, left, ", stride %llu", (unsigned long long)spec->stride);
    else if (spec->kind == AGB_SYNTH_HITS || spec->kind == AGB_SYNTH_RUNS)
        snprintf(detail + used, left, ", %llu runs", (unsigned long long)spec->runs);
    schema->rows = spec->rows;
    agb_status status = agb_schema_add(schema, "UserID", AGB_TYPE_INT64, false, "generated", err);
    return status == AGB_OK ? agb_schema_set_detail(schema, detail, err) : status;
}

/* Which row comes first in another order than the natural one is known when all are there. */
static uint64_t rows_to_make(const agb_synth_spec *spec, const agb_load *load)
{
    return spec->order == AGB_SYNTH_NATURAL ? agb_load_wanted(load, spec->rows) : spec->rows;
}

static agb_status fill_column(const agb_synth_spec *spec, int64_t *values, const agb_load *load, agb_error *err)
{
    agb_synth_fill fill = {.spec = spec, .load = load, .values = values, .rows = rows_to_make(spec, load)};
    agb_status status = spec->kind == AGB_SYNTH_HITS   ? agb_synth_fill_hits(&fill, err)
                        : spec->kind == AGB_SYNTH_ZIPF ? agb_synth_fill_zipf(&fill, err)
                                                       : agb_synth_fill_plain(&fill, err);
    if (status == AGB_OK && spec->order == AGB_SYNTH_SHUFFLED)
        status = agb_synth_shuffle(&fill, err);
    if (status == AGB_OK && spec->order == AGB_SYNTH_SORTED)
        status = agb_synth_sort(&fill, err);
    return status;
}

/* A spec is a few bytes that can ask for terabytes: say how many rows there could be. */
static agb_status refuse_too_large(const agb_synth_spec *spec, uint64_t rows, size_t n_columns, agb_error *err)
{
    uint64_t available = agb_system_memory_available(), row_bytes = sizeof(int64_t) * n_columns;
    if (rows <= available / row_bytes)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_MEMORY, "synth:%s: rows=%llu: needs %llu bytes, and %llu are available: ask for at "
                    "most %llu rows", agb_synth_kind_name(spec), (unsigned long long)rows,
                    (unsigned long long)(rows * row_bytes), (unsigned long long)available,
                    (unsigned long long)(available / row_bytes));
}

static agb_status synth_load(void *self, const size_t *column, size_t n_columns, agb_table *table,
                             const agb_load *load, agb_error *err)
{
    const agb_synth_spec *spec = self;
    uint64_t before = agb_table_rows(table), rows = rows_to_make(spec, load);
    (void)column;    /* there is only one */
    agb_status status = refuse_too_large(spec, rows, n_columns, err);
    if (status == AGB_OK)
        status = agb_table_extend(table, rows, err);
    for (size_t i = 0; i < n_columns && rows > 0 && status == AGB_OK; i++)
        status = fill_column(spec, (int64_t *)agb_table_values(table, i) + before, load, err);
    return status;
}

static void synth_close(void *self)
{
    free(self);
}

const agb_loader agb_loader_synth = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "synth",
    .summary = "generated rows: hits, uniform, zipf, giant, sequential, runs, same",
    .help = help,
    .traits = AGB_LOADER_GENERATES,
    .open = synth_open,
    .schema = synth_schema,
    .load = synth_load,
    .close = synth_close,
};
