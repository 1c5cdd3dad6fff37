/* SPDX-License-Identifier: MIT */
/* Pictures as SVG: see svg.h. */
#include "svg.h"

#include "html.h"

#include <math.h>
#include <string.h>

void agb_svg_begin(agb_svg *svg, unsigned id, const char *class, const char *title, const char *about)
{
    fprintf(svg->to, "<svg class=\"%s\" role=\"img\" aria-labelledby=\"t%u d%u\" viewBox=\"0 0 %.0f %.0f\" "
            "xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"t%u\">", class, id, id, svg->width, svg->height, id);
    agb_html_text(svg->to, title);
    fprintf(svg->to, "</title><desc id=\"d%u\">", id);
    agb_html_text(svg->to, about);
    fputs("</desc>\n", svg->to);
}

void agb_svg_end(agb_svg *svg)
{
    fputs("</svg>\n", svg->to);
}

void agb_svg_line(agb_svg *svg, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(svg->to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2);
}

void agb_svg_box(agb_svg *svg, const char *class, double x, double y, double width, double height)
{
    fprintf(svg->to, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", class, x, y,
            width > 0 ? width : 0, height > 0 ? height : 0);
}

void agb_svg_dot(agb_svg *svg, const char *class, double x, double y, double radius, unsigned shape)
{
    double r = radius * 1.2;
    switch (shape % 4) {
    case 0:
        fprintf(svg->to, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class, x, y, radius);
        return;
    case 1:
        agb_svg_box(svg, class, x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
        return;
    case 2:
        fprintf(svg->to, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n", class, x, y - r, x + r, y + r,
                x - r, y + r);
        return;
    default:
        fprintf(svg->to, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n", class, x, y - r,
                x + r, y, x, y + r, x - r, y);
    }
}

/* Of a character in a wide sans-serif of 13 px (DejaVu Sans); most fonts need less. */
static double character_width(unsigned char first)
{
    if (first >= 0xe0)
        return 13;    /* from outside of Europe, or a picture */
    if (first < 0x20 || first >= 0x7f || strchr("mwMWOQ%@", first))
        return first >= 0x80 && first < 0xc0 ? 0 : strchr("mwMW%@", first) ? 12.5 : 10.5;
    if (strchr("ijl.,:;|'!()[]frt-/ ", first))
        return 5.2;
    return first >= 'A' && first <= 'Z' ? 9.2 : 8.3;
}

/* Width of the bytes before `end`. */
static double width_of(const char *text, const char *end)
{
    double width = 0;
    while (text < end)
        width += character_width((unsigned char)*text++);
    return width;
}

enum { LONGEST = 512 };

double agb_svg_text_width(const char *text)
{
    char seen[LONGEST];
    agb_html_visible(seen, sizeof seen, text);
    return width_of(seen, seen + strlen(seen));
}

void agb_svg_text(agb_svg *svg, const char *class, agb_anchor anchor, double x, double y, double most,
                  const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    static const double ellipsis = 13;
    char seen[LONGEST];
    agb_html_visible(seen, sizeof seen, text);
    char *end = seen + strlen(seen);
    bool cut = most > 0 && width_of(seen, end) > most;
    while (cut && end > seen && (width_of(seen, end) > most - ellipsis || (*end & 0xc0) == 0x80))
        end--;
    *end = '\0';
    fprintf(svg->to, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchors[anchor], x, y);
    agb_html_text(svg->to, seen);
    fputs(cut ? "\xe2\x80\xa6</text>\n" : "</text>\n", svg->to);
}

void agb_svg_path_begin(agb_svg *svg, const char *class)
{
    fprintf(svg->to, "<path class=\"%s\" d=\"", class);
}

void agb_svg_path_point(agb_svg *svg, double x, double y, bool first)
{
    fprintf(svg->to, "%c%.1f %.1f", first ? 'M' : 'L', x, y);
}

void agb_svg_path_end(agb_svg *svg)
{
    fputs("\"/>\n", svg->to);
}

/* ---- Scales ------------------------------------------------------------------------------------------------------ */

/* The smallest of 1, 2, 5, 10 times a power of ten that is not below x. */
static double round_step(double x)
{
    double power = pow(10, floor(log10(x)));
    double part = x / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

agb_scale agb_scale_over(double low, double high, bool log, bool binary, double from, double to)
{
    if (log) {
        if (!(high > low))
            high = low * 2;
        return (agb_scale){low, high, from, to, .log = true, .binary = binary};
    }
    if (low > 0 && low < high * 0.7)
        low = 0;
    if (!(high > low)) {
        double room = low == 0 ? 1 : fabs(low) * 0.1;
        low -= low == 0 ? 0 : room;
        high += room;
    }
    double step = round_step((high - low) / 8);
    return (agb_scale){step * floor(low / step + 1e-9), step * ceil(high / step - 1e-9), from, to, .binary = binary};
}

double agb_scale_at(const agb_scale *scale, double value)
{
    double part = scale->log ? log(value / scale->low) / log(scale->high / scale->low)
                             : (value - scale->low) / (scale->high - scale->low);
    part = part < 0 || isnan(part) ? 0 : part > 1 ? 1 : part;
    return scale->from + part * (scale->to - scale->from);
}

/* Powers of `base`, every so many that they are not too many. */
static size_t power_ticks(const agb_scale *scale, double base, size_t most, double *ticks)
{
    double first = ceil(log(scale->low) / log(base) - 1e-6), last = floor(log(scale->high) / log(base) + 1e-6);
    double every = 1;
    while ((last - first) / every + 1 > (double)most)
        every++;
    size_t n = 0;
    for (double power = ceil(first / every) * every; power <= last && n < most; power += every)
        ticks[n++] = pow(base, power);
    return n;
}

/* 1, 2 and 5 times powers of ten, for scales of one or two decades. */
static size_t decade_ticks(const agb_scale *scale, size_t most, double *ticks)
{
    static const double parts[] = {1, 2, 5};
    size_t n = 0;
    for (double power = pow(10, floor(log10(scale->low))); power <= scale->high; power *= 10)
        for (size_t i = 0; i < 3; i++) {
            double tick = power * parts[i];
            if (tick < scale->low * (1 - 1e-9) || tick > scale->high * (1 + 1e-9))
                continue;
            if (n == most)
                return 0;
            ticks[n++] = tick;
        }
    return n;
}

size_t agb_scale_ticks(const agb_scale *scale, size_t most, double ticks[AGB_MOST_TICKS])
{
    most = most < 2 ? 2 : most > AGB_MOST_TICKS ? AGB_MOST_TICKS : most;
    if (scale->log && scale->binary)
        return power_ticks(scale, 2, most, ticks);
    if (scale->log) {
        size_t n = decade_ticks(scale, most, ticks);
        return n > 1 ? n : power_ticks(scale, 10, most, ticks);
    }
    double step = round_step((scale->high - scale->low) / (double)(most - 1));
    step = scale->whole && step < 1 ? 1 : step;
    size_t n = 0;
    for (double i = ceil(scale->low / step - 1e-9); i * step <= scale->high + step * 1e-9 && n < most; i++)
        ticks[n++] = i == 0 ? 0 : i * step;    /* and not -0 */
    return n;
}
