/* SPDX-License-Identifier: MIT */
/* How long one load takes when it has to wait for the one before: a pointer chase over working sets from 16 KiB to
 * 1 GiB, in random and in sequential order, side by side in 4 KiB and in huge pages, and over several chains at
 * once. */
#include "chain.h"
#include "interrupt.h"
#include "lab_steps.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 5, MOST_STEPS = 8, KINDS = 2, CHAIN_COUNTS = 8 };

static const uint64_t least_bytes = 16 << 10, most_bytes = 1 << 30, chains_bytes = 256 << 20;
static const double usual_s = 26;    /* four curves of 5 s, and the chains */
static const char *const kind_names[KINDS] = {"4 KiB", "huge"};

/* One page size: its memory, and the cycle that is in it now. */
typedef struct kind {
    const char *name;
    agb_room room;
    agb_chain chain;
    uint64_t hops;               /* of one repetition; 0 before the first */
} kind;

typedef struct chase {
    agb_lab_run *run;
    kind kinds[KINDS];
    size_t n_kinds;
    uint32_t *order;
    uint64_t largest;            /* bytes of the largest working set */
    double slot_s;               /* of one repetition */
    size_t part, parts;          /* points: done, and of the whole work */

    size_t first;                /* the kind that is trial 0 of the turns */
    unsigned chains;
} chase;

/* ---- One measurement --------------------------------------------------------------------------------------------- */

/* In pieces, so that any number of hops can be interrupted. */
static double time_hops(agb_chain *chain, unsigned chains, uint64_t hops)
{
    static const uint64_t piece = 1 << 20;
    double start = agb_now_s();
    for (uint64_t now; hops > 0 && !agb_interrupt_signal(); hops -= now) {
        now = hops < piece ? hops : piece;
        agb_chain_follow(chain, chains, now);
    }
    return agb_now_s() - start;
}

/* Whether caches keep some of it between two measurements. */
static bool is_lasting(const chase *chase, const agb_chain *chain)
{
    return chain->nodes * AGB_CHAIN_NODE <= 4 * chase->run->machine->caches.l3;
}

/* Before the first repetition the cycle is followed once, as far as caches can keep it. That walk also tells how many
 * hops fill the time. */
static uint64_t warm_up(chase *chase, agb_chain *chain)
{
    enum { LEAST = 1 << 14, MOST = 1 << 21 };
    uint64_t warming = is_lasting(chase, chain) ? chain->nodes : LEAST;
    warming = (warming < LEAST ? LEAST : warming > MOST ? MOST : warming) / chase->chains;
    double warming_s = time_hops(chain, chase->chains, warming);
    return warming_s > 0 ? (uint64_t)(chase->slot_s / warming_s * (double)warming) + 1 : warming;
}

static agb_status measure(void *context, size_t trial, double *ns, agb_error *err)
{
    chase *chase = context;
    kind *kind = &chase->kinds[chase->first + trial];
    double rate;
    if (kind->hops == 0) {
        uint64_t filling = warm_up(chase, &kind->chain), wanted = chase->run->options->hops;
        kind->hops = wanted ? wanted : filling;
    }
    double elapsed_s = time_hops(&kind->chain, chase->chains, kind->hops);
    char what[64];
    snprintf(what, sizeof what, "chase: %llu hops", (unsigned long long)kind->hops);
    agb_status status = agb_lab_rate((double)kind->hops * chase->chains, elapsed_s, what, &rate, err);
    *ns = 1e9 / rate;
    return status;
}

/* Page sizes take turns, but one after the other where they would push each other's nodes out of the caches. */
static agb_status measure_kinds(chase *chase, const char *order, uint64_t bytes, agb_lab_point *points, agb_error *err)
{
    char what[96];
    snprintf(what, sizeof what, "%s, %.20s, %u chain%s", order, agb_text_binary(bytes).s, chase->chains,
             chase->chains == 1 ? "" : "s");
    size_t together = is_lasting(chase, &chase->kinds[0].chain) ? 1 : chase->n_kinds;
    agb_status status = AGB_OK;
    for (chase->first = 0; chase->first < chase->n_kinds && status == AGB_OK; chase->first += together) {
        agb_lab_turns turns = {.what = what, .trials = together, .repetitions = REPETITIONS, .threads = 1,
                               .measure = measure, .context = chase, .done = chase->part * REPETITIONS / together,
                               .all = chase->parts * REPETITIONS / together};
        for (size_t i = 0; i < together; i++)
            chase->kinds[chase->first + i].hops = 0;
        chase->part += together;
        status = agb_lab_take_turns(chase->run, &turns, &points[chase->first], err);
    }
    return status;
}

/* order: as agb_chain_link takes it. */
static agb_status link_all(chase *chase, uint64_t bytes, const uint32_t *order, agb_error *err)
{
    for (size_t i = 0; i < chase->n_kinds; i++) {
        if (!agb_lab_progress(chase->run, "linking", chase->part, chase->parts))
            return agb_lab_stopped(chase->run, err);
        agb_chain_link(&chase->kinds[i].chain, &chase->kinds[i].room, bytes, order);
    }
    return AGB_OK;
}

/* ---- The curves -------------------------------------------------------------------------------------------------- */

static agb_status add_points(chase *chase, agb_lab_chart *chart, size_t first_series, double x, agb_lab_point *points,
                             agb_error *err)
{
    agb_status status = AGB_OK;
    for (size_t i = 0; i < chase->n_kinds && status == AGB_OK; i++) {
        points[i].x = x;
        status = agb_lab_add_point(chase->run->record, &chart->series[first_series + i], points[i], err);
    }
    return status;
}

static agb_status measure_size(chase *chase, agb_lab_chart *chart, uint64_t bytes, agb_error *err)
{
    static const char *const names[] = {"random", "sequential"};
    agb_lab_point points[KINDS] = {{0}};
    agb_status status = AGB_OK;
    agb_chain_draw(chase->order, bytes / AGB_CHAIN_NODE, 1);
    for (size_t i = 0; i < 2 && status == AGB_OK; i++) {
        status = link_all(chase, bytes, i == 0 ? chase->order : NULL, err);
        if (status == AGB_OK)
            status = measure_kinds(chase, names[i], bytes, points, err);
        if (status == AGB_OK)
            status = add_points(chase, chart, i * chase->n_kinds, (double)bytes, points, err);
    }
    return status;
}

static void mark_caches(agb_lab_chart *chart, const agb_caches *caches)
{
    const struct {
        const char *name;
        size_t bytes;
    } levels[] = {{"L1d", caches->l1d}, {"L2", caches->l2}, {"L3", caches->l3}};
    for (size_t i = 0; i < 3; i++) {
        char label[48];
        snprintf(label, sizeof label, "%s %.20s", levels[i].name, agb_text_binary(levels[i].bytes).s);
        if (levels[i].bytes > 0)
            agb_lab_add_mark(chart, (double)levels[i].bytes, label);
    }
}

static void add_series(chase *chase, agb_lab_chart *chart, const char *order)
{
    for (size_t i = 0; i < chase->n_kinds; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %s", order, chase->kinds[i].name);
        agb_lab_add_series(chart, name);
    }
}

/* Two sizes an octave, 16, 24, 32, 48 KiB ..., one where linking them takes longer than the chase. 0: that was the
 * last. */
static uint64_t next_size(const chase *chase, uint64_t bytes)
{
    static const uint64_t fine_bytes = 128 << 20;
    bool power = (bytes & (bytes - 1)) == 0;
    uint64_t next = !power ? bytes / 3 * 4 : bytes < fine_bytes ? bytes / 2 * 3 : 2 * bytes;
    return next <= chase->largest ? next : 0;
}

static agb_status measure_sizes(chase *chase, agb_error *err)
{
    agb_lab_chart *chart = agb_lab_add_chart(chase->run->record, "one load after the other, in 4 KiB and in huge pages",
                                             (agb_lab_axis){"working set", "bytes", true},
                                             (agb_lab_axis){"time of a load", "ns", true});
    if (!chart)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: chase: no memory for its chart: free some, and run again");
    mark_caches(chart, &chase->run->machine->caches);
    add_series(chase, chart, "random");
    add_series(chase, chart, "sequential");
    agb_status status = AGB_OK;
    for (uint64_t bytes = least_bytes; bytes && status == AGB_OK; bytes = next_size(chase, bytes))
        status = measure_size(chase, chart, bytes, err);
    return status;
}

static agb_status measure_chains(chase *chase, agb_error *err)
{
    uint64_t bytes = chase->largest < chains_bytes ? chase->largest : chains_bytes;
    char title[120];
    snprintf(title, sizeof title, "several chains at once, random, working set of %.20s", agb_text_binary(bytes).s);
    agb_lab_chart *chart = agb_lab_add_chart(chase->run->record, title, (agb_lab_axis){"chains", "", true},
                                             (agb_lab_axis){"time over all loads", "ns a load", true});
    if (!chart)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: chase: no memory for its chart: free some, and run again");
    add_series(chase, chart, "random");
    agb_lab_point points[KINDS] = {{0}};
    agb_chain_draw(chase->order, bytes / AGB_CHAIN_NODE, 1);
    agb_status status = link_all(chase, bytes, chase->order, err);
    for (chase->chains = 1; chase->chains <= AGB_CHAIN_MOST && status == AGB_OK; chase->chains++) {
        if (!agb_chain_is_count(chase->chains))
            continue;
        status = measure_kinds(chase, "random", bytes, points, err);
        if (status == AGB_OK)
            status = add_points(chase, chart, 0, chase->chains, points, err);
    }
    chase->chains = 1;
    return status;
}

/* ---- What it showed ---------------------------------------------------------------------------------------------- */

/* The step that a cache of that size explains: it begins within a factor of two of it, or the size lies in it. */
static const agb_lab_step *step_of(const agb_lab_step *steps, size_t n, double bytes)
{
    for (size_t i = 0; i < n; i++)
        if ((steps[i].from_x >= bytes / 2 && steps[i].from_x <= bytes * 2) ||
            (steps[i].from_x <= bytes && bytes <= steps[i].to_x))
            return &steps[i];
    return NULL;
}

static agb_status compare_steps(chase *chase, const agb_lab_chart *chart, agb_error *err)
{
    static const agb_lab_column columns[] = {{"cache", ""}, {"reported", "bytes"}, {"last size before a step", "bytes"},
                                             {"first size after it", "bytes"}, {"before", "ns"}, {"after", "ns"}};
    const agb_lab_series *curve = &chart->series[chase->n_kinds - 1];    /* random, in the largest pages */
    agb_lab_record *record = chase->run->record;
    agb_lab_step steps[MOST_STEPS];
    size_t n = agb_lab_find_steps(curve, steps, MOST_STEPS), explained = 0;
    n = n < MOST_STEPS ? n : MOST_STEPS;
    char title[120];
    snprintf(title, sizeof title, "steps of the curve `%s` beside the caches that the machine reports", curve->name);
    agb_lab_table *table = agb_lab_add_table(record, title, columns, 6);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < chart->n_marks && status == AGB_OK; i++) {
        const agb_lab_step *step = step_of(steps, n, chart->marks[i].x);
        agb_lab_cell row[] = {agb_lab_text("%.*s", (int)strcspn(chart->marks[i].label, " "), chart->marks[i].label),
                              agb_lab_number(chart->marks[i].x), agb_lab_number(step ? step->from_x : NAN),
                              agb_lab_number(step ? step->to_x : NAN), agb_lab_number(step ? step->from_y : NAN),
                              agb_lab_number(step ? step->to_y : NAN)};
        explained += step != NULL;
        status = agb_lab_add_row(table, row, err);
    }
    for (size_t i = 0; i < n && status == AGB_OK; i++) {
        bool known = false;
        for (size_t k = 0; k < chart->n_marks; k++)
            known |= step_of(steps, n, chart->marks[k].x) == &steps[i];
        agb_lab_cell row[] = {agb_lab_text("(none)"), agb_lab_number(NAN), agb_lab_number(steps[i].from_x),
                              agb_lab_number(steps[i].to_x), agb_lab_number(steps[i].from_y),
                              agb_lab_number(steps[i].to_y)};
        if (!known)
            status = agb_lab_add_row(table, row, err);
    }
    agb_lab_find(record, "%zu step%s in the curve `%s`; %zu of the %zu caches that the machine reports have one at "
                 "their size%s", n, n == 1 ? "" : "s", curve->name, explained, chart->n_marks,
                 n > explained ? "; another may be a part of a larger cache that others share, or address translation"
                 : explained > n ? "; one step spans several of them: no level was seen between" : "");
    return status;
}

static void find_latencies(chase *chase, const agb_lab_chart *sizes)
{
    const agb_lab_series *random = &sizes->series[chase->n_kinds - 1];
    const agb_lab_series *sequential = &sizes->series[2 * chase->n_kinds - 1], *small = &sizes->series[0];
    const agb_lab_point *first = &random->points[0], *last = &random->points[random->n - 1];
    agb_lab_record *record = chase->run->record;
    agb_lab_find(record, "a load takes %s ns in %s and %s ns in %s at random: %s times as long; in sequence, where "
                 "prefetchers see what comes, %s ns%s", agb_text_number(first->y).s,
                 agb_text_binary((uint64_t)first->x).s, agb_text_number(last->y).s,
                 agb_text_binary((uint64_t)last->x).s, agb_text_number(last->y / first->y).s,
                 agb_text_number(sequential->points[sequential->n - 1].y).s, agb_lab_doubt(first, last));
    const agb_lab_point *paged = &small->points[small->n - 1];
    if (chase->n_kinds == KINDS && paged->low > last->high)
        agb_lab_find(record, "of %s ns in 4 KiB pages %s ns are address translation: huge pages do without it%s",
                     agb_text_number(paged->y).s, agb_text_number(paged->y - last->y).s, agb_lab_doubt(paged, last));
    else if (chase->n_kinds == KINDS)
        agb_lab_find(record, "page sizes make no difference that is seen: %s ns in 4 KiB pages, %s in huge ones%s",
                     agb_text_number(paged->y).s, agb_text_number(last->y).s, agb_lab_doubt(paged, last));
}

static void find_parallelism(chase *chase, const agb_lab_chart *chart)
{
    const agb_lab_series *curve = &chart->series[chase->n_kinds - 1];
    const agb_lab_point *best = &curve->points[0];
    for (size_t i = 1; i < curve->n; i++)
        best = curve->points[i].y < best->y ? &curve->points[i] : best;
    agb_lab_find(chase->run->record, "%.0f chains at once bring a load down from %s to %s ns: this core keeps %s %s "
                 "loads under way at the same time%s", best->x, agb_text_number(curve->points[0].y).s,
                 agb_text_number(best->y).s, best == &curve->points[curve->n - 1] ? "at least" : "about",
                 agb_text_number(curve->points[0].y / best->y).s, agb_lab_doubt(&curve->points[0], best));
}

static void note_pages(chase *chase)
{
    for (size_t i = 0; i < chase->n_kinds; i++) {
        size_t huge = agb_room_huge_bytes(&chase->kinds[i].room), all = chase->kinds[i].room.bytes;
        if (chase->kinds[i].name == kind_names[1] && huge < all / 10 * 9)
            agb_lab_note(chase->run->record, "huge pages: the system gave only %s of %s so: see "
                         "/sys/kernel/mm/transparent_hugepage/enabled (`never` gives none), or memory is in pieces",
                         agb_text_binary(huge).s, agb_text_binary(all).s);
    }
}

/* ---- The lab ----------------------------------------------------------------------------------------------------- */

/* Both rooms and the order array together take half of what is available at most; and linking them takes time. */
static uint64_t largest_of(chase *chase)
{
    static const double bytes_a_second = 32 << 20;
    double seconds = chase->run->seconds;
    uint64_t wanted = chase->run->options->working_set ? chase->run->options->working_set : most_bytes;
    uint64_t bound = agb_machine_available_bytes(chase->run->root) / 5, largest = least_bytes;
    bool hurried = seconds > 0 && seconds * bytes_a_second < (double)bound;
    bound = hurried ? (uint64_t)(seconds * bytes_a_second) : bound;
    while (largest * 2 <= wanted && largest * 2 <= bound)
        largest *= 2;
    if (bound < wanted)
        agb_lab_note(chase->run->record, "working sets end at %s instead of %s: %s", agb_text_binary(largest).s,
                     agb_text_binary(wanted).s, hurried ? "larger ones take more than --seconds allows"
                                                        : "half of the available memory is as much as it takes");
    return largest;
}

static agb_status prepare(chase *chase, agb_error *err)
{
    const agb_options *options = chase->run->options;
    static const agb_pages pages[KINDS] = {AGB_PAGES_4K, AGB_PAGES_HUGE};
    bool given = agb_option_given(options, "pages") && options->pages != AGB_PAGES_DEFAULT;
    chase->largest = largest_of(chase);
    chase->chains = 1;
    agb_status status = agb_lab_pin_self(chase->run, err);
    for (size_t i = 0; i < KINDS && status == AGB_OK; i++) {
        if (given && options->pages != (int)pages[i])
            continue;
        kind *kind = &chase->kinds[chase->n_kinds];
        kind->name = kind_names[i];
        status = agb_room_map(&kind->room, chase->largest, pages[i], "lab: chase", err);
        chase->n_kinds += status == AGB_OK;
    }
    for (uint64_t bytes = least_bytes; bytes; bytes = next_size(chase, bytes))
        chase->parts += 2 * chase->n_kinds;
    chase->parts += CHAIN_COUNTS * chase->n_kinds;
    double whole_s = chase->run->seconds > 0 ? chase->run->seconds * 0.6 : usual_s;    /* the rest goes into linking */
    chase->slot_s = whole_s / REPETITIONS / (double)chase->parts;
    chase->order = malloc(chase->largest / AGB_CHAIN_NODE * sizeof *chase->order);
    if (status == AGB_OK && !chase->order)
        status = agb_fail(err, AGB_ERR_MEMORY, "lab: chase: no memory for the order of the nodes: ask for a smaller "
                                               "--working-set");
    return status;
}

static agb_status run(agb_lab_run *run, agb_error *err)
{
    chase chase = {.run = run};
    agb_status status = prepare(&chase, err);
    if (status == AGB_OK)
        status = measure_sizes(&chase, err);
    if (status == AGB_OK)
        status = measure_chains(&chase, err);
    if (status == AGB_OK) {
        find_latencies(&chase, &run->record->charts[0]);
        status = compare_steps(&chase, &run->record->charts[0], err);
        find_parallelism(&chase, &run->record->charts[1]);
        note_pages(&chase);
    }
    for (size_t i = 0; i < chase.n_kinds; i++)
        agb_room_unmap(&chase.kinds[i].room);
    free(chase.order);
    return status;
}

static const char *const options[] = {"seconds", "pin", "pages", "hops", "working-set", NULL};

const agb_lab agb_lab_chase = {
    .name = "chase",
    .summary = "how long a load takes, from the first cache to memory",
    .prediction = "flat levels with a step behind each cache: 1 to 2 ns in L1, 4 to 6 in L2, 10 to 40 in L3, 80 to 250 "
                  "in memory at random. In sequence it stays below 20 ns everywhere. In 4 KiB pages the far end is "
                  "dearer than in huge ones. Eight chains take hardly longer than one",
    .limits = "intervals are 95 % of the median of 5. One thread, loads only, nodes of 64 bytes. A virtual machine may "
              "own a part of the L3 that it reports, and walks page tables twice. Steps come from a rule: rises of 20 "
              "% whose intervals do not touch, 1.4 times in all",
    .options = options, .run = run};
