/* SPDX-License-Identifier: MIT */
/* Rows like the UserID column of ClickBench's hits, in the order of the real file.
 *
 * What it imitates. The real file is ordered by CounterID, EventDate, UserID, EventTime. So it is a row of segments,
 * one for each (CounterID, EventDate), of very unequal size; in a segment UserIDs ascend as signed numbers; rows of one
 * user stand together in a run; users come back in other segments; few users have very many rows. Numbers that are
 * exact: rows and groups. Numbers that are met closely: the mean run length, the counts of the ten largest groups.
 * Numbers whose shape is met: run lengths (even ones dominate, as in the 1,886 runs of the public sample), and the
 * heavy tail of counts.
 *
 * What it does not know, and so does not claim. The run lengths and segment sizes of the whole file: only its first
 * 24,586 rows have been looked at, and they are more clustered (13 rows in a run) than the whole can be. The default of
 * 2.5 rows in a run comes from the DRAM traffic that was published for the whole. How near in the file users come back:
 * here anywhere, in reality rather under the same CounterID, which is kinder to caches (the first million real rows
 * hold 79,842 users; here about 391,000). How counts, run lengths and keys hang together: here not at all.
 *
 * How it is made, so that any part of the file can be made without the others:
 *   - Visits. There are `runs` visits. The first `groups` of them are the first visit of each group; the others are
 *     shared out by a falling law of the group's rank (rank_law). That makes `groups` exact.
 *   - Slots. A keyed permutation deals the visits to `runs` slots in the file. A segment is a range of slots.
 *   - Lengths. A second permutation deals run lengths to the slots, out of a table that says exactly how many runs of
 *     each length there are (length_law). That makes `rows` exact.
 *   - A segment first writes the keys of its slots to its own first rows, sorts them there, then spreads them out from
 *     the back: n keys never need more room than their rows. So the column is all the memory that is needed, apart from
 *     the laws and 16 bytes per segment: under 1 MB for 100 million rows.
 * Two visits of a user that fall into the same segment become one longer run (half a per cent of all at full size). */
#include "fill.h"
#include "power.h"

#include <stdlib.h>
#include <string.h>

/* ---- Which group a visit belongs to ---- */

enum { TOP = 10, KNOTS = 400, GUIDES = 1024 };

/* Visits of the groups by rank. Ranks 11 and up fall like rank^-0.57, which joins the tenth of the real counts to the
 * real number of groups and rows; the ten above them stand as multiples, as they really are. The law is kept as
 * knots (rank, visits of all ranks before it), ranks between two knots get equally many. */
typedef struct rank_law {
    uint64_t knots;
    uint64_t rank[KNOTS], visits[KNOTS];
    uint64_t ranks_per_visit[KNOTS];    /* in units of 2^-32, rounded down */
    uint64_t per_guide;                 /* visits per entry of the guide */
    uint16_t guide[GUIDES + 1];         /* knot at which the search begins */
} rank_law;

/* Counts of the ten largest UserIDs of the 100-million-row edition (see data/README.md). */
static const uint64_t top_rows[TOP] = {29097, 25333, 10611, 7584, 6678, 6411, 6197, 6019, 5211, 4906};

enum {
    EXPONENT = 430000000,    /* sums of rank^-0.57 grow like rank^0.43; in billionths */
    ROW_WEIGHT = 98700       /* of one row of the top ten: the slope of rank^0.43 at 10 (0.1157) over 4906, times 2^32,
                                less 2.5 %, so that the largest group comes out right at full size */
};

/* Weight of the ranks below `rank`, times 2^32. */
static uint64_t weight_below(const agb_synth_roots *roots, uint64_t rank)
{
    uint64_t weight = 0;
    for (uint64_t i = 0; i < rank && i < TOP; i++)
        weight += top_rows[i] * ROW_WEIGHT;
    if (rank <= TOP)
        return weight;
    agb_synth_wide log2[2] = {agb_synth_log2(rank), agb_synth_log2(TOP)};
    for (int i = 0; i < 2; i++) {    /* x^0.43 = 2^whole / 2^(whole - log2(x) * 0.43); whole < 2^5 */
        agb_synth_wide power = agb_synth_times(log2[i], EXPONENT);
        unsigned whole = (unsigned)(power >> 64) + 1;
        uint64_t term = agb_synth_exp2_minus(roots, ((agb_synth_wide)whole << 64) - power) >> (32 - whole);
        weight += i == 0 ? term : -term;
    }
    return weight;
}

static void fill_rank_law(rank_law *law, uint64_t groups, uint64_t visits)
{
    agb_synth_roots roots;
    agb_synth_roots_fill(&roots);
    uint64_t total = weight_below(&roots, groups), rank = 0;
    for (law->knots = 0;; law->knots++) {
        law->rank[law->knots] = rank;
        law->visits[law->knots] = (uint64_t)((agb_synth_wide)visits * weight_below(&roots, rank) / total);
        if (rank == groups)
            break;
        rank = rank < TOP ? rank + 1 : rank + rank / 8;
        rank = rank < groups ? rank : groups;
    }
    for (uint64_t k = 0; k < law->knots; k++) {
        uint64_t more = law->visits[k + 1] - law->visits[k], ranks = law->rank[k + 1] - law->rank[k];
        law->ranks_per_visit[k] = more ? (uint64_t)(((agb_synth_wide)ranks << 32) / more) : 0;
    }
    law->per_guide = visits / GUIDES + 1;
    for (uint64_t i = 0, k = 0; i <= GUIDES; i++) {
        while (k + 1 < law->knots && law->visits[k + 1] <= i * law->per_guide)
            k++;
        law->guide[i] = (uint16_t)k;
    }
}

/* Rank of the group that return visit number `visit` belongs to. */
static inline uint64_t rank_of(const rank_law *law, uint64_t visit)
{
    uint64_t k = law->guide[visit / law->per_guide];
    while (law->visits[k + 1] <= visit)
        k++;
    return law->rank[k] + (uint64_t)(((agb_synth_wide)(visit - law->visits[k]) * law->ranks_per_visit[k]) >> 32);
}

/* ---- How long runs are ---- */

/* Runs of each length: lengths ascend, upto counts the runs of this length and all shorter ones. */
typedef struct length_law {
    size_t lengths, room;
    struct length { uint64_t rows, upto; } *length;
} length_law;

static bool add_length(length_law *law, uint64_t rows, uint64_t runs)
{
    if (runs == 0)
        return true;
    if (law->lengths == law->room) {
        size_t room = law->room ? law->room * 2 : 256;
        struct length *larger = realloc(law->length, room * sizeof *larger);
        if (!larger)
            return false;
        law->length = larger;
        law->room = room;
    }
    uint64_t before = law->lengths ? law->length[law->lengths - 1].upto : 0;
    law->length[law->lengths++] = (struct length){rows, before + runs};
    return true;
}

/* A run is some pairs of rows, less one row in a few of them (`odd`: one run in 16 where it can be chosen, as in the
 * sample). Every run has one pair. Of the `more` pairs that are left, the runs that have any get a geometrically
 * falling number: a fraction of about more / (more + 3.5 runs) of the runs has two pairs or more, which gives both the
 * sample's 61 % at its mean of 13 rows, and few but long exceptions at a mean of 2.5. false: out of memory. */
static bool fill_length_law(length_law *law, uint64_t rows, uint64_t runs)
{
    uint64_t odd = runs / 16 + ((runs / 16 + rows) & 1);
    if (rows + odd < 2 * runs)
        odd = 2 * runs - rows;
    uint64_t more = (rows + odd) / 2 - runs, pairs = 1, done = 0, odd_done = 0;
    uint64_t longer = (uint64_t)((agb_synth_wide)more * 2 * runs / (2 * more + 7 * runs)) + (more > 0);
    for (uint64_t left = runs; left > 0; pairs++) {
        uint64_t here = left - longer;
        done += here;
        uint64_t odd_here = (uint64_t)((agb_synth_wide)odd * done / runs) - odd_done;
        odd_done += odd_here;
        if (!add_length(law, 2 * pairs - 1, odd_here) || !add_length(law, 2 * pairs, here - odd_here))
            return false;
        left = longer;
        /* Of `left` runs that take one of the `more` pairs each, so many take another: the same ratio at each length,
         * rounded up, which uses up the pairs exactly when it uses up the runs. */
        if (left > 0) {
            more -= left;
            longer = (uint64_t)(((agb_synth_wide)left * more + more + left - 1) / (more + left));
        }
    }
    return true;
}

static inline uint64_t length_of(const length_law *law, uint64_t number)
{
    const struct length *length = law->length;
    while (length->upto <= number)
        length++;
    return length->rows;
}

/* ---- Segments ---- */

typedef struct segment {
    uint64_t slot, row;    /* the first ones; the next segment's are the end */
} segment;

typedef struct hits {
    agb_synth_fill *fill;
    uint64_t runs, groups;
    agb_synth_permutation places, lengths;    /* slot to visit; slot to number in the length law */
    rank_law ranks;
    length_law length_law;
    uint64_t level;        /* see weight_of */
    size_t segments;       /* so far; in the end those with wanted rows */
    segment *segment;      /* segments + 1 of them */
    int64_t *cut;          /* all rows of the last segment, where not all of them are wanted; else NULL */
} hits;

/* Sizes fall like Pareto's law with exponent one, from a ninth of the average to 460 times as much; `level` keeps the
 * largest of few segments from being most of the table. */
static inline uint64_t weight_of(const hits *self, size_t number)
{
    uint64_t random = agb_synth_word(self->fill->spec->seed, AGB_SYNTH_SEGMENTS, number);
    return 65536 / ((random >> 52) + self->level);
}

static inline uint64_t rows_at(const hits *self, uint64_t slot)
{
    return length_of(&self->length_law, agb_synth_place(&self->lengths, slot));
}

/* Counts the rows of a segment among those that have just been added; kept in the next one's place until they are
 * summed up. */
static void count_rows(void *argument, unsigned worker, size_t number)
{
    hits *self = argument;
    (void)worker;
    segment *segment = &self->segment[self->segments + number];
    uint64_t rows = 0, end = segment[1].slot;
    for (uint64_t slot = segment->slot; slot < end; slot++)
        rows += rows_at(self, slot);
    segment[1].row = rows;
}

/* *weight: of the segments before, out of `total`. */
static agb_status add_segments(hits *self, size_t n, uint64_t *weight, uint64_t total, agb_error *err)
{
    segment *more = realloc(self->segment, (self->segments + n + 1) * sizeof *more);
    if (!more)
        return agb_fail(err, AGB_ERR_MEMORY, "synth:hits: the system refused memory for the tables of %llu rows: ask "
                        "for fewer rows", (unsigned long long)self->fill->rows);
    self->segment = more;
    if (self->segments == 0)
        more[0] = (segment){0};
    for (size_t i = self->segments; i < self->segments + n; i++) {
        *weight += weight_of(self, i);
        more[i + 1].slot = (uint64_t)((agb_synth_wide)self->runs * *weight / total);
    }
    agb_status status = agb_synth_each(self->fill, n, count_rows, self, err);
    for (size_t end = self->segments + n; status == AGB_OK && self->segments < end; self->segments++)
        more[self->segments + 1].row += more[self->segments].row;
    return status;
}

/* About 800 runs (2,000 rows) in a segment on the average, or fewer in small tables, so that users have other segments
 * to come back in. Twice as many each time, until the wanted rows are there. */
static agb_status lay_segments(hits *self, agb_error *err)
{
    enum { FIRST = 64 };
    uint64_t runs = self->runs, small = runs / 16 < 2048 ? runs / 16 : 2048, total = 0, weight = 0;
    uint64_t wanted = self->fill->rows, all = (runs / 800 > small ? runs / 800 : small) + 1;
    agb_status status = AGB_OK;
    self->level = 1 + 40960 / all;
    for (size_t i = 0; i < all; i++)
        total += weight_of(self, i);
    for (uint64_t rows = 0; status == AGB_OK && self->segments < all && rows < wanted;) {
        uint64_t n = self->segments ? self->segments : FIRST, left = all - self->segments;
        status = add_segments(self, (size_t)(n < left ? n : left), &weight, total, err);
        rows = status == AGB_OK ? self->segment[self->segments].row : 0;
    }
    if (status != AGB_OK)
        return status;
    while (self->segment[self->segments - 1].row >= wanted)
        self->segments--;
    uint64_t last = self->segment[self->segments].row - self->segment[self->segments - 1].row;
    if (self->segment[self->segments].row > wanted && !(self->cut = malloc(last * sizeof *self->cut)))
        return agb_fail(err, AGB_ERR_MEMORY, "synth:hits: the system refused memory for %llu rows: free some memory",
                        (unsigned long long)last);
    return AGB_OK;
}

static void fill_segment(void *argument, unsigned worker, size_t number)
{
    hits *self = argument;
    const agb_synth_keys keys = agb_synth_keys_of(self->fill->spec);
    const segment *segment = &self->segment[number];
    bool cut = segment[1].row > self->fill->rows;
    int64_t *place = self->fill->values + segment->row, *rows = cut ? self->cut : place;
    uint64_t slots = segment[1].slot - segment->slot, end = segment[1].row - segment->row;
    uint64_t wanted = cut ? self->fill->rows - segment->row : end;
    for (uint64_t i = 0; i < slots; i++) {
        uint64_t visit = agb_synth_place(&self->places, segment->slot + i);
        rows[i] = agb_synth_key(keys, visit < self->groups ? visit : rank_of(&self->ranks, visit - self->groups));
    }
    agb_synth_sort_keys(rows, (size_t)slots);
    for (uint64_t slot = slots, to = end; slot-- > 0;) {
        int64_t key = rows[slot];
        for (uint64_t length = rows_at(self, segment->slot + slot); length > 0; length--)
            rows[--to] = key;
    }
    if (cut)
        memcpy(place, rows, wanted * sizeof *rows);
    agb_synth_advance(self->fill, worker, wanted);
}

agb_status agb_synth_fill_hits(agb_synth_fill *fill, agb_error *err)
{
    const agb_synth_spec *spec = fill->spec;
    hits self = {.fill = fill, .runs = spec->runs, .groups = spec->groups};
    self.places = agb_synth_permute(spec->runs, spec->seed, AGB_SYNTH_PLACES);
    self.lengths = agb_synth_permute(spec->runs, spec->seed, AGB_SYNTH_LENGTHS);
    fill_rank_law(&self.ranks, spec->groups, spec->runs - spec->groups);
    agb_status status = AGB_OK;
    if (!fill_length_law(&self.length_law, spec->rows, spec->runs))
        status = agb_fail(err, AGB_ERR_MEMORY, "synth:hits: the system refused memory for the law of %llu rows: ask "
                          "for fewer rows", (unsigned long long)spec->rows);
    if (status == AGB_OK)
        status = lay_segments(&self, err);
    if (status == AGB_OK)
        status = agb_synth_each(fill, self.segments, fill_segment, &self, err);
    free(self.cut);
    free(self.segment);
    free(self.length_law.length);
    return status;
}
