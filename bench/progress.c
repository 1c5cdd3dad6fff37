/* SPDX-License-Identifier: MIT */
/* How far a long command is, on standard error: see progress.h. */
#include "progress.h"

#include "process.h"

#include <string.h>
#include <unistd.h>

static const double line_every_s = 0.1, plain_every_s = 5;

agb_progress_printer agb_progress_printer_of(FILE *to, bool quiet, bool plain)
{
    agb_progress_printer printer = {.to = to, .start_s = agb_now_s()};
    if (quiet)
        printer.style = AGB_PROGRESS_NONE;
    else if (isatty(fileno(to)))
        printer.style = AGB_PROGRESS_LINE;
    else
        printer.style = plain ? AGB_PROGRESS_PLAIN : AGB_PROGRESS_NONE;
    return printer;
}

static bool is_due(const agb_progress_printer *printer, const agb_progress *progress, double now)
{
    bool changed = !printer->last_what || strcmp(printer->last_what, progress->what) != 0;
    double every = printer->style == AGB_PROGRESS_LINE ? line_every_s : plain_every_s;
    return changed || now - printer->last_s >= every;
}

void agb_progress_print(void *context, const agb_progress *progress)
{
    agb_progress_printer *printer = context;
    double now = agb_now_s();
    if (printer->style == AGB_PROGRESS_NONE || !is_due(printer, progress, now))
        return;
    printer->last_s = now;
    printer->last_what = progress->what;
    bool line = printer->style == AGB_PROGRESS_LINE;
    fprintf(printer->to, "%s%6.1f s  %s", line ? "\r\033[K" : "", now - printer->start_s, progress->what);
    if (progress->subject && *progress->subject)
        fprintf(printer->to, " %s", progress->subject);
    if (progress->total > 0)
        fprintf(printer->to, " %u %%", (unsigned)(100.0 * (double)progress->done / (double)progress->total));
    if (!line)
        fputc('\n', printer->to);
    fflush(printer->to);
    printer->shown = line;
}

void agb_progress_end(agb_progress_printer *printer)
{
    if (printer->shown)
        fputs("\r\033[K", printer->to);
    fflush(printer->to);
    printer->shown = false;
}
