/* SPDX-License-Identifier: MIT */
/* Settings of huge pages in words: see page_settings.h. The words are those of the kernel's
 * Documentation/admin-guide/mm/transhuge.rst and hugetlbpage.rst. */
#include "page_settings.h"

#include "sysfile.h"

#include <string.h>

typedef struct meaning {
    const char *word, *means;
} meaning;

typedef struct setting {
    const char *name, *path;
    meaning meanings[6];
} setting;

static const setting settings[] = {
    {"enabled", "/sys/kernel/mm/transparent_hugepage/enabled",
     {{"always", "all large enough memory gets huge pages without asking"},
      {"madvise", "only memory whose program asked by madvise gets huge pages"},
      {"never", "no memory gets huge pages, whatever programs ask for"}}},
    {"defrag", "/sys/kernel/mm/transparent_hugepage/defrag",
     {{"always", "a page fault waits until memory is moved to make a huge page"},
      {"defer", "page faults do not wait; kernel threads make huge pages later"},
      {"defer+madvise", "who asked by madvise waits, for others they are made later"},
      {"madvise", "only who asked by madvise waits until a huge page is made"},
      {"never", "a page fault takes a huge page only where one lies ready"}}},
    {"khugepaged/defrag", "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
     {{"1", "a kernel thread joins small pages to huge ones later"}, {"0", "small pages stay small"}}},
    {"vm.nr_hugepages", "/proc/sys/vm/nr_hugepages", {{"0", "the pool of explicit huge pages is empty"}}},
};

/* The word in brackets where there is a choice, else the whole text. */
static void chosen_of(const char *text, char *word, size_t size)
{
    const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
    if (to)
        snprintf(word, size, "%.*s", (int)(to - from - 1), from + 1);
    else
        snprintf(word, size, "%.40s", text);
}

static const char *meaning_of(const setting *setting, const char *word)
{
    for (const meaning *at = setting->meanings; at->word; at++)
        if (strcmp(at->word, word) == 0)
            return at->means;
    return strcmp(setting->name, "vm.nr_hugepages") == 0 ? "explicit huge pages in the pool" : "a word this program "
                                                                                               "does not know";
}

agb_status agb_page_settings_add(agb_lab_record *record, const char *root, agb_error *err)
{
    static const agb_lab_column columns[] = {{"setting", ""}, {"here", ""}, {"which means", ""}};
    agb_lab_table *table = agb_lab_add_table(record, "/sys/kernel/mm/transparent_hugepage, and the pool of explicit "
                                             "huge pages", columns, 3);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && status == AGB_OK; i++) {
        char text[128], word[48];
        bool known = agb_sysfile_read(root, settings[i].path, text, sizeof text);
        chosen_of(text, word, sizeof word);
        const char *means = known ? meaning_of(&settings[i], word) : "this system has no such file";
        agb_lab_cell row[] = {agb_lab_text("%s", settings[i].name), agb_lab_text("%s", known ? word : "-"),
                              agb_lab_text("%s", means)};
        status = agb_lab_add_row(table, row, err);
    }
    return status;
}

int64_t agb_page_settings_free(const char *root)
{
    int64_t pages;
    return agb_sysfile_number(root, "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", &pages) ? pages : -1;
}
