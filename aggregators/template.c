/* SPDX-License-Identifier: MIT */
/* template: the smallest aggregator that works, to be changed. `aggbench new NAME` writes it under a name of yours.
 *
 *   Keep the five headings below: fill them in, and say what you expect before you measure. The state stands in memory
 *   of the host's, and every function finds it behind the pointer that create has set. aggregators/README.md is the
 *   guide. As it is, this counts right in a table with linear probing that grows by itself.
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
 *   aggbench run synth:hits,rows=10M --plugin ./template.so --aggregator naive,radix,template
 *   aggbench run synth:uniform,rows=10M,groups=1000 --plugin ./template.so --aggregator naive,radix,template */
#include "linear_table.h"

/* Everything the strategy holds. Its first field is the host, through which all memory comes and all groups go. */
typedef struct template_state {
    agb_host *host;
    linear_table table;
} template_state;

static const char *const phases[] = {"build", NULL};

/* Set *out first: whatever happens afterwards, destroy is called, once, and only destroy has to clean up. */
static agb_status template_create(agb_host *host, const agb_config *config, void **out)
{
    template_state *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
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
    template_state *self = state;
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
    template_state *self = state;
    return linear_table_emit(&self->table, self->host, 0);
}

static void template_destroy(void *state)
{
    template_state *self = state;
    linear_table_close(&self->table, self->host);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_template = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "template",
    .summary = "the smallest aggregator that works, to be changed",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_EXAMPLE,
    .create = template_create,
    .consume = template_consume,
    .finish = template_finish,
    .destroy = template_destroy,
    .need = {.bytes_per_group = 96, .fixed_bytes = 100e3},
};
