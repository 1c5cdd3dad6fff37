/* SPDX-License-Identifier: MIT */
/* The stages that find out what is the matter: a figure that means nothing, the corrected baseline, the sweep, the
 * profile and the hypotheses. See investigate.h. */
#include "investigate.h"

#include "published.h"
#include "text.h"

#include <math.h>

#define SIMPLE agb_published_aggregator[AGB_PUBLISHED_SIMPLE]
#define PARTED agb_published_aggregator[AGB_PUBLISHED_PARTITIONED]

/* Rows of a result in the order in which the words below name the strategies. */
enum { NAIVE = 0, RADIX = 1 };
enum { PROFILE_GROWN = 1, PROFILE_PREFETCH = 2, PROFILE_RADIX = 3 };

/* ---- M1: the single shot ----------------------------------------------------------------------------------------- */

agb_status agb_stage_single_shot(agb_investigation *self, agb_error *err)
{
    char words[2048];
    snprintf(words, sizeof words, "%s\n--aggregator\n%s,%s\n--repetitions\n1\n--warmup\n0\n--memory\nfresh\n--no-twin\n"
             "--counters\noff", self->source, SIMPLE, PARTED);
    agb_status status = agb_investigate_measure(self, "a single shot, on purpose", words, err);
    if (status != AGB_OK)
        return status;
    const agb_result *naive = &agb_investigate_results(self, 1)->results[NAIVE];
    const agb_result *radix = &agb_investigate_results(self, 1)->results[RADIX];
    agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M1", "One run each gave %s for %s and %s for %s. That is no "
                    "measurement: it has no interval, and nothing says what another run would have given",
                    agb_text_seconds(naive->wall.median).s, SIMPLE, agb_text_seconds(radix->wall.median).s, PARTED);
    const agb_os_usage *usage = &naive->runs[0].usage;
    agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M1", "Its clock also counts what the question is not about: "
                    "%s page faults of memory touched for the first time, and %s of system time (%.0f %% of %s's run)",
                    agb_text_count((uint64_t)usage->minor_faults).s, agb_text_seconds(usage->sys_s).s,
                    100 * usage->sys_s / naive->runs[0].wall_s, SIMPLE);
    return AGB_OK;
}

/* ---- M2: the baseline -------------------------------------------------------------------------------------------- */

static void say_workload(agb_investigation *self, const agb_results *results)
{
    const agb_source_info *source = &results->sources[0];
    double per_group = source->groups ? (double)source->rows / (double)source->groups : 0;
    agb_story_claim(&self->story, AGB_FIELD_WORKLOAD, "M2", "SELECT %s, count(*) FROM %s%s%s GROUP BY %s: %s rows in "
                    "%s groups, %s rows a group, %s of keys in memory", results->sources[0].layout->column[0].term.name,
                    source->name, self->options->where ? " WHERE " : "",
                    self->options->where ? self->options->where : "", self->options->group_by,
                    agb_text_count(source->rows).s, agb_text_count(source->groups).s, agb_text_number(per_group).s,
                    agb_text_bytes(source->bytes).s);
    agb_story_remark(&self->story, AGB_FIELD_WORKLOAD, "Success is a shorter median wall time of a warm run on one "
                     "thread, from the first row to the last group written, with every answer equal to the reference "
                     "answer. A change counts only where the 95 %% interval of the paired speed-up leaves 1 out and "
                     "the speed-up is farther from 1 than the noise between twins, and than 5 %%");
}

/* What the single shot was worth, now that there is something to hold it against. */
static void judge_single_shot(agb_investigation *self, const agb_result *naive)
{
    double shot = agb_investigate_results(self, 1)->results[NAIVE].wall.median;
    bool inside = shot >= naive->wall.min && shot <= naive->wall.max;
    agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M1 M2", "%s's single shot of %s is %s times the corrected "
                    "median, and %s the %s to %s that warm runs took%s", SIMPLE, agb_text_seconds(shot).s,
                    agb_text_number(shot / naive->wall.median).s, inside ? "inside" : "outside",
                    agb_text_seconds(naive->wall.min).s, agb_text_seconds(naive->wall.max).s,
                    inside ? ": it was no outlier this time, which nobody could have known" : "");
}

agb_status agb_stage_baseline(agb_investigation *self, agb_error *err)
{
    char words[2048];
    snprintf(words, sizeof words, "%s\n--aggregator\n%s\n--repetitions\n9\n--twin\n--counters\noff", self->source,
             SIMPLE);
    agb_status status = agb_investigate_measure(self, "the baseline and its twin", words, err);
    if (status != AGB_OK)
        return status;
    const agb_results *results = agb_investigate_results(self, 2);
    const agb_result *naive = &results->results[NAIVE];
    say_workload(self, results);
    agb_story_claim(&self->story, AGB_FIELD_BASELINE, "M2", "%s: median %s; %zu warm runs took from %s to %s; %s ns a "
                    "row. Its first run took %s", SIMPLE, agb_told_time(&naive->wall).s,
                    naive->n_runs - naive->n_warmup,
                    agb_text_seconds(naive->wall.min).s, agb_text_seconds(naive->wall.max).s,
                    agb_text_number(naive->ns_per_row).s, agb_text_seconds(naive->first_s).s);
    if (results->n_noises > 0)
        agb_story_claim(&self->story, AGB_FIELD_BASELINE, "M2", "The same strategy in a second process, in the same "
                        "rounds, gives a ratio of %s%s: that is this machine's noise today",
                        agb_text_number(results->noises[0].ratio.ratio).s,
                        agb_told_interval(results->noises[0].ratio.ci95_low, results->noises[0].ratio.ci95_high,
                                          agb_text_number).s);
    agb_story_claim(&self->story, AGB_FIELD_BASELINE, "M2", "%u of its %zu timed runs lost more than 2 %% to waiting "
                    "for a core", naive->noisy, naive->n_runs - naive->n_warmup);
    if (naive->floor_s > 0)
        agb_story_claim(&self->story, AGB_FIELD_BASELINE, "M2", "It takes %s times what this machine needs to stream "
                        "the same bytes, at the bandwidth measured in the same run (%s GB/s reading, %s writing)",
                        agb_text_number(naive->times_floor).s, agb_text_number(results->sources[0].floor.read_gbps).s,
                        agb_text_number(results->sources[0].floor.write_gbps).s);
    judge_single_shot(self, naive);
    return AGB_OK;
}

/* ---- M3: the sweep ----------------------------------------------------------------------------------------------- */

/* Sizes at which the partitioned strategy got that verdict: "1,000, 8,000". */
static void list_sizes(const agb_results *results, agb_verdict verdict, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < results->n_comparisons; i++) {
        const agb_comparison *comparison = &results->comparisons[i];
        if (comparison->verdict != verdict || at >= size)
            continue;
        const agb_source_info *source = &results->sources[results->results[comparison->result].source];
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", agb_text_count(source->groups).s);
    }
    if (at == 0)
        snprintf(text, size, "none");
}

agb_status agb_stage_sweep(agb_investigation *self, agb_error *err)
{
    char words[2048], faster[200], slower[200], same[200];
    snprintf(words, sizeof words, "synth:uniform,rows=8M,groups=1000\n--aggregator\n%s,%s\n--sweep\n"
             "groups=1000..4096000*8\n--repetitions\n5\n--no-twin\n--counters\noff", SIMPLE, PARTED);
    agb_status status = agb_investigate_measure(self, "the corrected sweep, over the number of groups", words, err);
    if (status != AGB_OK)
        return status;
    const agb_results *results = agb_investigate_results(self, 3);
    const agb_result *small = &results->results[NAIVE], *large = &results->results[results->n_results - 2];
    agb_ratio growth = agb_unpaired_of(results, large, results, small);
    agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M3", "On as many random rows, %s takes %s ns a row with %s "
                    "groups and %s with %s: %s times as long%s, by the same code. What changed is the size of its "
                    "table: 16 bytes a group are %s at first and %s in the end, and the caches hold %s (L1d), %s (L2) "
                    "and %s (L3)", SIMPLE, agb_text_number(small->ns_per_row).s,
                    agb_text_count(results->sources[small->source].groups).s, agb_text_number(large->ns_per_row).s,
                    agb_text_count(results->sources[large->source].groups).s, agb_text_number(growth.ratio).s,
                    agb_told_interval(growth.ci95_low, growth.ci95_high, agb_text_number).s,
                    agb_text_binary(16 * results->sources[small->source].groups).s,
                    agb_text_binary(16 * results->sources[large->source].groups).s,
                    agb_text_binary(results->machine.caches.l1d).s, agb_text_binary(results->machine.caches.l2).s,
                    agb_text_binary(results->machine.caches.l3).s);
    list_sizes(results, AGB_VERDICT_FASTER, faster, sizeof faster);
    list_sizes(results, AGB_VERDICT_SLOWER, slower, sizeof slower);
    list_sizes(results, AGB_VERDICT_SAME, same, sizeof same);
    agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M3", "%s against %s, by number of groups: faster at %s; "
                    "slower at %s; no difference seen at %s", PARTED, SIMPLE, faster, slower, same);
    return AGB_OK;
}

/* ---- M4: the profile --------------------------------------------------------------------------------------------- */

static void say_slots(agb_investigation *self, const agb_results *results)
{
    const agb_result *naive = &results->results[NAIVE], *radix = &results->results[PROFILE_RADIX];
    if (naive->metrics.has[AGB_MEMORY_BOUND_PCT] && naive->metrics.has[AGB_RETIRING_PCT])
        agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M4", "Of %s's pipeline slots %.1f %% waited for memory "
                        "and %.1f %% retired work, by hardware counters", SIMPLE,
                        naive->metrics.value[AGB_MEMORY_BOUND_PCT], naive->metrics.value[AGB_RETIRING_PCT]);
    else
        agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M4", "Pipeline slots could not be measured: %s",
                        results->support.reason[0] ? results->support.reason : naive->metrics.reason);
    if (naive->estimate.has && radix->estimate.has && !isnan(naive->estimate.ci95_low_pct))
        agb_story_claim(&self->story, AGB_FIELD_OBSERVATIONS, "M4", "Estimated, not measured: %s spends %.0f %% [%.0f, "
                        "%.0f] of its time waiting beyond the cache, %s %.0f %% [%.0f, %.0f]", SIMPLE,
                        naive->estimate.waiting_pct, naive->estimate.ci95_low_pct, naive->estimate.ci95_high_pct,
                        PARTED,
                        radix->estimate.waiting_pct, radix->estimate.ci95_low_pct, radix->estimate.ci95_high_pct);
}

/* One hypothesis: what it predicts, what came out, and what that means. */
static void judge(agb_investigation *self, const char *measurements, const char *predicts, const char *what,
                  const agb_ratio *ratio, agb_verdict verdict)
{
    static const char *const outcomes[] = {"not supported", "supported", "contradicted"};    /* by agb_verdict */
    agb_story_claim(&self->story, AGB_FIELD_HYPOTHESES, measurements, "%s. %s: %s: %s", predicts, what,
                    agb_told_ratio(ratio, verdict).s,
                    agb_is_told(ratio) ? outcomes[verdict] : "that cannot be told from it");
}

static void judge_instructions(agb_investigation *self, const agb_results *results)
{
    const agb_result *naive = &results->results[NAIVE], *radix = &results->results[PROFILE_RADIX];
    const agb_comparison *comparison = agb_results_comparison_of(results, PROFILE_RADIX);
    bool counted = naive->metrics.has[AGB_INSTRUCTIONS] && radix->metrics.has[AGB_INSTRUCTIONS];
    bool simulated = naive->simulation.has && radix->simulation.has && naive->simulation.rows == radix->simulation.rows;
    if ((!counted && !simulated) || !comparison) {
        agb_story_claim(&self->story, AGB_FIELD_HYPOTHESES, "M4", "Too many instructions: whoever executes fewer must "
                        "be faster. They could be neither counted nor simulated here: %s",
                        naive->simulation.reason[0] ? naive->simulation.reason : naive->metrics.reason);
        return;
    }
    double more = counted ? radix->metrics.value[AGB_INSTRUCTIONS] / naive->metrics.value[AGB_INSTRUCTIONS]
                          : (double)radix->simulation.instructions / (double)naive->simulation.instructions;
    bool faster = comparison->verdict == AGB_VERDICT_FASTER;
    const char *outcome = comparison->verdict == AGB_VERDICT_SAME ? "nothing follows from that"
                          : faster == (more < 1)                  ? "supported, as far as these two go"
                                                                  : "contradicted";
    agb_story_claim(&self->story, AGB_FIELD_HYPOTHESES, "M4", "Too many instructions: whoever executes fewer must be "
                    "faster. %s %s takes %s times the instructions of %s%s; in time, %s: %s",
                    counted ? "Counted:" : "Simulated, not measured:", PARTED, agb_text_number(more).s, SIMPLE,
                    counted ? "" : " on fewer rows", agb_told_ratio(&comparison->speedup, comparison->verdict).s,
                    outcome);
}

static void judge_profile(agb_investigation *self, const agb_results *results)
{
    const agb_comparison *prefetch = agb_results_comparison_of(results, PROFILE_PREFETCH);
    const agb_comparison *grown = agb_results_comparison_of(results, PROFILE_GROWN);
    if (prefetch)
        judge(self, "M4", "Waiting for memory: the same table, with its cells asked for earlier, must be faster "
              "although it executes more", "prefetch against naive", &prefetch->speedup, prefetch->verdict);
    judge_instructions(self, results);
    if (grown)
        judge(self, "M4", "Growing the table: one that has its final size from the beginning must be faster",
              "naive with room for all groups against naive", &grown->speedup, grown->verdict);
}

agb_status agb_stage_profile(agb_investigation *self, agb_error *err)
{
    enum { LEAST_START = 4, MOST_START = 30 };
    double cells = (double)agb_investigate_results(self, 2)->sources[0].groups / 0.7;
    int start = (int)ceil(log2(fmax(cells, 1)));
    start = start < LEAST_START ? LEAST_START : start > MOST_START ? MOST_START : start;
    char words[2048];
    agb_counter_support support;
    agb_counters_probe(&support);
    snprintf(words, sizeof words, "%s\n--aggregator\n%s,%s:start=%d,prefetch,%s\n--repetitions\n5\n--counters\n%s",
             self->source, SIMPLE, SIMPLE, start, PARTED, support.available ? "pmu,estimate" : "estimate,simulate");
    agb_status status = agb_investigate_measure(self, "the profile, and strategies that differ in one thing", words,
                                                err);
    if (status != AGB_OK)
        return status;
    say_slots(self, agb_investigate_results(self, 4));
    judge_profile(self, agb_investigate_results(self, 4));
    return AGB_OK;
}

/* ---- M5, M6: page walks ------------------------------------------------------------------------------------------ */

agb_status agb_stage_pages(agb_investigation *self, agb_error *err)
{
    static const char *const pages[] = {"4k", "huge"};
    for (size_t i = 0; i < 2; i++) {
        char words[2048], title[80];
        snprintf(words, sizeof words, "%s\n--aggregator\n%s\n--pages\n%s\n--repetitions\n7\n--no-twin\n--counters\noff",
                 self->source, SIMPLE, pages[i]);
        snprintf(title, sizeof title, "the baseline in %s pages", i ? "huge" : "4 KiB");
        agb_status status = agb_investigate_measure(self, title, words, err);
        if (status != AGB_OK)
            return status;
    }
    const agb_results *small = agb_investigate_results(self, 5), *huge = agb_investigate_results(self, 6);
    agb_ratio ratio = agb_unpaired_of(small, &small->results[NAIVE], huge, &huge->results[NAIVE]);
    judge(self, "M5 M6", "Page walks: the same table in huge pages must be faster", "naive in huge pages against 4 KiB "
          "pages, two measurements taken one after the other", &ratio,
          agb_verdict_of(&ratio, NULL, agb_least_claim));
    return AGB_OK;
}
