/* SPDX-License-Identifier: MIT */
/* The formulas of the slot tables on counts recorded on other people's machines, with the percentages that were
 * published for them. */
#include "recorded.h"

static void zen4_pivot_experiment_as_published(void **state)
{
    (void)state;
    agb_metrics naive = metrics_of("zen4", "slots", (count[]){{"CYC", 11833973312.0}, {"OPS", 11431618219.0}, {0}});
    check(&naive, AGB_RETIRING_PCT, 16.10);
    assert_float_equal(naive.value[AGB_OPS_RETIRED], 11431618219.0, 0);
    agb_metrics partitioned = metrics_of("zen4", "slots", (count[]){
        {"CYC", 10016e6}, {"OPS", 19350459182.0}, {"BE", 1.412e10 * 2}, {"LDNC", 500}, {"NC", 1000}, {0}});
    check(&partitioned, AGB_RETIRING_PCT, 32.2);
    check(&partitioned, AGB_MEMORY_BOUND_PCT, 23.5);
}

static void zen4_memory_bound_program(void **state)
{
    (void)state;
    agb_metrics retired = metrics_of("zen4", "frontend", (count[]){
        {"CYC", 52694334454.0}, {"OPS", 47925464427.0}, {"DISP", 50200949128.0}, {0}});
    check(&retired, AGB_BAD_SPECULATION_PCT, 0.72);
    agb_metrics retiring = metrics_of("zen4", "slots", (count[]){{"CYC", 52694334454.0}, {"OPS", 47925464427.0}, {0}});
    check(&retiring, AGB_RETIRING_PCT, 15.16);
    agb_metrics front = metrics_of("zen4", "frontend", (count[]){{"CYC", 52753827046.0}, {"FE", 10680016198.0}, {0}});
    check(&front, AGB_FRONTEND_BOUND_PCT, 3.37);
    agb_metrics back = metrics_of("zen4", "slots", (count[]){
        {"CYC", 52681078777.0}, {"BE", 254793150309.0}, {"LDNC", 30460085095.0}, {"NC", 40753146750.0}, {0}});
    check(&back, AGB_BACKEND_BOUND_PCT, 80.61);
    check(&back, AGB_MEMORY_BOUND_PCT, 60.25);
    check(&back, AGB_CORE_BOUND_PCT, 20.36);
}

static void zen4_more_memory_bound_program(void **state)
{
    (void)state;
    agb_metrics front = metrics_of("zen4", "frontend", (count[]){
        {"CYC", 45216196940.0}, {"OPS", 31181588643.0}, {"DISP", 31505378451.0}, {0}});
    check(&front, AGB_BAD_SPECULATION_PCT, 0.12);
    agb_metrics retiring = metrics_of("zen4", "slots", (count[]){{"CYC", 45216196940.0}, {"OPS", 31181588643.0}, {0}});
    check(&retiring, AGB_RETIRING_PCT, 11.49);
    agb_metrics back = metrics_of("zen4", "slots", (count[]){
        {"CYC", 45196491777.0}, {"BE", 231418429810.0}, {"LDNC", 30672022117.0}, {"NC", 35506602051.0}, {0}});
    check(&back, AGB_BACKEND_BOUND_PCT, 85.34);
    check(&back, AGB_MEMORY_BOUND_PCT, 73.72);
    check(&back, AGB_CORE_BOUND_PCT, 11.62);
}

static void zen4_busy_program(void **state)
{
    (void)state;
    agb_metrics retiring = metrics_of("zen4", "slots", (count[]){{"CYC", 4895089444.0}, {"OPS", 18657737631.0}, {0}});
    check(&retiring, AGB_RETIRING_PCT, 63.52);
    agb_metrics bad = metrics_of("zen4", "frontend", (count[]){
        {"CYC", 4895089444.0}, {"OPS", 18657737631.0}, {"DISP", 20284275971.0}, {0}});
    check(&bad, AGB_BAD_SPECULATION_PCT, 5.54);
    agb_metrics front = metrics_of("zen4", "frontend", (count[]){{"CYC", 4894729709.0}, {"FE", 5460578458.0}, {0}});
    check(&front, AGB_FRONTEND_BOUND_PCT, 18.59);
    agb_metrics smt = metrics_of("zen4", "frontend", (count[]){{"CYC", 4894939755.0}, {"SMT", 79739703.0}, {0}});
    check(&smt, AGB_SMT_CONTENTION_PCT, 0.27);
    agb_metrics back = metrics_of("zen4", "slots", (count[]){
        {"CYC", 4894584247.0}, {"BE", 3602363546.0}, {"LDNC", 681847357.0}, {"NC", 1068036530.0}, {0}});
    check(&back, AGB_BACKEND_BOUND_PCT, 12.27);
    check(&back, AGB_MEMORY_BOUND_PCT, 7.83);
    check(&back, AGB_CORE_BOUND_PCT, 4.43);
}

static void zen4_frontend_bound_program(void **state)
{
    (void)state;
    agb_metrics bad = metrics_of("zen4", "frontend", (count[]){
        {"CYC", 30857165236.0}, {"OPS", 62341441785.0}, {"DISP", 62366721033.0}, {0}});
    check(&bad, AGB_BAD_SPECULATION_PCT, 0.01);
    agb_metrics retiring = metrics_of("zen4", "slots", (count[]){{"CYC", 30857165236.0}, {"OPS", 62341441785.0}, {0}});
    check(&retiring, AGB_RETIRING_PCT, 33.67);
    agb_metrics front = metrics_of("zen4", "frontend", (count[]){{"CYC", 30882682226.0}, {"FE", 120535278946.0}, {0}});
    check(&front, AGB_FRONTEND_BOUND_PCT, 65.05);
    agb_metrics back = metrics_of("zen4", "slots", (count[]){{"CYC", 30840562367.0}, {"BE", 2266091111.0}, {0}});
    check(&back, AGB_BACKEND_BOUND_PCT, 1.22);
}

static void zen5_has_eight_slots_a_cycle(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("zen5", "slots", (count[]){
        {"CYC", 1000}, {"OPS", 2000}, {"BE", 4000}, {"LDNC", 30}, {"NC", 40}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 25);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 50);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 37.5);
}

static void zen_counts_fills_in_lines_of_64_bytes(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("zen4", "memory", (count[]){
        {"CYC", 1000}, {"INS", 1500}, {"DEMAND", 70300000}, {"FILLS", 80000000}, {"WALKS", 7}, {0}});
    assert_float_equal(metrics.value[AGB_DRAM_DEMAND_BYTES], 4499200000.0, 1);
    assert_float_equal(metrics.value[AGB_DRAM_FILL_BYTES], 5120000000.0, 1);
    assert_float_equal(metrics.value[AGB_IPC], 1.5, 1e-9);
    assert_float_equal(metrics.value[AGB_DTLB_WALKS], 7, 0);
}

static void sapphire_rapids_by_perf_metrics(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("sapphirerapids", "topdown", (count[]){
        {"SLOTS", 136248990}, {"RET", 32976450}, {"BAD", 4651918}, {"FE", 26148695}, {"BE", 72515776},
        {"MEM", 41635972}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 24.20);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 3.41);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 19.19);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 53.21);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 30.55);
    check(&metrics, AGB_CORE_BOUND_PCT, 22.66);
}

static void perf_metrics_are_shares_of_their_sum_not_of_the_slots(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("sapphirerapids", "topdown", (count[]){
        {"SLOTS", 8431908}, {"RET", 1554116}, {"BAD", 1289585}, {"FE", 2810636}, {"BE", 2810636},
        {"MEM", 1454917}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 18.36);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 15.23);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 33.20);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 33.20);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 17.19);
    check(&metrics, AGB_CORE_BOUND_PCT, 16.02);
    assert_string_equal(metrics.reason, "");
}

static void granite_rapids_by_perf_metrics(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("sapphirerapids", "topdown", (count[]){
        {"SLOTS", 329813157222.0}, {"RET", 237982827171.0}, {"BAD", 3880154790.0}, {"FE", 3880154790.0},
        {"BE", 85363405398.0}, {"MEM", 27161083535.0}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 71.88);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 1.17);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 1.17);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 25.78);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 8.20);
    check(&metrics, AGB_CORE_BOUND_PCT, 17.58);
}

static void sapphire_rapids_by_ordinary_counters(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("sapphirerapids", "slots", (count[]){
        {"SLOTS", 1000000}, {"RET", 200000}, {"FEB", 110000}, {"BES", 550000}, {"MBS", 400000},
        {"UOPDROP", 10000}, {"BAD", 140000}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 20);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 10);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 55);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 14);    /* by its own event, not the rest */
    check(&metrics, AGB_MEMORY_BOUND_PCT, 40);
    check(&metrics, AGB_CORE_BOUND_PCT, 15);
    assert_false(metrics.remainder);
    metrics = metrics_of("sapphirerapids", "slots without bad", (count[]){
        {"SLOTS", 1000000}, {"RET", 200000}, {"FEB", 110000}, {"BES", 550000}, {"MBS", 400000},
        {"UOPDROP", 10000}, {0}});
    check(&metrics, AGB_BAD_SPECULATION_PCT, 15);
    assert_true(metrics.remainder);
    assert_non_null(strstr(metrics.reason, "bad_speculation_pct is what the other shares leave"));
}

/* Where each share is counted by itself their sum is a check, and only there it is given. */
static void level_1_is_summed_only_where_each_share_is_counted(void **state)
{
    (void)state;
    agb_metrics metrics = joined("sapphirerapids", (recorded[]){{"slots", (count[]){
        {"SLOTS", 6e9}, {"RET", 1.2e9}, {"FEB", 0.6e9}, {"BES", 3.3e9}, {"MBS", 1e9}, {"BAD", 0.84e9}, {0}}}, {0}});
    check(&metrics, AGB_LEVEL_1_PCT, 99);
    metrics = joined("sapphirerapids", (recorded[]){{"slots", (count[]){
        {"SLOTS", 6e9}, {"RET", 1.2e9}, {"FEB", 0.6e9}, {"BES", 3.3e9}, {"MBS", 1e9}, {"BAD", 0.6e9}, {0}}}, {0}});
    assert_withheld(&metrics, AGB_RETIRING_PCT, "level 1 comes to 95.0 %");
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "unreliable");
    metrics = joined("gracemont", (recorded[]){{"slots", (count[]){
        {"CYC", 1e9}, {"RET", 1e9}, {"FE", 0.5e9}, {"BE", 3e9}, {"BAD", 0.55e9}, {0}}}, {0}});
    check(&metrics, AGB_LEVEL_1_PCT, 101);
    metrics = joined("skylake", (recorded[]){{"slots", (count[]){
        {"CYC", 1e9}, {"ISS", 0.9e9}, {"OPS_RS", 0.8e9}, {"REC", 0.1e9}, {"FEU", 0.7e9}, {0}}}, {0}});
    assert_false(metrics.has[AGB_LEVEL_1_PCT]);
    assert_non_null(strstr(metrics.reason, "backend_bound_pct is what the other shares leave"));
    metrics = joined("icelake", (recorded[]){{"topdown", (count[]){
        {"SLOTS", 72813380}, {"RET", 18560273}, {"FE", 17703645}, {"BE", 31980778}, {"BAD", 4568682}, {0}}}, {0}});
    check(&metrics, AGB_LEVEL_1_PCT, 100);
    metrics = joined("icelake", (recorded[]){{"topdown", (count[]){
        {"SLOTS", 9633787105.0}, {"RET", 4394300990.0}, {"BAD", 3693815286.0}, {"FE", 1692356927.0},
        {"BE", 1544151518.0}, {0}}}, {0}});
    check(&metrics, AGB_LEVEL_1_PCT, 117.55);
    assert_non_null(strstr(metrics.reason, "suspect"));
}

static void ice_lake_by_perf_metrics(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("icelake", "topdown", (count[]){
        {"SLOTS", 72813380}, {"RET", 18560273}, {"FE", 17703645}, {"BE", 31980778}, {"BAD", 4568682},
        {"UOPDROP", 43171}, {"CLEARS", 55052}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 25.49);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 24.25);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 44.30);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 5.96);
    assert_string_equal(metrics.reason, "");
}

static void perf_metrics_far_from_the_slots_are_suspect(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("icelake", "topdown", (count[]){
        {"SLOTS", 9633787105.0}, {"RET", 4394300990.0}, {"BAD", 3693815286.0}, {"FE", 1692356927.0},
        {"BE", 1544151518.0}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 38.80);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 32.62);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 14.94);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 13.64);
    assert_non_null(strstr(metrics.reason, "117.6 % of the slots"));
    metrics = metrics_of("icelake", "topdown", (count[]){{"RET", 5}, {0}});
    assert_withheld(&metrics, AGB_RETIRING_PCT, "counted as 0");
    metrics = metrics_of("icelake", "topdown", (count[]){{"SLOTS", 1000}, {0}});
    assert_withheld(&metrics, AGB_RETIRING_PCT, "unreliable");
}

static void ice_lake_by_ordinary_counters_and_its_memory_split(void **state)
{
    (void)state;
    agb_metrics metrics = joined("icelake", (recorded[]){
        {"slots", (count[]){{"SLOTS", 5e9}, {"RET", 1e9}, {"FEB", 0.6e9}, {"BES", 2.4e9}, {"UOPDROP", 0.1e9},
                            {"CLEARS", 0.02e9}, {0}}},
        {"stalls", (count[]){{"CYC", 1e9}, {"STM", 0.4e9}, {"STT", 0.5e9}, {"BST", 0.1e9}, {"P1", 0.2e9},
                             {"P2", 0.5e9}, {0}}},
        {0}});
    check(&metrics, AGB_RETIRING_PCT, 20);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 10);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 50);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 20);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 50 * 0.5 / 0.9);
    check(&metrics, AGB_CORE_BOUND_PCT, 50 * 0.4 / 0.9);
}

static void skylake_level_1(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("skylake", "slots", (count[]){
        {"CYC", 1087548633.0}, {"ISS", 769694676.0}, {"OPS_RS", 603112590.0}, {"REC", 43787854.0},
        {"FEU", 1642085777.0}, {0}});
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 37.75);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 7.86);
    check(&metrics, AGB_RETIRING_PCT, 13.86);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 40.53);
}

static void skylake_chain_of_divisions(void **state)
{
    (void)state;
    agb_metrics retired = metrics_of("skylake", "slots", (count[]){
        {"CYC", 19185808092.0}, {"OPS_RS", 3275536897.0}, {0}});
    check(&retired, AGB_RETIRING_PCT, 4.27);
    agb_metrics bound = metrics_of("skylake", "slots", (count[]){
        {"CYC", 19173526414.0}, {"ISS", 3263874383.0}, {"REC", 631768}, {"FEU", 28107558}, {0}});
    check(&bound, AGB_BACKEND_BOUND_PCT, 95.70);
}

static void skylake_memory_split_joins_passes_of_different_length(void **state)
{
    (void)state;
    const count slots[] = {{"CYC", 1e9}, {"ISS", 0.9e9}, {"OPS_RS", 0.8e9}, {"REC", 0.1e9}, {"FEU", 0.7e9}, {0}};
    const count stalls[] = {{"CYC", 2e9}, {"STM", 0.8e9}, {"STT", 1e9}, {"BST", 0.2e9}, {0}};
    const count ports[] = {{"CYC", 3e9}, {"P1", 0.6e9}, {"P2", 1.5e9}, {0}};
    agb_metrics metrics = joined("skylake", (recorded[]){{"slots", slots}, {"stalls", stalls}, {"ports", ports}, {0}});
    check(&metrics, AGB_RETIRING_PCT, 20);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 50);
    check(&metrics, AGB_MEMORY_BOUND_PCT, 50 * 0.5 / 0.9);
    metrics = joined("skylake", (recorded[]){{"slots", slots}, {"stalls", stalls}, {0}});
    assert_false(metrics.has[AGB_MEMORY_BOUND_PCT]);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 50);
}

static void gracemont_slots_and_its_estimate(void **state)
{
    (void)state;
    agb_metrics slots = metrics_of("gracemont", "slots", (count[]){
        {"CYC", 1000}, {"RET", 1000}, {"FE", 500}, {"BE", 3000}, {"BAD", 500}, {0}});
    check(&slots, AGB_RETIRING_PCT, 20);
    check(&slots, AGB_FRONTEND_BOUND_PCT, 10);
    check(&slots, AGB_BACKEND_BOUND_PCT, 60);
    check(&slots, AGB_BAD_SPECULATION_PCT, 10);
    agb_metrics memory = metrics_of("gracemont", "memory", (count[]){
        {"CYC", 1000}, {"BE", 3000}, {"LDH", 300}, {"MSCH", 500}, {"SBB", 10}, {"SBA", 50}, {0}});
    check(&memory, AGB_MEMORY_BOUND_PCT, 32);
    check(&memory, AGB_CORE_BOUND_PCT, 28);
    assert_non_null(strstr(memory.reason, "estimate"));
    memory = metrics_of("gracemont", "memory", (count[]){{"CYC", 1000}, {"BE", 1000}, {"LDH", 900}, {0}});
    check(&memory, AGB_MEMORY_BOUND_PCT, 20);
}

static void neoverse_n2_before_r0p3_takes_its_erratum_off(void **state)
{
    (void)state;
    agb_metrics used = metrics_of("neoverse_n2", "slots before r0p3", (count[]){
        {"CYC", 4310905590.0}, {"SS", 25009763735.0}, {"SPEC", 855659327}, {"OPS", 854335288}, {0}});
    check(&used, AGB_RETIRING_PCT, 3.96);
    check(&used, AGB_BAD_SPECULATION_PCT, 0.006);
    agb_metrics front = metrics_of("neoverse_n2", "slots before r0p3", (count[]){
        {"CYC", 4330308058.0}, {"SF", 10207186460.0}, {"SPEC", 1}, {0}});
    check(&front, AGB_FRONTEND_BOUND_PCT, 27.14);
    agb_metrics back = metrics_of("neoverse_n2", "slots before r0p3", (count[]){
        {"CYC", 4316583673.0}, {"SB", 14979136808.0}, {"SPEC", 1}, {0}});
    check(&back, AGB_BACKEND_BOUND_PCT, 69.40);
    assert_non_null(strstr(back.reason, "memory_bound_pct: not available"));
    agb_metrics uncorrected = metrics_of("neoverse_n2", "slots", (count[]){
        {"CYC", 4310905590.0}, {"SS", 25009763735.0}, {"SPEC", 855659327}, {"OPS", 854335288}, {0}});
    assert_withheld(&uncorrected, AGB_RETIRING_PCT, "came out as -16.0 %");
}

static void neoverse_n2_pass_is_chosen_by_revision(void **state)
{
    (void)state;
    const agb_slots *family = family_named("neoverse_n2");
    const agb_pass *rightly = &family->passes[pass_named(family, "slots")];
    const agb_pass *erratum = &family->passes[pass_named(family, "slots before r0p3")];
    for (unsigned stepping = 0; stepping < 20; stepping++) {
        agb_cpu_id cpu = {.vendor = "ARM", .family = 8, .model = 0xd49, .stepping = stepping};
        assert_int_equal(rightly->usable(&cpu), stepping >= 3);
        assert_int_equal(erratum->usable(&cpu), stepping < 3);
    }
}

static void neoverse_v_has_eight_slots_a_cycle(void **state)
{
    (void)state;
    for (const char *const *name = (const char *const[]){"neoverse_v1", "neoverse_v2", NULL}; *name; name++) {
        agb_metrics metrics = metrics_of(*name, "slots", (count[]){
            {"CYC", 1000}, {"SS", 6000}, {"SPEC", 1000}, {"OPS", 800}, {"SB", 5000}, {"SF", 1000}, {"MEM", 400}, {0}});
        check(&metrics, AGB_RETIRING_PCT, 20);
        check(&metrics, AGB_BAD_SPECULATION_PCT, 5);
        check(&metrics, AGB_BACKEND_BOUND_PCT, 62.5);
        check(&metrics, AGB_FRONTEND_BOUND_PCT, 12.5);
        check(&metrics, AGB_MEMORY_STALLED_CYCLES_PCT, 40);
    }
}

static void halves_of_a_group_give_what_the_whole_gives(void **state)
{
    (void)state;
    agb_metrics halves = joined("neoverse_v2", (recorded[]){
        {"used slots", (count[]){{"CYC", 1e9}, {"SS", 6e9}, {"SPEC", 1e9}, {"OPS", 8e8}, {0}}},
        {"stalled slots", (count[]){{"CYC", 2e9}, {"SB", 1e10}, {"SF", 2e9}, {"MEM", 8e8}, {0}}}, {0}});
    check(&halves, AGB_RETIRING_PCT, 20);
    check(&halves, AGB_BAD_SPECULATION_PCT, 5);
    check(&halves, AGB_BACKEND_BOUND_PCT, 62.5);
    check(&halves, AGB_FRONTEND_BOUND_PCT, 12.5);
    agb_metrics erratum = metrics_of("neoverse_n2", "stalled slots before r0p3", (count[]){
        {"CYC", 4330308058.0}, {"SF", 10207186460.0}, {0}});
    check(&erratum, AGB_FRONTEND_BOUND_PCT, 27.14);
    agb_metrics zen = joined("zen4", (recorded[]){
        {"stalls", (count[]){{"CYC", 1e9}, {"BE", 3e9}, {"LDNC", 4e8}, {"NC", 5e8}, {0}}},
        {"operations", (count[]){{"CYC", 2e9}, {"OPS", 2.4e9}, {"DISP", 3e9}, {"FE", 3e9}, {0}}}, {0}});
    check(&zen, AGB_RETIRING_PCT, 20);
    check(&zen, AGB_BACKEND_BOUND_PCT, 50);
    check(&zen, AGB_MEMORY_BOUND_PCT, 40);
    check(&zen, AGB_FRONTEND_BOUND_PCT, 25);
    check(&zen, AGB_BAD_SPECULATION_PCT, 5);
}

static void neoverse_n1_gives_stalled_cycles_and_no_slots(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("neoverse_n1", "stalls", (count[]){
        {"CYC", 1000}, {"BACK", 600}, {"FRONT", 50}, {0}});
    check(&metrics, AGB_BACKEND_STALLED_CYCLES_PCT, 60);
    check(&metrics, AGB_FRONTEND_STALLED_CYCLES_PCT, 5);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "not available: Neoverse N1");
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "not available");
}

static void zen_1_to_3_are_approximate_and_say_so(void **state)
{
    (void)state;
    for (const char *const *name = (const char *const[]){"zen1", "zen2", "zen3", NULL}; *name; name++) {
        agb_metrics metrics = metrics_of(*name, "operations", (count[]){
            {"CYC", 1000}, {"OPS", 1200}, {"DISP", 1500}, {"EMPTY", 50}, {0}});
        check(&metrics, AGB_RETIRING_PCT, 20);
        check(&metrics, AGB_BAD_SPECULATION_PCT, 5);
        check(&metrics, AGB_FRONTEND_STALLED_CYCLES_PCT, 5);
        assert_withheld(&metrics, AGB_BACKEND_BOUND_PCT, "approximate");
        assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "not available: Zen 1-3 expose no per-slot stall events");
    }
}

static void loads_and_stores_of_one_kind_add_up(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("icelake", "work", (count[]){
        {"CYC", 1000}, {"INS", 2000}, {"OPS", 2500}, {"LLC", 30}, {"WALKS_LOAD", 7}, {"WALKS_STORE", 5}, {0}});
    assert_float_equal(metrics.value[AGB_DTLB_WALKS], 12, 0);
    assert_float_equal(metrics.value[AGB_LLC_MISSES], 30, 0);
    assert_float_equal(metrics.value[AGB_OPS_RETIRED], 2500, 0);
    assert_float_equal(metrics.value[AGB_IPC], 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zen4_pivot_experiment_as_published),
        cmocka_unit_test(zen4_memory_bound_program),
        cmocka_unit_test(zen4_more_memory_bound_program),
        cmocka_unit_test(zen4_busy_program),
        cmocka_unit_test(zen4_frontend_bound_program),
        cmocka_unit_test(zen5_has_eight_slots_a_cycle),
        cmocka_unit_test(zen_counts_fills_in_lines_of_64_bytes),
        cmocka_unit_test(sapphire_rapids_by_perf_metrics),
        cmocka_unit_test(perf_metrics_are_shares_of_their_sum_not_of_the_slots),
        cmocka_unit_test(granite_rapids_by_perf_metrics),
        cmocka_unit_test(sapphire_rapids_by_ordinary_counters),
        cmocka_unit_test(level_1_is_summed_only_where_each_share_is_counted),
        cmocka_unit_test(ice_lake_by_perf_metrics),
        cmocka_unit_test(perf_metrics_far_from_the_slots_are_suspect),
        cmocka_unit_test(ice_lake_by_ordinary_counters_and_its_memory_split),
        cmocka_unit_test(skylake_level_1),
        cmocka_unit_test(skylake_chain_of_divisions),
        cmocka_unit_test(skylake_memory_split_joins_passes_of_different_length),
        cmocka_unit_test(gracemont_slots_and_its_estimate),
        cmocka_unit_test(neoverse_n2_before_r0p3_takes_its_erratum_off),
        cmocka_unit_test(neoverse_n2_pass_is_chosen_by_revision),
        cmocka_unit_test(neoverse_v_has_eight_slots_a_cycle),
        cmocka_unit_test(halves_of_a_group_give_what_the_whole_gives),
        cmocka_unit_test(neoverse_n1_gives_stalled_cycles_and_no_slots),
        cmocka_unit_test(zen_1_to_3_are_approximate_and_say_so),
        cmocka_unit_test(loads_and_stores_of_one_kind_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
