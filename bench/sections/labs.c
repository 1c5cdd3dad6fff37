/* SPDX-License-Identifier: MIT */
/* Several labs in one file, as `lab all` writes them. */
#include "section.h"

static void labs_title(const agb_json *file, char *text, size_t size)
{
    agb_json labs = agb_read_list(file, "labs");
    snprintf(text, size, "%zu labs", agb_read_length(&labs));
}

static void write_labs(agb_page *page, const agb_json *file)
{
    agb_json labs = agb_read_list(file, "labs");
    if (agb_read_length(&labs) == 0)
        agb_read_fail(&labs, "is empty: nothing could be shown");
    for (size_t i = 0; i < agb_read_length(&labs); i++) {
        agb_json lab = agb_read_entry(&labs, i);
        agb_read_need(&lab, "lab");
        fputs("<div class=\"part\">\n", page->to);
        if (!lab.file->failed)
            agb_section_write(page, &lab);
        fputs("</div>\n", page->to);
    }
}

const agb_section agb_section_labs = {
    .key = "labs", .kind = "labs (lab all)", .title = labs_title, .write = write_labs};
