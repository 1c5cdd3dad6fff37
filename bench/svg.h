/* SPDX-License-Identifier: MIT */
/* Pictures as SVG inside a page: shapes, words, and the scales that put values on paper. Colours and fonts are the
 * page's: a shape only names its class. Write errors stay in the stream. */
#ifndef AGB_SVG_H
#define AGB_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct agb_svg {
    FILE *to;
    double width, height;
} agb_svg;

typedef enum agb_anchor { AGB_START, AGB_MIDDLE, AGB_END } agb_anchor;

/* id: unique in the page. title and about are what a screen reader says instead of the picture. */
void agb_svg_begin(agb_svg *svg, unsigned id, const char *class, const char *title, const char *about);
void agb_svg_end(agb_svg *svg);

void agb_svg_line(agb_svg *svg, const char *class, double x1, double y1, double x2, double y2);
void agb_svg_box(agb_svg *svg, const char *class, double x, double y, double width, double height);
/* shape: 0 disc, 1 square, 2 triangle, 3 diamond, and again: series are told apart without their colours, too. */
void agb_svg_dot(agb_svg *svg, const char *class, double x, double y, double radius, unsigned shape);
/* Text of unknown origin, cut with an ellipsis so as to be not wider than `most`; 0 = no limit. */
void agb_svg_text(agb_svg *svg, const char *class, agb_anchor anchor, double x, double y, double most,
                  const char *text);
/* A line through points, between begin and end. */
void agb_svg_path_begin(agb_svg *svg, const char *class);
void agb_svg_path_point(agb_svg *svg, double x, double y, bool first);
void agb_svg_path_end(agb_svg *svg);

/* Width of text in the page's small size, on the safe side: fonts differ. */
double agb_svg_text_width(const char *text);

/* Values low..high to places from..to. */
typedef struct agb_scale {
    double low, high, from, to;
    bool log, binary;    /* binary: ticks at powers of two, for bytes */
    bool whole;          /* ticks at whole numbers only: there are no 1.5 threads */
} agb_scale;

/* Widened to round ends: linear ones begin at 0 when that costs little. A log scale needs low > 0. */
agb_scale agb_scale_over(double low, double high, bool log, bool binary, double from, double to);
double agb_scale_at(const agb_scale *scale, double value);
/* Round values inside the scale, ascending, at most `most` (2 or more); returns how many. */
enum { AGB_MOST_TICKS = 24 };
size_t agb_scale_ticks(const agb_scale *scale, size_t most, double ticks[AGB_MOST_TICKS]);

#endif
