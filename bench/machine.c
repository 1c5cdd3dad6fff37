/* SPDX-License-Identifier: MIT */
/* The environment block: what a reader needs to know before comparing a number with one of another machine. */
#include "machine.h"

#include "processor.h"
#include "sysfile.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Leaf 0x40000000: twelve letters of the hypervisor, in EBX, ECX, EDX. Intel and AMD keep it for hypervisors. */
static void cpuid_signature(char letters[13])
{
    unsigned eax, words[3] = {0}, ebx, ecx, edx;
    enum { HYPERVISOR_PRESENT = 1u << 31 };
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & HYPERVISOR_PRESENT)
        __cpuid(0x40000000, eax, words[0], words[1], words[2]);
    memcpy(letters, words, 12);
    letters[12] = '\0';
}
#else
static void cpuid_signature(char letters[13])
{
    letters[0] = '\0';
}
#endif

typedef struct named {
    const char *word, *name;
} named;

static const char *find_named(const named *list, const char *text)
{
    for (; list->word; list++)
        if (strcasestr(text, list->word))
            return list->name;
    return NULL;
}

void agb_machine_hypervisor(const char *root, char *name, size_t size)
{
    static const named signatures[] = {
        {"KVMKVMKVM", "KVM"}, {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"},
        {"TCGTCGTCGTCG", "QEMU without KVM"}, {"VBoxVBoxVBox", "VirtualBox"}, {"bhyve", "bhyve"},
        {"prl hyperv", "Parallels"}, {"ACRNACRNACRN", "ACRN"}, {NULL, NULL}};
    static const named makers[] = {
        {"QEMU", "QEMU"}, {"Amazon EC2", "Amazon EC2"}, {"Google Compute", "Google Compute Engine"}, {"KVM", "KVM"},
        {"VMware", "VMware"}, {"VirtualBox", "VirtualBox"}, {"Virtual Machine", "Hyper-V"}, {"Xen", "Xen"},
        {"OpenStack", "OpenStack"}, {"Parallels", "Parallels"}, {NULL, NULL}};
    static const char *const dmi[] = {"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor"};
    char text[4096] = "";
    if (root[0] == '\0')
        cpuid_signature(text);
    const char *found = find_named(signatures, text);
    if (!found && agb_sysfile_read(root, "/sys/hypervisor/type", text, sizeof text))
        found = find_named(makers, text);
    bool flagged = agb_sysfile_field(root, "/proc/cpuinfo", "flags", text, sizeof text) && strstr(text, " hypervisor");
    for (size_t i = 0; i < 2 && !found; i++)
        if (agb_sysfile_read(root, dmi[i], text, sizeof text))
            found = find_named(makers, text);
    snprintf(name, size, "%s", found ? found : flagged ? "unknown hypervisor" : "");
}

/* VIRTIO_BALLOON_F_REPORTING of linux/virtio_balloon.h; `features` has a 0 or 1 for each bit, the lowest first. */
bool agb_machine_reports_free_pages(const char *root)
{
    enum { REPORTING = 5 };
    char pattern[256], features[72];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/sys/bus/virtio/drivers/virtio_balloon/virtio*/features", root);
    bool reports = false;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            reports |= agb_sysfile_read("", found.gl_pathv[i], features, sizeof features) &&
                       strlen(features) > REPORTING && features[REPORTING] == '1';
        globfree(&found);
    }
    return reports;
}

/* The word in brackets of "always [madvise] never". */
static void chosen_word(const char *path, char *word, size_t size)
{
    char text[128];
    word[0] = '\0';
    agb_sysfile_read("", path, text, sizeof text);
    const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
    if (to)
        snprintf(word, size, "%.*s", (int)(to - from - 1), from + 1);
}

static void read_model_name(agb_machine *out)
{
    static const char *const fields[] = {"model name", "Processor", "Hardware", "cpu model"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (agb_sysfile_field("", "/proc/cpuinfo", fields[i], out->cpu, sizeof out->cpu))
            return;
    snprintf(out->cpu, sizeof out->cpu, "%s", out->uarch);    /* arm64 kernels print numbers only */
}

static void read_kernel(agb_machine *out)
{
    struct utsname name;
    if (uname(&name) == 0)
        snprintf(out->kernel, sizeof out->kernel, "%.20s %.60s %.40s", name.sysname, name.release, name.machine);
}

void agb_machine_read(agb_machine *out)
{
    memset(out, 0, sizeof *out);
    agb_cpu_id id;
    agb_processor_read("", &id);
    agb_processor_name(&id, out->uarch, sizeof out->uarch);
    read_model_name(out);
    read_kernel(out);
    int first = 0;
    agb_machine_allowed_cpus(&first, 1);
    out->caches = agb_caches_of(first);
    out->cores = agb_machine_default_threads("");
    uint64_t kibibytes = 0;
    agb_sysfile_field_number("", "/proc/meminfo", "MemTotal", &kibibytes);
    out->memory_bytes = kibibytes * 1024;
    out->memory_available_bytes = agb_machine_available_bytes("");
    agb_machine_hypervisor("", out->hypervisor, sizeof out->hypervisor);
    out->reports_free_pages = agb_machine_reports_free_pages("");
    chosen_word("/sys/kernel/mm/transparent_hugepage/enabled", out->pages, sizeof out->pages);
    agb_sysfile_read("", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor, sizeof out->governor);
#ifdef __clang__
    snprintf(out->compiler, sizeof out->compiler, "%s", __VERSION__);
#else
    snprintf(out->compiler, sizeof out->compiler, "gcc %s", __VERSION__);
#endif
    snprintf(out->flags, sizeof out->flags, "%s", AGB_FLAGS);
    snprintf(out->commit, sizeof out->commit, "%s", AGB_COMMIT);
}
