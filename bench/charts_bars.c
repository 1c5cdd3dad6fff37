/* SPDX-License-Identifier: MIT */
/* Rows under each other on one axis: spreads and stacks. On wide paper a row's name stands left of it and its note
 * right; on narrow paper both stand above it. See charts.h. */
#include "charts.h"
#include "svg.h"

#include <math.h>

enum { HEAD = 6, FOOT = 44, LONGEST_NAME = 210, LONGEST_NOTE = 190, GAP = 12 };

typedef struct frame {
    agb_svg svg;
    bool narrow;
    double left, right;      /* of the plot */
    double name_width;
    double row_height, bar;  /* bar: from a row's top to the middle of what is drawn */
    agb_scale scale;
    const char *unit;
} frame;

/* ---- The frame around the rows ----------------------------------------------------------------------------------- */

/* width, or the text's where that is wider, but not more than `most`. */
static double widen(double width, const char *text, double most)
{
    return fmax(width, text ? fmin(agb_svg_text_width(text), most) : 0);
}

static frame frame_for(agb_page *page, bool narrow, size_t rows, double name_width, double note_width)
{
    frame out = {.narrow = narrow, .row_height = narrow ? 44 : 28, .bar = narrow ? 28 : 14};
    out.svg = (agb_svg){page->to, narrow ? AGB_NARROW : AGB_WIDE, HEAD + FOOT + out.row_height * (double)rows};
    out.left = narrow ? 8 : name_width + GAP;
    out.right = narrow ? out.svg.width - 8 : out.svg.width - (note_width > 0 ? note_width + GAP : 8);
    out.name_width = name_width;
    return out;
}

static double row_top(const frame *frame, size_t i)
{
    return HEAD + frame->row_height * (double)i;
}

static void draw_axis(frame *frame, const char *axis)
{
    double bottom = frame->svg.height - FOOT, ticks[AGB_MOST_TICKS];
    double space = (frame->right - frame->left) / (frame->narrow ? 64 : 76);
    size_t n = agb_scale_ticks(&frame->scale, (size_t)fmax(space, 2), ticks);
    for (size_t i = 0; i < n; i++) {
        double x = agb_scale_at(&frame->scale, ticks[i]);
        agb_text text = agb_tick_text(ticks[i], frame->scale.high, frame->unit);
        double half = agb_svg_text_width(text.s) / 2;
        agb_anchor anchor = x + half > frame->svg.width ? AGB_END : x - half < 0 ? AGB_START : AGB_MIDDLE;
        agb_svg_line(&frame->svg, "grid", x, HEAD, x, bottom);
        agb_svg_text(&frame->svg, "tick", anchor, x, bottom + 16, 0, text.s);
    }
    agb_svg_line(&frame->svg, "axis", frame->left, bottom, frame->right, bottom);
    agb_svg_text(&frame->svg, "label", AGB_END, frame->right, bottom + 36, frame->right - frame->left, axis);
}

static void draw_words(frame *frame, size_t i, const char *name, const char *note, const char *class)
{
    double y = row_top(frame, i) + (frame->narrow ? 14 : frame->bar + 4);
    double noted = note ? agb_svg_text_width(note) : 0;
    if (frame->narrow) {
        agb_svg_text(&frame->svg, "name", AGB_START, 8, y, frame->svg.width - 28 - noted, name);
        if (note)
            agb_svg_text(&frame->svg, class, AGB_END, frame->svg.width - 8, y, 0, note);
        return;
    }
    agb_svg_text(&frame->svg, "name", AGB_END, frame->name_width, y, frame->name_width + 1, name);
    if (note)
        agb_svg_text(&frame->svg, class, AGB_START, frame->right + GAP, y, 0, note);
}

/* ---- Spread ------------------------------------------------------------------------------------------------------ */

static const char *const tones[AGB_TONES] = {"plain", "better", "worse"};

static void draw_spread_row(frame *frame, size_t i, const agb_spread_row *row)
{
    double y = row_top(frame, i) + frame->bar, middle = agb_scale_at(&frame->scale, row->middle);
    char class[40];
    snprintf(class, sizeof class, "note %s", tones[row->tone]);
    draw_words(frame, i, row->label, row->note, class);
    if (!isnan(row->low)) {
        double low = agb_scale_at(&frame->scale, row->low), high = agb_scale_at(&frame->scale, row->high);
        snprintf(class, sizeof class, "interval %s", tones[row->tone]);
        agb_svg_box(&frame->svg, class, low - 0.75, y - 6, high - low + 1.5, 12);
    }
    for (size_t run = 0; run < row->n_runs; run++) {
        bool noisy = row->noisy && row->noisy[run];
        snprintf(class, sizeof class, "run %s%s", tones[row->tone], noisy ? " noisy" : "");
        agb_svg_dot(&frame->svg, class, agb_scale_at(&frame->scale, row->runs[run]), y, 2.6, 0);
    }
    snprintf(class, sizeof class, "median %s", tones[row->tone]);
    agb_svg_line(&frame->svg, class, middle, y - 9, middle, y + 9);
}

/* From the least to the most of everything that is drawn. */
static agb_scale spread_scale(const agb_spread *spread, const frame *frame)
{
    enum { MOST_DECADES_TIMES = 60 };    /* beyond that a linear axis would press the fast ones together */
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < spread->n; i++) {
        const agb_spread_row *row = &spread->rows[i];
        low = fmin(low, fmin(row->middle, row->low));
        high = fmax(high, fmax(row->middle, row->high));
        for (size_t run = 0; run < row->n_runs; run++) {
            low = fmin(low, row->runs[run]);
            high = fmax(high, row->runs[run]);
        }
    }
    bool log = low > 0 && high > low * MOST_DECADES_TIMES;
    if (spread->ratios && !log && high >= low) {
        double rim = fmax((fmax(high, spread->reference) - fmin(low, spread->reference)) / 20, 0.01);
        return agb_scale_over(fmin(low, spread->reference) - rim, fmax(high, spread->reference) + rim, false, false,
                              frame->left, frame->right);
    }
    return agb_scale_over(log ? low * 0.9 : 0, log ? high * 1.1 : high, log, false, frame->left, frame->right);
}

static void draw_spread(agb_page *page, const agb_spread *spread, bool narrow, double names, double notes)
{
    frame frame = frame_for(page, narrow, spread->n, names, notes);
    frame.scale = spread_scale(spread, &frame);
    frame.unit = spread->unit;
    agb_svg_begin(&frame.svg, page->pictures++, narrow ? "narrow" : "wide", spread->title, spread->about);
    char axis[120];
    snprintf(axis, sizeof axis, "%s%s", spread->axis, frame.scale.log ? " (logarithmic)" : "");
    draw_axis(&frame, axis);
    if (!isnan(spread->reference)) {
        double x = agb_scale_at(&frame.scale, spread->reference);
        agb_svg_line(&frame.svg, "reference", x, HEAD, x, frame.svg.height - FOOT);
    }
    for (size_t i = 0; i < spread->n; i++)
        draw_spread_row(&frame, i, &spread->rows[i]);
    agb_svg_end(&frame.svg);
}

/* Longer lists would not be looked at. */
enum { MOST_ROWS = 400 };

void agb_draw_spread(agb_page *page, const agb_spread *spread)
{
    agb_spread shown = *spread;
    double name_width = 0, note_width = 0;
    shown.n = shown.n > MOST_ROWS ? MOST_ROWS : shown.n;
    for (size_t i = 0; i < shown.n; i++) {
        name_width = widen(name_width, shown.rows[i].label, LONGEST_NAME);
        note_width = widen(note_width, shown.rows[i].note, LONGEST_NOTE);
    }
    draw_spread(page, &shown, false, name_width, note_width);
    draw_spread(page, &shown, true, name_width, note_width);
}

/* ---- Stack ------------------------------------------------------------------------------------------------------- */

static double stack_end(const agb_stack *stack)
{
    double end = 0;
    if (!isnan(stack->whole))
        return stack->whole;
    for (size_t i = 0; i < stack->n; i++) {
        double sum = 0;
        for (size_t part = 0; part < stack->n_parts; part++)
            sum += fmax(stack->rows[i].parts[part], 0);
        end = fmax(end, sum);
    }
    return end;
}

static void draw_stack_row(frame *frame, size_t i, const agb_stack *stack)
{
    const agb_stack_row *row = &stack->rows[i];
    double y = row_top(frame, i) + frame->bar, from = 0;
    draw_words(frame, i, row->label, row->note, "note");
    for (size_t part = 0; part < stack->n_parts; part++) {
        if (!(row->parts[part] > 0))
            continue;
        double x = agb_scale_at(&frame->scale, from);
        double end = agb_scale_at(&frame->scale, from + row->parts[part]);
        char class[32];
        snprintf(class, sizeof class, "%s c%zu", stack->substitute ? "estimated" : "solid", part % 8);
        agb_svg_box(&frame->svg, class, x, y - 7, end - x - (end - x > 2 ? 1 : 0), 14);
        from += row->parts[part];
    }
}

static void draw_stack(agb_page *page, const agb_stack *stack, bool narrow, double names, double notes)
{
    frame frame = frame_for(page, narrow, stack->n, names, notes);
    frame.scale = agb_scale_over(0, stack_end(stack), false, false, frame.left, frame.right);
    frame.unit = stack->unit;
    agb_svg_begin(&frame.svg, page->pictures++, narrow ? "narrow" : "wide", stack->title, stack->about);
    draw_axis(&frame, stack->axis);
    for (size_t i = 0; i < stack->n; i++)
        draw_stack_row(&frame, i, stack);
    agb_svg_end(&frame.svg);
}

void agb_draw_stack(agb_page *page, const agb_stack *stack)
{
    agb_stack shown = *stack;
    double name_width = 0, note_width = 0;
    shown.n = shown.n > MOST_ROWS ? MOST_ROWS : shown.n;
    for (size_t i = 0; i < shown.n; i++) {
        name_width = widen(name_width, shown.rows[i].label, LONGEST_NAME);
        note_width = widen(note_width, shown.rows[i].note, LONGEST_NOTE);
    }
    agb_draw_legend(page, shown.names, shown.n_parts, shown.substitute ? "estimated" : "solid");
    draw_stack(page, &shown, false, name_width, note_width);
    draw_stack(page, &shown, true, name_width, note_width);
}
