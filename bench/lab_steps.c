/* SPDX-License-Identifier: MIT */
/* Steps in a curve: see lab_steps.h for the rule. It is a rule of thumb on purpose: a fit of a model with a known
 * number of levels would find that number everywhere. */
#include "lab_steps.h"

#include <math.h>

static const double least_rise = 1.2, least_step = 1.4;

static bool rises(const agb_lab_point *a, const agb_lab_point *b)
{
    double high = isfinite(a->high) ? a->high : a->y, low = isfinite(b->low) ? b->low : b->y;
    return b->y >= least_rise * a->y && low > high;
}

/* The next point from i on that may be used; n past the end. */
static size_t usable(const agb_lab_series *series, size_t i)
{
    while (i < series->n && (series->points[i].noisy || !isfinite(series->points[i].y)))
        i++;
    return i;
}

/* Where the rise that begins at point `from` leads: the next point, or the one behind it where a blurred one lies
 * between; `from` itself when there is none. */
static size_t next_rise(const agb_lab_series *series, size_t from)
{
    size_t near = usable(series, from + 1), far = usable(series, near + 1);
    if (near < series->n && rises(&series->points[from], &series->points[near]))
        return near;
    if (far < series->n && rises(&series->points[from], &series->points[far]) &&
        !rises(&series->points[near], &series->points[far]))
        return far;
    return from;
}

static size_t end_of_step(const agb_lab_series *series, size_t from)
{
    size_t end = from, next;
    while ((next = next_rise(series, end)) != end)
        end = next;
    /* One that stands still for a moment goes on behind it. */
    size_t near = usable(series, end + 1);
    return end > from && near < series->n && next_rise(series, near) != near ? end_of_step(series, near) : end;
}

size_t agb_lab_find_steps(const agb_lab_series *series, agb_lab_step *steps, size_t most)
{
    size_t n = 0;
    for (size_t at = usable(series, 0); at < series->n;) {
        size_t end = end_of_step(series, at);
        const agb_lab_point *a = &series->points[at], *b = &series->points[end];
        if (b->y >= least_step * a->y && n++ < most)
            steps[n - 1] = (agb_lab_step){a->x, b->x, a->y, b->y};
        at = end > at ? end : usable(series, at + 1);
    }
    return n;
}
