/* SPDX-License-Identifier: MIT */
/* Events by name through libpfm4 (S. Eranian). The library looks at CPUID only: that it knows an event says nothing of
 * whether this machine can count it. Its default for exclude_guest differs from ours and is not taken over. */
#include "pfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool agb_pfm_is_built_in(void)
{
    return true;
}

/* out->name is "PMU::EVENT...". The library finds an event's number only where it finds its processor. */
static void find_pmu(agb_pfm_code *out)
{
    pfm_pmu_info_t pmu;
    snprintf(out->pmu, sizeof out->pmu, "%.*s", (int)strcspn(out->name, ":"), out->name);
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        memset(&pmu, 0, sizeof pmu);
        pmu.size = sizeof pmu;
        if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) == PFM_SUCCESS && strcmp(pmu.name, out->pmu) == 0)
            out->present = pmu.is_present;
    }
}

/* LIBPFM_ENCODE_INACTIVE makes the library encode events of processors other than this one; it reads the variable when
 * it is initialised, which is harmless to do again. */
agb_status agb_pfm_encode(const char *event, agb_pfm_code *out, agb_error *err)
{
    *out = (agb_pfm_code){0};
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    int failed = pfm_initialize();
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    pfm_perf_encode_arg_t argument;
    memset(&argument, 0, sizeof argument);
    argument.attr = &attr;
    argument.size = sizeof argument;
    char *name = NULL;
    argument.fstr = &name;
    if (failed == PFM_SUCCESS)
        failed = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument);
    if (failed != PFM_SUCCESS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: libpfm4 says: %s: see the names that its `showevtinfo` "
                        "prints, or write a raw code as r01c0", event, pfm_strerror(failed));
    *out = (agb_pfm_code){.type = attr.type, .config = attr.config, .config1 = attr.config1,
                          .kernel = !attr.exclude_kernel};
    snprintf(out->name, sizeof out->name, "%s", name ? name : event);
    find_pmu(out);
    free(name);
    return AGB_OK;
}
