/* SPDX-License-Identifier: MIT */
/* Zipf's law: rank k of 1..groups is drawn with a probability proportional to k^-skew, for any skew from 0 (uniform)
 * to 16, without knowing the sum of all those powers.
 *
 * Rejection under a staircase (Devroye: Non-uniform random variate generation, 1986, section II.3). Step j covers the
 * ranks 2^j .. 2^(j+1)-1 and is as high as its first rank's weight, 2^-(j*skew). Draw a step by its area, a rank in
 * the step evenly, and keep it with probability (k / 2^j)^-skew, which is at least 2^-skew; else draw again. Against
 * rejection-inversion (Hoermann and Derflinger: Rejection-inversion to generate variates from monotone discrete
 * distributions, 1996) this needs a power only where a table cannot decide: once in about 500 draws.
 *
 * Exactness: powers are fixed-point integers good to 2^-57 (power.h), the steps' areas to 2^-63. Each block of rows
 * has a stream of its own, so that redrawing in one block moves nothing in another.
 *
 * Group number = rank - 1. `groups` is the number of possible ranks; how many of them really appear falls out. */
#include "fill.h"
#include "power.h"

enum { STEPS = 41, KNOTS = 512, KNOT_SHIFT = 55, GUIDES = 256, GUIDE_SHIFT = 56 };

typedef struct zipf {
    agb_synth_fill *fill;
    uint64_t skew;                  /* billionths */
    unsigned steps;
    uint64_t last_ranks;            /* ranks in the last step, which may be cut short */
    uint64_t upto[STEPS];           /* probability of this step and those before it, times 2^64 - 1 */
    unsigned char guide[GUIDES];    /* step to begin the search at, by the first bits of the random word */
    uint64_t keep[KNOTS + 1];       /* (1 + i / KNOTS)^-skew times 2^64 */
    agb_synth_roots roots;
} zipf;

/* (x / 2^whole)^-skew times 2^64, for 2^whole <= x < 2^(whole+1). */
static uint64_t keep_of(const zipf *self, uint64_t x, unsigned whole)
{
    agb_synth_wide log2 = agb_synth_log2(x) - ((agb_synth_wide)whole << 64);
    return agb_synth_exp2_minus(&self->roots, agb_synth_times(log2, self->skew));
}

static void fill_steps(zipf *self, uint64_t groups)
{
    agb_synth_wide area[STEPS], total = 0;
    self->steps = 64 - (unsigned)__builtin_clzll(groups);
    self->last_ranks = groups - ((uint64_t)1 << (self->steps - 1)) + 1;
    for (unsigned j = 0; j < self->steps; j++) {
        uint64_t ranks = j + 1 < self->steps ? (uint64_t)1 << j : self->last_ranks;
        agb_synth_wide fall = agb_synth_times((agb_synth_wide)j << 64, self->skew);
        total += (agb_synth_wide)agb_synth_exp2_minus(&self->roots, fall) * ranks;
        area[j] = total;
    }
    unsigned excess = total >> 64 ? 64 - (unsigned)__builtin_clzll((uint64_t)(total >> 64)) : 0;
    for (unsigned j = 0; j < self->steps; j++)
        self->upto[j] = (uint64_t)(((area[j] >> excess) * UINT64_MAX) / (total >> excess));
    unsigned step = 0;
    for (uint64_t i = 0; i < GUIDES; i++) {
        while (self->upto[step] < i << GUIDE_SHIFT)
            step++;
        self->guide[i] = (unsigned char)step;
    }
}

/* Whether a random word is below (rank / 2^step)^-skew times 2^64: by the knots on either side if they agree. */
static inline bool kept(const zipf *self, uint64_t random, uint64_t rank, unsigned step)
{
    uint64_t knot = (rank << (63 - step) << 1) >> KNOT_SHIFT;
    if (random < self->keep[knot + 1])
        return true;
    return random < self->keep[knot] && random < keep_of(self, rank, step);
}

static uint64_t draw_rank(const zipf *self, uint64_t *stream)
{
    for (;;) {
        uint64_t random = agb_synth_next(stream);
        unsigned step = self->guide[random >> GUIDE_SHIFT];
        while (random > self->upto[step])
            step++;
        uint64_t ranks = step + 1 < self->steps ? (uint64_t)1 << step : self->last_ranks;
        uint64_t rank = ((uint64_t)1 << step) + agb_synth_below(agb_synth_next(stream), ranks);
        if (kept(self, agb_synth_next(stream), rank, step))
            return rank;
    }
}

static void fill_block(void *argument, unsigned worker, size_t block)
{
    zipf *self = argument;
    const agb_synth_keys keys = agb_synth_keys_of(self->fill->spec);
    uint64_t stream = agb_synth_word(self->fill->spec->seed, AGB_SYNTH_DRAWS, block), first, end;
    agb_synth_block(self->fill, block, &first, &end);
    for (uint64_t row = first; row < end; row++)
        self->fill->values[row] = agb_synth_key(keys, draw_rank(self, &stream) - 1);
    agb_synth_advance(self->fill, worker, end - first);
}

agb_status agb_synth_fill_zipf(agb_synth_fill *fill, agb_error *err)
{
    zipf self = {.fill = fill, .skew = fill->spec->skew_billionths};
    agb_synth_roots_fill(&self.roots);
    fill_steps(&self, fill->spec->groups);
    for (uint64_t i = 0; i < KNOTS; i++)
        self.keep[i] = keep_of(&self, KNOTS + i, 9);
    self.keep[KNOTS] = agb_synth_exp2_minus(&self.roots, agb_synth_times((agb_synth_wide)1 << 64, self.skew));
    return agb_synth_each_block(fill, fill_block, &self, err);
}
