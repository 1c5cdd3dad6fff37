/* SPDX-License-Identifier: MIT */
/* Builds the cache-resident twin of a column and its right answer: see resident.h. */
#include "resident.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char agb_resident_limits[] =
    "what a run costs beyond a twin of as many rows and equally long runs whose groups fit in the L2 cache; growing "
    "the table and writing more groups count as waiting (too high), streaming through memory does not (too low)";

uint64_t agb_resident_groups(const agb_caches *caches)
{
    enum { BYTES_PER_GROUP = 64, UNKNOWN_L2 = 1 << 20, LEAST = 64 };
    size_t l2 = caches->l2 ? caches->l2 : UNKNOWN_L2;
    uint64_t groups = LEAST;
    while (groups * 2 * BYTES_PER_GROUP <= l2 / 2)
        groups *= 2;
    return groups;
}

/* What the mapping needs. */
typedef struct mapping {
    const agb_column *column;
    const agb_group *real;       /* the column's groups, by key */
    size_t real_n;
    uint64_t *palette, *counts;  /* the twin's keys, and how many rows each has so far */
    size_t n;                    /* a power of two */
} mapping;

static uint64_t word_at(const agb_column *column, size_t row)
{
    switch (column->type) {
    case AGB_TYPE_INT32:
        return (uint64_t)(int64_t)((const int32_t *)column->values)[row];
    case AGB_TYPE_UINT32:
        return ((const uint32_t *)column->values)[row];
    case AGB_TYPE_BOOL:
        return ((const uint8_t *)column->values)[row];
    default:
        return ((const uint64_t *)column->values)[row];
    }
}

static void store(void *values, agb_type type, size_t row, uint64_t key)
{
    switch (agb_type_bytes(type)) {
    case sizeof(uint8_t):
        ((uint8_t *)values)[row] = (uint8_t)key;
        break;
    case sizeof(uint32_t):
        ((uint32_t *)values)[row] = (uint32_t)key;
        break;
    default:
        ((uint64_t *)values)[row] = key;
    }
}

/* The finaliser of MurmurHash3 (A. Appleby, 2011): not the hash of the contestants, so that it favours none. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

/* Writes the rows without NULL and counts their twins; returns how many rows. */
static size_t map_rows(mapping *self, size_t rows, void *values)
{
    const agb_column *column = self->column;
    uint64_t last_key = 0;
    size_t last = SIZE_MAX, written = 0;
    for (size_t row = 0; row < rows; row++) {
        if (column->nulls && column->nulls[row])
            continue;
        uint64_t key = word_at(column, row);
        if (last == SIZE_MAX || key != last_key) {
            size_t index = mix(key) & (self->n - 1);
            last = index == last ? (index + 1) & (self->n - 1) : index;
            last_key = key;
        }
        self->counts[last]++;
        store(values, column->type, written++, self->palette[last]);
    }
    return written;
}

/* The right answer: the counts are known from the mapping; their digest is found by counting the palette once, each key
 * weighing as much as its count. */
static agb_status find_answer(agb_resident *out, const agb_registry *registry, const mapping *map, agb_error *err)
{
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    agb_stats stats;
    agb_reference *answer = &out->reference;
    agb_plan plan = {.column = "key", .weights = map->counts,
                     .aggregator = agb_registry_find_aggregator(registry, agb_reference_aggregator)};
    agb_status status = agb_table_create(&table, err);
    if (status == AGB_OK)
        status = agb_table_lend(table, "key", AGB_TYPE_UINT64, map->palette, map->n, err);
    plan.table = table;
    if (status == AGB_OK)
        status = agb_sink_collect(&sink, err);
    if (status == AGB_OK)
        status = agb_count_groups(&plan, sink, &stats, err);
    if (status == AGB_OK) {
        answer->digest = agb_sink_digest(sink);
        answer->rows = answer->digest.rows;
        answer->groups = agb_sorted_groups(sink, &answer->n);
        if (!answer->groups)
            status = agb_fail(err, AGB_ERR_MEMORY, "cache-resident twin: no memory for its answer");
    }
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    return status;
}

/* Keys that no row has would have to be dropped from the palette: their weight is 0. */
static void drop_unused(mapping *map)
{
    size_t n = 0;
    for (size_t i = 0; i < map->n; i++) {
        map->palette[n] = map->palette[i];
        map->counts[n] = map->counts[i];
        n += map->counts[i] > 0;
    }
    map->n = n;
}

static agb_status fill(agb_resident *out, const agb_resident_plan *plan, mapping *map, size_t rows, agb_error *err)
{
    for (size_t i = 0; i < map->n; i++)
        map->palette[i] = map->real[i * (map->real_n / map->n)].key.word;
    size_t written = map_rows(map, rows, out->values);
    drop_unused(map);
    out->groups = map->n;
    agb_status status = find_answer(out, plan->registry, map, err);
    if (status == AGB_OK)
        status = agb_table_create(&out->table, err);
    if (status == AGB_OK)
        status = agb_table_lend(out->table, plan->column, map->column->type, out->values, written, err);
    return status;
}

/* As the engine's own columns lie. NULL without memory. */
static void *map_values(size_t bytes, agb_pages pages)
{
    void *values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (values == MAP_FAILED)
        return NULL;
    if (pages != AGB_PAGES_DEFAULT)
        madvise(values, bytes, pages == AGB_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return values;
}

agb_status agb_resident_create(agb_resident *out, const agb_resident_plan *plan, agb_error *err)
{
    *out = (agb_resident){0};
    agb_column column;
    if (plan->filter || plan->reference->kind != AGB_KEYS_WORD ||
        !agb_table_find_column(plan->table, plan->column, &column))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "cache-resident twin: %s: is made for one integer column without "
                        "--where", plan->column);
    size_t rows = agb_table_rows(plan->table);
    const agb_reference *reference = plan->reference;
    mapping map = {.column = &column, .real = reference->groups, .real_n = reference->n, .n = plan->most_groups};
    if (reference->n <= plan->most_groups) {
        *out = (agb_resident){.own = true, .groups = reference->n};
        return AGB_OK;
    }
    out->bytes = rows * agb_type_bytes(column.type) + 1;
    out->values = map_values(out->bytes, plan->pages);
    map.palette = calloc(map.n + 1, sizeof *map.palette);
    map.counts = calloc(map.n + 1, sizeof *map.counts);
    agb_status status;
    if (out->values && map.palette && map.counts)
        status = fill(out, plan, &map, rows, err);
    else
        status = agb_fail(err, AGB_ERR_MEMORY, "cache-resident twin: %zu bytes: the system refused memory: take fewer "
                          "rows", out->bytes);
    free(map.palette);
    free(map.counts);
    if (status != AGB_OK)
        agb_resident_release(out);
    return status;
}

void agb_resident_release(agb_resident *resident)
{
    agb_table_destroy(resident->table);
    if (resident->values)
        munmap(resident->values, resident->bytes);
    free(resident->reference.groups);
    *resident = (agb_resident){0};
}
