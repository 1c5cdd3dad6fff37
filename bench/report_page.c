/* SPDX-License-Identifier: MIT */
/* The page of a report: a list of contents, a part for each file by its kind, and the machines. See section.h. */
#include "section.h"

#include <stdlib.h>
#include <string.h>

enum { TITLE = 200 };

static const agb_section *section_of(const json_t *object)
{
    for (const agb_section *const *section = agb_sections; *section; section++)
        if (json_object_get(object, (*section)->key))
            return *section;
    return NULL;
}

/* ---- Parts that several kinds have ------------------------------------------------------------------------------- */

void agb_section_head(agb_page *page, const char *over, const char *title)
{
    agb_html_element(page->to, "p", "over", "%s", over);
    agb_html_sentence(page->to, "h2", NULL, "%s", title);
}

agb_tone agb_tone_of(const char *verdict)
{
    return strcmp(verdict, "faster") == 0   ? AGB_TONE_BETTER
           : strcmp(verdict, "slower") == 0 ? AGB_TONE_WORSE
                                            : AGB_TONE_PLAIN;
}

void agb_sentences(agb_page *page, const agb_json *list, size_t from, const char *class)
{
    size_t n = agb_read_length(list);
    if (n <= from)
        return;
    fprintf(page->to, "<ul class=\"%s\">\n", class);
    for (size_t i = from; i < n; i++)
        agb_html_sentence(page->to, "li", NULL, "%s", agb_read_words_entry(list, i));
    fputs("</ul>\n", page->to);
}

void agb_section_write(agb_page *page, const agb_json *object)
{
    const agb_section *section = section_of(object->value);
    if (section)
        section->write(page, object);
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

/* "a virtual machine (KVM)", or "bare metal". */
static const char *where_it_runs(const agb_json *machine, char *text, size_t size)
{
    const char *hypervisor = agb_read_words(machine, "hypervisor");
    if (*hypervisor)
        snprintf(text, size, "a virtual machine (%.40s)", hypervisor);
    else
        snprintf(text, size, "bare metal");
    return text;
}

static void machine_line(const agb_json *machine, char *text, size_t size)
{
    char place[80];
    agb_json pmu = agb_read_object(machine, "pmu");
    double cores = agb_read_amount(machine, "cores");
    snprintf(text, size, "%.100s (%.40s), %s processor%s, %s%s", agb_read_words(machine, "cpu"),
             agb_read_words(machine, "uarch"), agb_text_amount(cores, "").s, cores == 1 ? "" : "s",
             where_it_runs(machine, place, sizeof place),
             !pmu.value ? "" : agb_read_truth(&pmu, "available") ? ", with hardware counters"
                                                                 : ", without hardware counters");
}

static void machine_row(agb_page *page, const char *name, const char *text)
{
    if (!*text)
        return;
    agb_html_row_begin(page->to);
    agb_html_row_name(page->to, "%s", name);
    fputs("<td class=\"say\">", page->to);
    agb_html_text(page->to, text);
    fputs("</td>", page->to);
    agb_html_row_end(page->to);
}

static void machine_table(agb_page *page, const agb_json *machine)
{
    agb_json caches = agb_read_object(machine, "caches"), pmu = agb_read_object(machine, "pmu");
    char text[800];
    agb_html_table_begin(page->to, NULL, "");
    snprintf(text, sizeof text, "%.200s (%.100s)", agb_read_words(machine, "cpu"), agb_read_words(machine, "uarch"));
    machine_row(page, "processor", text);
    machine_row(page, "processors to be used", agb_text_amount(agb_read_amount(machine, "cores"), "").s);
    snprintf(text, sizeof text, "L1d %s, L2 %s, L3 %s, lines of %s",
             agb_text_amount(agb_read_amount(&caches, "l1d"), "bytes").s,
             agb_text_amount(agb_read_amount(&caches, "l2"), "bytes").s,
             agb_text_amount(agb_read_amount(&caches, "l3"), "bytes").s,
             agb_text_amount(agb_read_amount(&caches, "line"), "bytes").s);
    machine_row(page, "caches", text);
    machine_row(page, "memory", agb_text_amount(agb_read_amount(machine, "memory_bytes"), "bytes").s);
    machine_row(page, "runs on", where_it_runs(machine, text, sizeof text));
    machine_row(page, "kernel", agb_read_words(machine, "kernel"));
    machine_row(page, "transparent huge pages", agb_read_words(machine, "pages"));
    machine_row(page, "frequency governor", agb_read_words(machine, "governor"));
    snprintf(text, sizeof text, "%.150s %.200s, commit %.60s", agb_read_words(machine, "compiler"),
             agb_read_words(machine, "flags"), agb_read_words(machine, "commit"));
    machine_row(page, "build", text);
    bool counts = agb_read_truth(&pmu, "available");
    if (pmu.value)
        snprintf(text, sizeof text, "%s%s%.500s", counts ? "available" : "not available",
             *agb_read_words(&pmu, "reason") ? ": " : "", agb_read_words(&pmu, "reason"));
    machine_row(page, "hardware counters", pmu.value ? text : "");
    machine_row(page, "calibration of slots", agb_read_words(&pmu, "calibration"));
    agb_html_table_end(page->to);
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* A file, where its part is, and what it is called. */
typedef struct part {
    agb_json_file file;
    const agb_section *section;
    char title[TITLE];
} part;

static agb_status find_kind(part *part, agb_error *err)
{
    agb_json root = agb_read_root(&part->file);
    const json_t *version = json_object_get(root.value, "aggbench");
    if (version && json_integer_value(version) != 1)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: aggbench: is not 1, the version of its form that this program knows: "
                        "use the program that wrote it", part->file.name);
    part->section = section_of(root.value);
    if (part->section) {
        part->section->title(&root, part->title, sizeof part->title);
        return err->status;
    }
    char kinds[400] = "";
    for (size_t i = 0, at = 0; agb_sections[i] && at < sizeof kinds - 1; i++)
        at += (size_t)snprintf(kinds + at, sizeof kinds - at, "%s%s", i ? ", " : "", agb_sections[i]->kind);
    return agb_fail(err, AGB_ERR_FORMAT, "%s: is JSON, but none of a kind that is known: give %s", part->file.name,
                    kinds);
}

static void write_contents(agb_page *page, const part *parts, size_t n)
{
    if (n < 2)
        return;
    fputs("<nav aria-label=\"Contents\"><ol>\n", page->to);
    for (size_t i = 0; i < n; i++) {
        fprintf(page->to, "<li><a href=\"#part%zu\">", i + 1);
        agb_html_text(page->to, parts[i].title);
        fputs("</a></li>\n", page->to);
    }
    fputs("</ol></nav>\n", page->to);
}

/* The machine of a file, of what it holds, or of the first of those that it holds; value is NULL when there is none. */
static agb_json machine_of(part *part)
{
    agb_json root = agb_read_root(&part->file), machine = agb_read_object(&root, "machine");
    const json_t *content = json_object_get(root.value, part->section->key);
    if (!machine.value && json_is_object(content)) {
        agb_json only = agb_read_object(&root, part->section->key);
        return agb_read_object(&only, "machine");
    }
    if (machine.value || !json_is_array(content))
        return machine;
    agb_json held = agb_read_list(&root, part->section->key);
    if (agb_read_length(&held) == 0)
        return machine;
    agb_json first = agb_read_entry(&held, 0);
    return agb_read_object(&first, "machine");
}

static bool same_machine(part *a, part *b)
{
    agb_json left = machine_of(a), right = machine_of(b);
    return left.value && right.value && json_equal(left.value, right.value);
}

static void write_measured_there(agb_page *page, part *parts, size_t n, size_t machine)
{
    fputs("<p class=\"aside\">Elsewhere: ", page->to);
    for (size_t i = machine, named = 0; i < n; i++)
        if (same_machine(&parts[machine], &parts[i]))
            agb_html_print(page->to, "%s%s", named++ ? "; " : "", parts[i].title);
    fputs("</p>\n", page->to);
}

/* Each machine once, with the parts that were measured on it. */
static void write_machines(agb_page *page, part *parts, size_t n)
{
    size_t machines = 0;
    for (size_t i = 0; i < n; i++) {
        agb_json machine = machine_of(&parts[i]);
        bool told = !machine.value;
        for (size_t j = 0; j < i && !told; j++)
            told = same_machine(&parts[i], &parts[j]);
        if (told)
            continue;
        if (machines++ == 0) {
            fputs("<section class=\"file\" id=\"machines\">\n", page->to);
            agb_section_head(page, "environment", "What it was measured on");
        }
        if (machines > 1)
            write_measured_there(page, parts, n, i);
        machine_table(page, &machine);
    }
    if (machines > 0)
        fputs("</section>\n", page->to);
}

static void write_page(FILE *to, part *parts, size_t n)
{
    agb_page page;
    agb_page_begin(&page, to, n == 1 ? parts[0].title : "aggbench report");
    fputs("<header>\n", to);
    agb_html_element(to, "h1", NULL, "%s", n == 1 ? parts[0].title : "What was measured");
    agb_json machine = machine_of(&parts[0]);
    if (machine.value) {
        char line[400];
        machine_line(&machine, line, sizeof line);
        agb_html_element(to, "p", NULL, "Measured on %s.", line);
    }
    write_contents(&page, parts, n);
    fputs("</header>\n", to);
    for (size_t i = 0; i < n; i++) {
        agb_json root = agb_read_root(&parts[i].file);
        fprintf(to, "<section class=\"file\" id=\"part%zu\">\n", i + 1);
        parts[i].section->write(&page, &root);
        fputs("</section>\n", to);
    }
    write_machines(&page, parts, n);
    agb_html_element(to, "footer", NULL, "Made by aggbench report. Intervals are 95 %% bootstrap intervals of the "
                     "median unless a picture says otherwise; estimated and simulated values are named so, and stand "
                     "in pictures of their own.");
    agb_page_end(&page);
}

/* What reading finds wrong while a page is written is told after it: the first file that failed. */
static agb_status first_failure(const part *parts, size_t n, const agb_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (parts[i].file.failed)
            return err->status;
    return AGB_OK;
}

static agb_status report(FILE *to, part *parts, size_t n, agb_error *err)
{
    agb_status status = AGB_OK;
    *err = (agb_error){0};
    for (size_t i = 0; i < n && status == AGB_OK; i++) {
        status = find_kind(&parts[i], err);
        if (status == AGB_OK)
            status = first_failure(parts, n, err);
    }
    if (status == AGB_OK)
        write_page(to, parts, n);
    return status == AGB_OK ? first_failure(parts, n, err) : status;
}

agb_status agb_report_page(FILE *to, const char *const *names, size_t n, agb_error *err)
{
    part *parts = calloc(n + 1, sizeof *parts);
    if (!parts)
        return agb_fail(err, AGB_ERR_MEMORY, "report: no memory for %zu files", n);
    agb_status status = AGB_OK;
    size_t opened = 0;
    while (opened < n && status == AGB_OK) {
        status = agb_read_open(&parts[opened].file, names[opened], err);
        opened++;
    }
    if (status == AGB_OK)
        status = report(to, parts, n, err);
    for (size_t i = 0; i < opened; i++)
        agb_read_close(&parts[i].file);
    free(parts);
    return status;
}

agb_status agb_report_page_of(FILE *to, const char *name, json_t *root, agb_error *err)
{
    part part = {.file = {.name = name, .root = root, .err = err}};
    return report(to, &part, 1, err);
}
