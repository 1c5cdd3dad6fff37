/* SPDX-License-Identifier: MIT */
/* The kinds that need no model: uniform, giant, runs, same and sequential.
 *
 * uniform and runs have to show every group at least once and still be random. So the runs (of one row each, for
 * uniform) get numbers by a permutation of 0..runs-1: whichever run gets a number below `groups` shows that group, all
 * others draw one. Every group is there once for certain, at a place that nobody can guess. Of giant, the numbers
 * behind those are the giant's other rows, and what is left draws one of the other groups. */
#include "fill.h"

typedef struct plain {
    agb_synth_fill *fill;
    agb_synth_permutation places;
    uint64_t run_rows, draw;
} plain;

static uint64_t group_of_run(const plain *self, uint64_t run)
{
    const agb_synth_spec *spec = self->fill->spec;
    uint64_t groups = spec->groups, place = agb_synth_place(&self->places, run);
    if (place < groups)
        return place;
    uint64_t word = agb_synth_mix(place ^ self->draw);
    if (spec->kind != AGB_SYNTH_GIANT)
        return agb_synth_below(word, groups);
    return place - groups < spec->giant_rows - 1 ? 0 : 1 + agb_synth_below(word, groups - 1);
}

static void fill_drawn(void *argument, unsigned worker, size_t block)
{
    plain *self = argument;
    const agb_synth_keys keys = agb_synth_keys_of(self->fill->spec);
    uint64_t first, end;
    agb_synth_block(self->fill, block, &first, &end);
    for (uint64_t run = first / self->run_rows, row = first; row < end; run++) {
        int64_t key = agb_synth_key(keys, group_of_run(self, run));
        uint64_t run_end = (run + 1) * self->run_rows;
        while (row < run_end && row < end)
            self->fill->values[row++] = key;
    }
    agb_synth_advance(self->fill, worker, end - first);
}

static void fill_sequential(void *argument, unsigned worker, size_t block)
{
    plain *self = argument;
    const agb_synth_keys keys = agb_synth_keys_of(self->fill->spec);
    uint64_t first, end, groups = self->fill->spec->groups;
    agb_synth_block(self->fill, block, &first, &end);
    for (uint64_t row = first, group = first % groups; row < end; row++) {
        self->fill->values[row] = agb_synth_key(keys, group);
        group = group + 1 < groups ? group + 1 : 0;
    }
    agb_synth_advance(self->fill, worker, end - first);
}

agb_status agb_synth_fill_plain(agb_synth_fill *fill, agb_error *err)
{
    const agb_synth_spec *spec = fill->spec;
    plain self = {.fill = fill, .run_rows = 1, .draw = agb_synth_word(spec->seed, AGB_SYNTH_DRAWS, 0)};
    if (spec->kind == AGB_SYNTH_RUNS)
        self.run_rows = spec->run_millionths / 1000000;
    if (spec->kind == AGB_SYNTH_SAME)
        self.run_rows = spec->rows;
    self.places = agb_synth_permute((spec->rows + self.run_rows - 1) / self.run_rows, spec->seed, AGB_SYNTH_PLACES);
    return agb_synth_each_block(fill, spec->kind == AGB_SYNTH_SEQUENTIAL ? fill_sequential : fill_drawn, &self, err);
}
