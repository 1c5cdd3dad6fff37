/* SPDX-License-Identifier: MIT */
/* window: small keys are counted where they point, without a hash; all others go to naive's table.
 * The second worked example of aggregators/README.md: three phases, a parameter, sizes taken from the machine.
 *
 * Idea
 *   Many columns hold small numbers: regions, days, kinds of device. For such a key the best table is an array with the
 *   key for an index. Every batch is gone through twice: the first pass counts the keys inside the window and writes
 *   the others down; the second one looks those up.
 *
 * Layout
 *     window   [count][count] ... [spill]     one for each key 0 .. 2^bits - 1, and one more that keys outside meet
 *     rest     key key key ...                the keys of this batch that lie outside; as long as the longest batch
 *     table    [key|count][key|count] ...     naive's
 *
 * Cost per row
 *   Inside: two stores, no hash, no branch that depends on the key. Outside: those, and naive's row.
 *
 * Where the slots should go
 *   Inside: the window is half of L2, so retiring. Outside: as naive, with a few operations more.
 *
 * Try
 *   aggbench run hits.parquet --group-by RegionID --plugin ./window.so --aggregator naive,window
 *   aggbench run synth:uniform,rows=10M,groups=1M --plugin ./window.so --aggregator naive,window  (all outside) */
#include "linear_table.h"

typedef struct window {
    agb_host *host;
    uint64_t *counts;      /* keys + 1 of them */
    uint64_t keys;         /* 0 .. keys - 1 are inside */
    uint64_t *rest;
    size_t rest_room;
    linear_table table;
} window;

enum { DIRECT, REST, EMIT };    /* the places of the names below: what agb_phase is told */
static const char *const phases[] = {"direct", "rest", "emit", NULL};

enum { BITS };
static const agb_param params[] = {
    {"bits", 0, 0, 28, "log2 of the keys that are counted directly; 0: as many as half of the L2 cache has counts for"},
    {0},
};

/* Where the machine does not tell its caches: 64 KiB. */
static uint64_t window_keys(const agb_config *config)
{
    size_t bytes = config->caches.l2 ? config->caches.l2 / 2 : (size_t)64 << 10;
    return config->params[BITS] ? UINT64_C(1) << config->params[BITS] : bytes / sizeof(uint64_t);
}

static agb_status window_create(agb_host *host, const agb_config *config, void **out)
{
    window *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->keys = window_keys(config);
    self->counts = agb_alloc(host, (self->keys + 1) * sizeof *self->counts, AGB_ZEROED);
    if (!self->counts)
        return AGB_ERR_MEMORY;
    return linear_table_open(&self->table, host, 10, 0, 70, config->hash) ? AGB_OK : AGB_ERR_MEMORY;
}

/* Batches may differ in length; the longest one so far says how much room there is. */
static bool window_make_room(window *self, size_t rows)
{
    if (rows <= self->rest_room)
        return true;
    agb_release(self->host, self->rest, self->rest_room * sizeof *self->rest);
    self->rest = agb_alloc(self->host, rows * sizeof *self->rest, 0);
    self->rest_room = self->rest ? rows : 0;
    return self->rest != NULL;
}

static agb_status window_consume(void *state, unsigned worker, const agb_batch *batch)
{
    window *self = state;
    if (!window_make_room(self, batch->rows))
        return AGB_ERR_MEMORY;
    agb_phase(self->host, worker, DIRECT);
    size_t outside = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t key = batch->keys[i];
        self->counts[key < self->keys ? key : self->keys]++;
        self->rest[outside] = key;
        outside += key >= self->keys;
    }
    agb_phase(self->host, worker, REST);
    for (size_t i = 0; i < outside; i++)
        if (!linear_table_put(&self->table, self->host, self->rest[i], 1))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status window_finish(void *state)
{
    window *self = state;
    agb_phase(self->host, 0, EMIT);
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(self->host, 0, self->keys, &keys, &counts);    /* all of them at most */
    if (status != AGB_OK)
        return status;
    size_t written = 0;
    for (uint64_t key = 0; key < self->keys; key++) {
        keys[written] = key;
        counts[written] = self->counts[key];
        written += self->counts[key] != 0;
    }
    status = agb_emit_end(self->host, 0, written);
    agb_note(self->host, self->table.groups ? "some keys lay outside the window" : "all keys lay inside the window");
    return status == AGB_OK ? linear_table_emit(&self->table, self->host, 0) : status;
}

static void window_destroy(void *state)
{
    window *self = state;
    linear_table_close(&self->table, self->host);
    agb_release(self->host, self->rest, self->rest_room * sizeof *self->rest);
    agb_release(self->host, self->counts, (self->keys + 1) * sizeof *self->counts);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_window = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "window",
    .summary = "small keys index an array, all others go to naive's table",
    .prediction = "small keys: retiring; others: as naive",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS,
    .create = window_create,
    .consume = window_consume,
    .finish = window_finish,
    .destroy = window_destroy,
};
