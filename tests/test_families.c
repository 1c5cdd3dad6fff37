/* SPDX-License-Identifier: MIT */
/* Which processors the slot tables know, and their event codes against libpfm4. */
#include "test.h"

#include "pfm.h"
#include "processor.h"

static void assert_family(agb_cpu_id cpu, const char *name)
{
    const agb_slots *family = agb_processor_family(&cpu);
    unsigned matches = 0;
    for (size_t i = 0; agb_slots_families[i]; i++)
        matches += agb_slots_families[i]->matches(&cpu);
    if (name ? !family || strcmp(family->name, name) != 0 || matches != 1 : family != NULL)
        fail_msg("%s %u/%u/%u: %s, %u matches, wanted %s", cpu.vendor, cpu.family, cpu.model, cpu.stepping,
                 family ? family->name : "none", matches, name ? name : "none");
}

static void processors_find_exactly_their_family(void **state)
{
    (void)state;
    static const unsigned zen4[] = {0x10, 0x11, 0x1f, 0x60, 0x61, 0x74, 0x7f, 0xa0, 0xaf};
    static const unsigned zen5[] = {0, 2, 0x11, 0x24, 0x44, 0x4f, 0x60, 0x7f};
    for (size_t i = 0; i < sizeof zen4 / sizeof *zen4; i++)
        assert_family((agb_cpu_id){"AuthenticAMD", 25, zen4[i], 1, 0, 0, 0}, "zen4");
    for (size_t i = 0; i < sizeof zen5 / sizeof *zen5; i++)
        assert_family((agb_cpu_id){"AuthenticAMD", 26, zen5[i], 1, 0, 0, 0}, "zen5");
    static const struct {
        agb_cpu_id cpu;
        const char *name;
    } others[] = {
        {{"AuthenticAMD", 23, 1, 2, 0, 0, 0}, "zen1"},
        {{"AuthenticAMD", 23, 0x2f, 0, 0, 0, 0}, "zen1"},
        {{"AuthenticAMD", 23, 0x31, 0, 0, 0, 0}, "zen2"},
        {{"AuthenticAMD", 23, 0x71, 0, 0, 0, 0}, "zen2"},
        {{"AuthenticAMD", 25, 1, 1, 0, 0, 0}, "zen3"},
        {{"AuthenticAMD", 25, 0x21, 0, 0, 0, 0}, "zen3"},
        {{"AuthenticAMD", 25, 0x50, 0, 0, 0, 0}, "zen3"},
        {{"GenuineIntel", 6, 85, 4, 0, 0, 0}, "skylake"},
        {{"GenuineIntel", 6, 85, 7, 0, 0, 0}, "skylake"},
        {{"GenuineIntel", 6, 106, 6, 0, 0, 1}, "icelake"},
        {{"GenuineIntel", 6, 108, 1, 0, 0, 1}, "icelake"},
        {{"GenuineIntel", 6, 143, 8, 0, 0, 2}, "sapphirerapids"},
        {{"GenuineIntel", 6, 207, 2, 0, 0, 0}, "sapphirerapids"},
        {{"GenuineIntel", 6, 173, 1, 0, 0, 2}, "sapphirerapids"},
        {{"GenuineIntel", 6, 151, 2, AGB_CORE_PERFORMANCE, 0, 2}, "sapphirerapids"},
        {{"GenuineIntel", 6, 183, 1, AGB_CORE_EFFICIENT, 0, 2}, "gracemont"},
        {{"GenuineIntel", 6, 190, 0, AGB_CORE_ONLY, 0, 0}, "gracemont"},
        {{"ARM", 8, 0xd0c, 0x31, 0, 0, 0}, "neoverse_n1"},
        {{"ARM", 8, 0xd49, 0, 0, 5, 0}, "neoverse_n2"},
        {{"ARM", 8, 0xd40, 0x11, 0, 8, 0}, "neoverse_v1"},
        {{"ARM", 8, 0xd4f, 0, 0, 8, 0}, "neoverse_v2"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_family(others[i].cpu, others[i].name);
}

static void unknown_processors_find_none(void **state)
{
    (void)state;
    assert_family((agb_cpu_id){"AuthenticAMD", 26, 0x50, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"AuthenticAMD", 25, 0xff, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"AuthenticAMD", 27, 0x10, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"GenuineIntel", 25, 0x11, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"HygonGenuine", 24, 0, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"GenuineIntel", 6, 94, 3, 0, 0, 0}, NULL);      /* Skylake, but not the server */
    assert_family((agb_cpu_id){"GenuineIntel", 6, 175, 3, 0, 0, 0}, NULL);     /* Sierra Forest */
    assert_family((agb_cpu_id){"ARM", 8, 0xd84, 0, 0, 10, 0}, NULL);           /* Neoverse V3 */
    assert_family((agb_cpu_id){"ARM maker 0x61", 8, 0xd49, 0, 0, 0, 0}, NULL);
    assert_family((agb_cpu_id){"", 0, 0, 0, 0, 0, 0}, NULL);
}

static void families_keep_their_contract(void **state)
{
    (void)state;
    for (size_t i = 0; agb_slots_families[i]; i++) {
        const agb_slots *family = agb_slots_families[i];
        assert_true(family->name && family->uarch && family->about && family->matches && family->metrics);
        unsigned passes = 0;
        for (const agb_pass *pass = family->passes; pass->name; pass++, passes++) {
            unsigned events = 0;
            while (events < AGB_MOST_EVENTS && pass->events[events].symbol)
                events++;
            assert_true(events > 0);
            assert_true(pass->spare_for <= passes);    /* of an earlier one */
            assert_null(pass->events[events].symbol);
        }
        assert_in_range(passes, 1, AGB_MOST_PASSES);
    }
}

/* libpfm4 has the tables of ARM processors only where it was built for them. */
static bool is_of_another_build(const char *name)
{
    agb_pfm_code code;
    return strncmp(name, "arm_", 4) == 0 && agb_pfm_encode("arm_n1::CPU_CYCLES", &code, NULL) != AGB_OK;
}

static void check_code(const agb_event *event)
{
    agb_pfm_code code;
    assert_ok(agb_pfm_encode(event->pfm, &code, err));
    if (code.config != event->config || code.config1 != event->config1)
        fail_msg("%s: table 0x%llx/0x%llx, libpfm4 0x%llx/0x%llx", event->pfm, (unsigned long long)event->config,
                 (unsigned long long)event->config1, (unsigned long long)code.config, (unsigned long long)code.config1);
}

static void codes_are_those_of_libpfm4(void **state)
{
    (void)state;
    unsigned checked = 0, unnamed = 0, elsewhere = 0;
    if (!agb_pfm_is_built_in()) {
        printf("skipped: built without libpfm4\n");
        skip();
    }
    for (size_t i = 0; agb_slots_families[i]; i++) {
        for (const agb_pass *pass = agb_slots_families[i]->passes; pass->name; pass++) {
            for (const agb_event *event = pass->events; event->symbol; event++) {
                if (!event->pfm)
                    unnamed++;
                else if (is_of_another_build(event->pfm))
                    elsewhere++;
                else {
                    check_code(event);
                    checked++;
                }
            }
        }
    }
    printf("%u codes equal libpfm4's, %u have no right name there, %u only in its ARM build\n", checked, unnamed,
           elsewhere);
    assert_true(checked >= 90);
}

/* A version of the library that gets one right shows here: its name can then be written into the table. */
static void names_that_libpfm4_gets_wrong_are_known(void **state)
{
    (void)state;
    if (!agb_pfm_is_built_in())
        skip();
    for (const agb_pfm_mistake *mistake = agb_pfm_mistakes; mistake->name; mistake++) {
        agb_pfm_code code;
        bool l3 = mistake->right1 != 0;    /* the alias that means the local socket only */
        char given[80];
        int alias = (int)(strlen(mistake->name) - (l3 ? strlen("_LOCAL") : 0));
        snprintf(given, sizeof given, "%.*s%s", alias, mistake->name, l3 ? ":SNP_ANY" : "");
        assert_ok(agb_pfm_encode(given, &code, err));
        if (code.config == mistake->right && code.config1 == mistake->right1)
            printf("%s: right in this version of libpfm4\n", given);
        else
            assert_ptr_equal(agb_pfm_mistake_of(given, &code), mistake);
        code.config = mistake->right;
        code.config1 = mistake->right1;
        assert_null(agb_pfm_mistake_of(given, &code));
        for (size_t f = 0; agb_slots_families[f]; f++)
            for (const agb_pass *pass = agb_slots_families[f]->passes; pass->name; pass++)
                for (const agb_event *event = pass->events; event->symbol; event++)
                    assert_true(!event->pfm || strcmp(event->pfm, mistake->name) != 0);
    }
}

static void unknown_event_names_are_refused_with_a_sentence(void **state)
{
    (void)state;
    agb_pfm_code code;
    assert_fails(AGB_ERR_ARGUMENT,
                 agb_pfm_is_built_in() ? "--events: NO_SUCH_EVENT: libpfm4 says: event not found: |r01c0"
                                       : "--events: NO_SUCH_EVENT: built without libpfm4|r01c0",
                 agb_pfm_encode("NO_SUCH_EVENT", &code, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_find_exactly_their_family),
        cmocka_unit_test(unknown_processors_find_none),
        cmocka_unit_test(families_keep_their_contract),
        cmocka_unit_test(codes_are_those_of_libpfm4),
        cmocka_unit_test(names_that_libpfm4_gets_wrong_are_known),
        cmocka_unit_test(unknown_event_names_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
