/* SPDX-License-Identifier: MIT */
/* The stages after the cause is known: where the bottleneck goes when rows are partitioned first, threads and their
 * place, before and after, and what bounds all of it. See investigate.h. */
#include "investigate.h"

#include "published.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define SIMPLE agb_published_aggregator[AGB_PUBLISHED_SIMPLE]
#define PARTED agb_published_aggregator[AGB_PUBLISHED_PARTITIONED]

/* Of the partitioned strategy. */
enum { PARTITION = 0, AGGREGATE = 1 };

/* ---- M7: the bottleneck moves ------------------------------------------------------------------------------------ */

static agb_summary phase_of(const agb_result *result, size_t phase)
{
    enum { MOST = 256 };
    double values[MOST] = {0};
    size_t n = 0;
    for (size_t i = result->n_warmup; i < result->n_runs && n < MOST; i++)
        values[n++] = result->runs[i].phase_s[phase];
    return agb_summarize(values, n, 1);
}

static const agb_result *fastest(const agb_results *results)
{
    const agb_result *best = &results->results[0];
    for (size_t i = 1; i < results->n_results; i++)
        if (results->results[i].wall.median < best->wall.median)
            best = &results->results[i];
    return best;
}

/* Fewest and most parts against the best: which phase grows says what bounds it there. */
static void say_ends(agb_investigation *self, const agb_results *results, const agb_result *best)
{
    static const char *const ends[] = {"fewest", "most"};
    static const char *const names[] = {"partitioning", "counting within parts"};
    for (size_t i = 0; i < 2; i++) {
        const agb_result *end = &results->results[i ? results->n_results - 1 : 0];
        if (end == best)
            continue;
        size_t phase = i ? PARTITION : AGGREGATE;
        agb_summary there = phase_of(end, phase), here = phase_of(best, phase);
        bool told = there.ci95_low > here.ci95_high, whole = end->wall.ci95_low > best->wall.ci95_high;
        agb_story_claim(&self->story, AGB_FIELD_MOVEMENT, i ? "M7" : "M3 M7", "With the %s parts tried (%s), %s takes "
                        "%s, and %s with %s: "
                        "%s", ends[i], end->params, names[phase], agb_told_time(&there).s, agb_told_time(&here).s,
                        best->params,
                        !told ? "no difference is told there"
                        : !whole ? "the phase is slower, but the whole is not told to be"
                        : i      ? "moving rows to so many parts costs more than their smaller size gains"
                                 : "larger parts are counted slower, as the simple table is when it grows");
    }
}

/* The first phase reads every key and writes every key: what does the machine need for that alone? */
static void say_bandwidth(agb_investigation *self, const agb_results *results, const agb_result *best)
{
    const agb_source_info *source = &results->sources[0];
    agb_summary partition = phase_of(best, PARTITION), aggregate = phase_of(best, AGGREGATE);
    double share = 100 * partition.median / best->wall.median;
    agb_story_claim(&self->story, AGB_FIELD_MOVEMENT, "M7", "With %s the time is parted into %s for moving rows to "
                    "their parts (%.0f %%) and %s for counting within them", best->params, agb_told_time(&partition).s,
                    share, agb_told_time(&aggregate).s);
    if (!source->has_floor)
        return;
    double stream_s = (double)source->bytes / 1e9 * (1 / source->floor.read_gbps + 1 / source->floor.write_gbps);
    double low = partition.ci95_low / stream_s, high = partition.ci95_high / stream_s;
    agb_story_claim(&self->story, AGB_FIELD_MOVEMENT, "M7", "Reading and writing every key once takes this machine "
                    "%s at its streaming bandwidth; the first phase takes %s times that%s: %s",
                    agb_text_seconds(stream_s).s, agb_text_number(partition.median / stream_s).s,
                    agb_told_interval(low, high, agb_text_number).s,
                    high < 2   ? "it is near the memory bandwidth, which is the next layer"
                    : low >= 2 ? "bandwidth alone does not explain it; work for each row does at least as much"
                               : "whether bandwidth bounds it cannot be told");
}

agb_status agb_stage_movement(agb_investigation *self, agb_error *err)
{
    char words[2048];
    snprintf(words, sizeof words, "%s\n--aggregator\n%s\n--sweep\nbits=4..14/2\n--repetitions\n5\n--no-twin\n"
             "--counters\noff", self->source, PARTED);
    agb_status status = agb_investigate_measure(self, "the number of parts, and where the time goes", words, err);
    if (status != AGB_OK)
        return status;
    const agb_results *results = agb_investigate_results(self, 7), *profile = agb_investigate_results(self, 4);
    const agb_result *best = fastest(results);
    const agb_result *naive = &profile->results[0], *radix = &profile->results[profile->n_results - 1];
    if (naive->estimate.has && radix->estimate.has && !isnan(naive->estimate.ci95_low_pct)) {
        bool told = radix->estimate.ci95_high_pct < naive->estimate.ci95_low_pct;
        agb_story_claim(&self->story, AGB_FIELD_MOVEMENT, "M4", "Waiting beyond the cache goes from an estimated "
                        "%.0f %% of the time to %.0f %%%s", naive->estimate.waiting_pct, radix->estimate.waiting_pct,
                        told ? "" : ", which their intervals do not tell apart");
    }
    if (naive->simulation.has && radix->simulation.has)
        agb_story_claim(&self->story, AGB_FIELD_MOVEMENT, "M4", "Simulated, not measured: last-level misses a row go "
                        "from %s to %s, branch mispredictions a row from %s to %s",
                        agb_text_number((double)naive->simulation.last_misses / (double)naive->simulation.rows).s,
                        agb_text_number((double)radix->simulation.last_misses / (double)radix->simulation.rows).s,
                        agb_text_number((double)naive->simulation.mispredictions / (double)naive->simulation.rows).s,
                        agb_text_number((double)radix->simulation.mispredictions / (double)radix->simulation.rows).s);
    say_bandwidth(self, results, best);
    say_ends(self, results, best);
    return AGB_OK;
}

/* ---- M8, M9: threads and their place ----------------------------------------------------------------------------- */

agb_status agb_stage_threads(agb_investigation *self, agb_error *err)
{
    enum { MOST_CPUS = 256 };
    int cpus[MOST_CPUS];
    unsigned n = agb_machine_allowed_cpus(cpus, MOST_CPUS);
    n = n < self->processors ? n : self->processors;
    if (n < 2) {
        agb_story_claim(&self->story, AGB_FIELD_EVIDENCE, "M2", "Threads and their place: this process may use one "
                        "processor, so nothing can be shown");
        return AGB_OK;
    }
    char words[4096], pins[1200] = "";
    for (unsigned i = 0, at = 0; i < n && at < sizeof pins - 8; i++)
        at += (unsigned)snprintf(pins + at, sizeof pins - at, "%s%d", i ? "," : "", cpus[i]);
    for (unsigned pinned = 0; pinned < 2; pinned++) {
        snprintf(words, sizeof words, "%s\n--aggregator\n%s\n--threads\n%u\n--repetitions\n7\n--counters\noff%s%s",
                 self->source, PARTED, n, pinned ? "\n--pin\n" : "", pinned ? pins : "");
        agb_status status = agb_investigate_measure(self, pinned ? "all processors, each thread on its own"
                                                                 : "all processors, wherever the kernel puts them",
                                                    words, err);
        if (status != AGB_OK)
            return status;
    }
    const agb_results *profile = agb_investigate_results(self, 4), *free = agb_investigate_results(self, 8);
    const agb_results *pinned = agb_investigate_results(self, 9);
    const agb_result *one = &profile->results[profile->n_results - 1];
    const agb_result *loose = &free->results[0], *placed = &pinned->results[0];
    agb_ratio gain = agb_unpaired_of(profile, one, pinned, placed);
    agb_ratio place = agb_unpaired_of(free, loose, pinned, placed);
    agb_story_claim(&self->story, AGB_FIELD_EVIDENCE, "M4 M9", "%s on %u threads, one a processor, takes %s: %s, "
                    "against one thread; work that is parted without loss would give %u times. %s keeps one thread "
                    "however many there are",
                    PARTED, n, agb_told_time(&placed->wall).s,
                    agb_told_ratio(&gain, agb_verdict_of(&gain, NULL, agb_least_claim)).s, n, SIMPLE);
    agb_story_claim(&self->story, AGB_FIELD_EVIDENCE, "M8 M9", "Threads kept in their places against threads left to "
                    "the kernel (%s): %s", agb_told_time(&loose->wall).s,
                    agb_told_ratio(&place, agb_verdict_of(&place, NULL, agb_least_claim)).s);
    return AGB_OK;
}

/* ---- The last: before and after ---------------------------------------------------------------------------------- */

/* Parameters of the change: those of the sweep's fastest where it is told from the default, else none. */
static void choose(const agb_investigation *self, char *params, size_t size)
{
    const agb_results *sweep = agb_investigate_results(self, 7);
    const agb_result *best = fastest(sweep), *standard = NULL;
    for (size_t i = 0; i < sweep->n_results; i++)
        if (strcmp(sweep->results[i].params, "bits=12") == 0)
            standard = &sweep->results[i];
    bool told = standard && best != standard && best->wall.ci95_high < standard->wall.ci95_low &&
                standard->wall.median > agb_least_claim * best->wall.median;
    snprintf(params, size, "%s%s", told ? ":" : "", told ? best->params : "");
}

static void say_change(agb_investigation *self, const char *params, const agb_comparison *final, const char *id)
{
    char refs[24];
    snprintf(refs, sizeof refs, "M7 %.8s", id);
    agb_story_claim(&self->story, AGB_FIELD_CHANGES, refs, "One: %s%s in place of %s. Rows are first moved to parts "
                    "by the top bits of their hash, then each part is counted in a smaller table of its own; hash, "
                    "table layout and result stay the same. %s", PARTED, params, SIMPLE,
                    *params ? "Its number of parts is told from the default's by the sweep"
                            : "No other number of parts that was tried is told to be faster than the default, 4096, "
                              "so it stays");
    if (final->verdict != AGB_VERDICT_FASTER)
        agb_story_claim(&self->story, AGB_FIELD_CHANGES, id, "It is not kept: %s",
                        !agb_is_told(&final->speedup)           ? "too few runs to tell whether it helps"
                        : final->verdict == AGB_VERDICT_SAME ? "no difference is seen on this source"
                                                             : "it is slower on this source");
}

static void say_final(agb_investigation *self, const agb_results *results, const char *id)
{
    const agb_result *before = &results->results[0], *after = &results->results[1];
    const agb_comparison *final = agb_results_comparison_of(results, 1);
    const agb_results *single = agb_investigate_results(self, 1);
    double shot = single->results[0].wall.median / single->results[1].wall.median;
    char refs[24];
    agb_story_claim(&self->story, AGB_FIELD_EVIDENCE, id, "Before: %s. After: %s. In pairs of the same round: %s",
                    agb_told_time(&before->wall).s, agb_told_time(&after->wall).s,
                    agb_told_ratio(&final->speedup, final->verdict).s);
    snprintf(refs, sizeof refs, "M1 %.8s", id);
    bool inside = shot >= final->speedup.ci95_low && shot <= final->speedup.ci95_high;
    if (agb_is_told(&final->speedup))
        agb_story_claim(&self->story, AGB_FIELD_EVIDENCE, refs, "The single shot would have said %s times as fast, "
                        "which lies %s this interval", agb_text_number(shot).s, inside ? "inside" : "outside");
    agb_story_claim(&self->story, AGB_FIELD_SAFETY, id, "The answers are the same: groups, total and checksum of "
                    "every run equal the reference answer's");
    agb_story_claim(&self->story, AGB_FIELD_SAFETY, id, "Peak memory goes from %s to %s; an embedder with a budget "
                    "sets it, and the change then ends with a clear failure instead of taking more",
                    agb_text_bytes(before->stats.peak_bytes).s, agb_text_bytes(after->stats.peak_bytes).s);
}

agb_status agb_stage_final(agb_investigation *self, agb_error *err)
{
    char words[2048], params[80], id[24];
    choose(self, params, sizeof params);
    snprintf(words, sizeof words, "%s\n--aggregator\n%s,%s%s\n--repetitions\n9\n--twin\n--counters\noff", self->source,
             SIMPLE, PARTED, params);
    agb_status status = agb_investigate_measure(self, "before and after", words, err);
    if (status != AGB_OK)
        return status;
    const agb_results *results = agb_investigate_results(self, self->story.n);
    const agb_comparison *final = agb_results_comparison_of(results, 1);
    if (!final)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "investigate: %s: has no rows to compare strategies on",
                        self->source);
    snprintf(id, sizeof id, "M%zu", self->story.n);
    say_change(self, params, final, id);
    say_final(self, results, id);
    return AGB_OK;
}
