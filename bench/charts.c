/* SPDX-License-Identifier: MIT */
/* What all pictures share: figures, legends, and values as text. See charts.h. */
#include "charts.h"

#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- Values ------------------------------------------------------------------------------------------------------ */

agb_text agb_text_amount(double value, const char *unit)
{
    agb_text out = {"-"};
    if (isnan(value))
        return out;
    if (strcmp(unit, "s") == 0 && value >= 0)
        return agb_text_seconds(value);
    if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 1e18)
        return agb_text_binary((uint64_t)value);
    if (*unit == '\0' && value >= 0 && value < 1e18 && value == floor(value))
        return agb_text_count((uint64_t)value);
    if (fabs(value) >= 10000)
        snprintf(out.s, sizeof out.s, "%.4g %.40s", value, unit);
    else
        snprintf(out.s, sizeof out.s, "%.38s %.40s", agb_text_number(value).s, unit);
    if (*unit == '\0')
        out.s[strlen(out.s) - 1] = '\0';
    return out;
}

agb_text agb_tick_text(double tick, double longest, const char *unit)
{
    static const struct { double least, scale; const char *unit; } seconds[] = {
        {1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "\xc2\xb5s"}, {0, 1e9, "ns"}};
    static const struct { double least; const char *suffix; } large[] = {
        {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
    agb_text out;
    if (strcmp(unit, "bytes") == 0 && tick >= 0 && tick < 1e18)
        return agb_text_binary((uint64_t)tick);
    if (strcmp(unit, "s") == 0 && longest > 0) {
        size_t i = 0;
        while (longest < seconds[i].least)
            i++;
        snprintf(out.s, sizeof out.s, tick == 0 ? "0" : "%.4g %s", tick * seconds[i].scale, seconds[i].unit);
        return out;
    }
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        if (fabs(tick) >= large[i].least) {
            snprintf(out.s, sizeof out.s, "%.4g%s", tick / pow(1000, (double)(4 - i)), large[i].suffix);
            return out;
        }
    snprintf(out.s, sizeof out.s, "%.4g%s", tick, strcmp(unit, "%") == 0 ? " %" : "");
    return out;
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

void agb_figure_begin(agb_page *page)
{
    fputs("<figure>\n", page->to);
}

void agb_figure_caption(agb_page *page, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("<figcaption>\n", page->to);
    agb_html_sentence(page->to, "p", NULL, "%s", text);
}

void agb_figure_table_begin(agb_page *page)
{
    fputs("<details><summary>The same in figures</summary>\n", page->to);
}

void agb_figure_table_end(agb_page *page)
{
    fputs("</details>\n", page->to);
}

void agb_figure_end(agb_page *page)
{
    fputs("</figcaption>\n</figure>\n", page->to);
}

void agb_interval_cell(agb_page *page, double low, double high, const char *unit, const char *none)
{
    if (isnan(low) || isnan(high))
        agb_html_number_cell(page->to, "%s", none);
    else
        agb_html_number_cell(page->to, "%s to %s", agb_text_amount(low, unit).s, agb_text_amount(high, unit).s);
}

void agb_draw_legend(agb_page *page, const char *const *names, size_t n, const char *kind)
{
    enum { WIDTH = 22, HEIGHT = 12 };
    bool line = strcmp(kind, "line") == 0;
    if (n < 2)
        return;
    fputs("<ul class=\"legend\">\n", page->to);
    for (size_t i = 0; i < n; i++) {
        agb_svg svg = {page->to, WIDTH, HEIGHT};
        char class[32];
        fprintf(page->to, "<li><svg class=\"key\" aria-hidden=\"true\" width=\"%d\" height=\"%d\" "
                "xmlns=\"http://www.w3.org/2000/svg\">", WIDTH, HEIGHT);
        snprintf(class, sizeof class, "%s c%zu", line ? "curve" : kind, i % 8);
        if (line)
            agb_svg_line(&svg, class, 0, HEIGHT / 2, WIDTH, HEIGHT / 2);
        else
            agb_svg_box(&svg, class, 0, 0, WIDTH - 6, HEIGHT);
        snprintf(class, sizeof class, "point c%zu", i % 8);
        if (line)
            agb_svg_dot(&svg, class, WIDTH / 2.0, HEIGHT / 2.0, 3, (unsigned)i);
        fputs("</svg> ", page->to);
        agb_html_text(page->to, names[i]);
        fputs("</li>\n", page->to);
    }
    fputs("</ul>\n", page->to);
}
