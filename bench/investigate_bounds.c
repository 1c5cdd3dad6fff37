/* SPDX-License-Identifier: MIT */
/* What bounds the whole investigation: the environment, what measuring cost, limits, the way back, and what to do next.
 * See investigate.h. */
#include "investigate.h"

#include "published.h"
#include "resident.h"
#include "text.h"

#include <math.h>

#define SIMPLE agb_published_aggregator[AGB_PUBLISHED_SIMPLE]
#define PARTED agb_published_aggregator[AGB_PUBLISHED_PARTITIONED]

static void say_environment(agb_story *story, const agb_results *results)
{
    const agb_machine *machine = &results->machine;
    agb_story_claim(story, AGB_FIELD_ENVIRONMENT, "M2", "%s (%s), %u processors for this process, %s memory, %s; %s",
                    machine->cpu, machine->uarch, machine->cores, agb_text_bytes(machine->memory_bytes).s,
                    machine->hypervisor[0] ? machine->hypervisor : "bare metal", machine->kernel);
    agb_story_claim(story, AGB_FIELD_ENVIRONMENT, "M2", "Caches: L1d %s, L2 %s, L3 %s. Transparent huge "
                    "pages: %s%s%s", agb_text_binary(machine->caches.l1d).s, agb_text_binary(machine->caches.l2).s,
                    agb_text_binary(machine->caches.l3).s,
                    machine->pages, machine->governor[0] ? "; governor " : "", machine->governor);
    agb_story_claim(story, AGB_FIELD_ENVIRONMENT, "M2", "Build: %s %s, commit %s", machine->compiler, machine->flags,
                    machine->commit);
    agb_story_claim(story, AGB_FIELD_ENVIRONMENT, "M4", "Hardware counters: %s", results->support.available
                    ? "available" : results->support.reason[0] ? results->support.reason : "switched off");
}

static void say_overhead(agb_story *story)
{
    double all_s = 0, timed_s = 0, verify_s = 0;
    char id[24];
    for (size_t i = 0; i < story->n; i++) {
        const agb_measurement *measurement = &story->measurement[i];
        const agb_settings *settings = &measurement->results.settings;
        snprintf(id, sizeof id, "M%zu", i + 1);
        agb_story_claim(story, AGB_FIELD_MEASUREMENTS, id, "%c%s: %u timed run%s of each strategy after %u to warm up, "
                        "%s in all", measurement->title[0] & ~0x20, measurement->title + 1, settings->repetitions,
                        settings->repetitions == 1 ? "" : "s", settings->warmup,
                        agb_text_seconds(measurement->seconds).s);
        all_s += measurement->seconds;
        for (size_t j = 0; j < measurement->results.n_results; j++) {
            const agb_result *result = &measurement->results.results[j];
            verify_s = fmax(verify_s, result->verify_s);
            for (size_t run = result->n_warmup; run < result->n_runs; run++)
                timed_s += result->runs[run].wall_s;
        }
    }
    snprintf(id, sizeof id, "M1 M%zu", story->n);
    agb_story_claim(story, AGB_FIELD_MEASUREMENTS, id, "All of it took %s; the timed runs named above are %s of that, "
                    "the rest is loading, reference answers, warming up, twins and checks. Outside the clock: "
                    "loading, creating, the check of every answer (at most %s a run). Inside: nothing of the "
                    "measuring but two readings of the clock and one at each change of phase",
                    agb_text_seconds(all_s).s, agb_text_seconds(timed_s).s, agb_text_seconds(verify_s).s);
    const agb_results *profile = &story->measurement[3].results;
    if (profile->support.available)
        agb_story_claim(story, AGB_FIELD_MEASUREMENTS, "M4", "Reading the counters once costs %.0f ns, at the "
                        "beginning, the end and each change of phase", profile->support.switch_ns);
    else
        agb_story_claim(story, AGB_FIELD_MEASUREMENTS, "M4", "The estimate adds a run on the twin to every repetition, "
                        "outside the real one's clock; the simulation runs by itself on fewer rows, and no time is "
                        "taken from it");
}

static void say_limitations(agb_story *story)
{
    const agb_results *baseline = &story->measurement[1].results, *profile = &story->measurement[3].results;
    size_t noisy = 0, all = 0;
    for (size_t i = 0; i < story->n; i++) {
        size_t these_noisy, these;
        agb_results_count_noisy(&story->measurement[i].results, &these_noisy, &these);
        noisy += these_noisy;
        all += these;
    }
    char id[24];
    snprintf(id, sizeof id, "M1 M%zu", story->n);
    agb_story_claim(story, AGB_FIELD_LIMITATIONS, id, "%zu of %zu timed runs lost more than 2 %% to waiting for a "
                    "core%s",
                    noisy, all, baseline->machine.hypervisor[0]
                                    ? "; on a virtual machine neighbours can slow a run without a trace" : "");
    if (!profile->support.available)
        agb_story_claim(story, AGB_FIELD_LIMITATIONS, "M4", "Without hardware counters, waiting for memory is inferred "
                        "from experiments on time, not seen. The estimate is a difference of times: %s. The simulation "
                        "knows no prefetchers, no TLBs and no time", agb_resident_limits);
    agb_story_claim(story, AGB_FIELD_LIMITATIONS, "M3", "The sweep over sizes is made on uniform random keys, whatever "
                    "the source: with rows that repeat their key, or come in order, its sizes may lie elsewhere");
    agb_story_remark(story, AGB_FIELD_LIMITATIONS, "One machine, one build, one day. Measurements that stand in no "
                     "common round (page sizes, threads) are compared by their medians, each side resampled by "
                     "itself, which is blind to drift between them");
    agb_story_remark(story, AGB_FIELD_LIMITATIONS, "Memory is warm, as a server's is; a process that runs once pays "
                     "first touch on top, as the single shot shows");
}

void agb_investigate_conclude(agb_investigation *self)
{
    agb_story *story = &self->story;
    const agb_results *profile = agb_investigate_results(self, 4), *sweep = agb_investigate_results(self, 3);
    size_t losses = 0;
    for (size_t i = 0; i < sweep->n_comparisons; i++)
        losses += sweep->comparisons[i].verdict != AGB_VERDICT_FASTER;
    say_environment(story, profile);
    say_overhead(story);
    say_limitations(story);
    agb_story_claim(story, AGB_FIELD_SAFETY, "M3", "At %zu of the %zu sizes of the sweep the change gains nothing or "
                    "loses: %s", losses, sweep->n_comparisons, losses
                    ? "choose by the number of groups that is expected, and try it at that size"
                    : "that is no promise for fewer groups than were tried");
    agb_story_remark(story, AGB_FIELD_SAFETY, "The way back is one word: --aggregator %s. No data is rewritten and no "
                     "format changes", SIMPLE);
    if (!profile->support.available)
        agb_story_remark(story, AGB_FIELD_NEXT, "Count pipeline slots where there is a PMU: aggbench pivot --counters "
                         "pmu on bare metal. Waiting for memory should fall from %s to %s while retiring rises; if it "
                         "does not, the explanation above is wrong", SIMPLE, PARTED);
    agb_story_remark(story, AGB_FIELD_NEXT, "Try strategies that skip the first phase for rows that repeat their key: "
                     "aggbench run %s --aggregator %s,preagg,best,adaptive", self->source, PARTED);
    agb_story_remark(story, AGB_FIELD_NEXT, "Repeat on another machine and lay both beside each other: investigate "
                     "--format json there, then aggbench report");
}
