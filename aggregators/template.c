/* SPDX-License-Identifier: MIT */
/* template: the smallest aggregator that works. Copy me.
 *
 *   1. cp aggregators/template.c aggregators/mine.c
 *   2. sed -i s/template/mine/g aggregators/mine.c
 *   3. make && build/aggbench verify mine             it is built in, and still right
 *   4. Change it. Keep the five headings below; say what you expect before you measure.
 *   5. build/aggbench run synth:hits,rows=10M --aggregator naive,mine
 *
 * Idea
 *   What is done differently, and why it should help. Name the paper if there is one.
 *
 * Layout
 *   A picture of the memory: what lies beside what, how many bytes.
 *
 * Cost per row
 *   Lines touched, branches, passes.
 *
 * Where the slots should go
 *   A prediction that can turn out wrong; its short form goes into .prediction and is printed beside the measurement.
 *
 * Try
 *   Two experiments, as commands. */
#include "linear_table.h"

/* Everything the strategy holds. Its first field is the host, through which all memory comes and all groups go. */
typedef struct template {
    agb_host *host;
    linear_table table;
} template;

static const char *const phases[] = {"build", NULL};

/* Set *out first: whatever happens afterwards, destroy is called, once, and only destroy has to clean up. */
static agb_status template_create(agb_host *host, const agb_config *config, void **out)
{
    template *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    return linear_table_open(&self->table, host, 10, 0, 50, config->hash) ? AGB_OK : AGB_ERR_MEMORY;
}

/* The batch is borrowed for the call. It may be empty. */
static agb_status template_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;    /* always 0 without the trait AGB_PARALLEL */
    template *self = state;
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t key = batch->keys[i];
        if (!linear_table_reserve(&self->table, self->host, 1))
            return AGB_ERR_MEMORY;
        linear_table_add(&self->table, agb_hash_word(self->table.hash, key), key, 1);
    }
    return AGB_OK;
}

/* Every group exactly once, in any order. */
static agb_status template_finish(void *state)
{
    template *self = state;
    return linear_table_emit(&self->table, self->host, 0);
}

static void template_destroy(void *state)
{
    template *self = state;
    linear_table_close(&self->table, self->host);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_template = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "template",
    .summary = "the smallest working aggregator, to be copied",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_EXAMPLE,
    .create = template_create,
    .consume = template_consume,
    .finish = template_finish,
    .destroy = template_destroy,
    .need = {.bytes_per_group = 96, .fixed_bytes = 100e3},
};
