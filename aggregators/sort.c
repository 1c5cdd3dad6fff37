/* SPDX-License-Identifier: MIT */
/* sort: copy all keys, sort them, count the runs. Slow and obvious: the oracle that every other answer is compared
 * with. It shares neither hash nor table with the contestants.
 *
 * Idea
 *   In sorted order equal keys are neighbours. Least-significant-digit radix sort, eight bits at a time (Knuth, The Art
 *   of Computer Programming 3, 5.2.5); a digit that is the same in all keys needs no pass.
 *
 * Layout
 *     words     keys k0 k1 ...   [second words]   [weights]      columns, filled by consume; each pass moves everything
 *     others    the same again                                   from one side to the other (sort_words_part.h)
 *     strings   copied and sorted in place                       (sort_strings_part.h)
 *
 * Cost per row
 *   Up to eight passes of one sequential load and one store to one of 256 places: no random access, but the memory is
 *   read and written eight times.
 *
 * Where the slots should go
 *   Bound by bandwidth and store traffic rather than by latency: retiring well above naive's, and yet slow.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,sort
 *   aggbench run synth:sequential,rows=10M,groups=1000 --aggregator naive,sort      (two passes instead of eight) */
#include "sort_strings_part.h"
#include "sort_words_part.h"

enum { LEAST_ROOM = 4096 };

typedef struct sort {
    agb_host *host;
    word_sort words;         /* words and pairs */
    string_sort strings;
} sort;

enum { COPY, SORT, COUNT };
static const char *const phases[] = {"copy", "sort", "count", NULL};

static bool sort_takes_strings(const sort *self)
{
    return self->words.kind == AGB_KEYS_BYTES;
}

static agb_status sort_create(agb_host *host, const agb_config *config, void **out)
{
    sort *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = self->words.host = self->strings.host = host;
    self->words.kind = config->kind;
    self->words.weighted = config->weighted;
    size_t room = config->rows ? config->rows : LEAST_ROOM;
    if (sort_takes_strings(self))
        return string_sort_reserve(&self->strings, room);
    return word_sort_reserve(&self->words, room);
}

static agb_status sort_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    sort *self = state;
    return sort_takes_strings(self) ? string_sort_append(&self->strings, batch)
                                    : word_sort_append(&self->words, batch);
}

static agb_status sort_finish(void *state)
{
    sort *self = state;
    agb_status status = AGB_OK;
    agb_phase(self->host, 0, SORT);
    if (sort_takes_strings(self))
        string_sort_run(&self->strings);
    else
        status = word_sort_run(&self->words);
    if (status != AGB_OK)
        return status;
    agb_phase(self->host, 0, COUNT);
    return sort_takes_strings(self) ? string_sort_emit(&self->strings) : word_sort_emit(&self->words);
}

static void sort_destroy(void *state)
{
    sort *self = state;
    word_sort_close(&self->words);
    string_sort_close(&self->strings);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_sort = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "sort",
    .summary = "copy, sort, count the runs: the oracle",
    .prediction = "bound by bandwidth rather than latency: retiring above naive's, and yet slow",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = sort_create,
    .consume = sort_consume,
    .finish = sort_finish,
    .destroy = sort_destroy,
    .need = {.bytes_per_row = 16, .fixed_bytes = 100e3},
};
