/* SPDX-License-Identifier: MIT */
/* The n largest groups of those that are offered: a heap whose root ranks last, so that one comparison tells whether a
 * further group belongs in. */
#include "internal.h"

/* Does a come before b in a top list: larger count, then smaller key. */
static bool ranks_before(const agb_top *top, const agb_group *a, const agb_group *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return (top->layout ? agb_key_compare(top->layout, &a->key, &b->key)
                        : agb_key_compare_raw(top->kind, &a->key, &b->key)) < 0;
}

static void swap(agb_group *a, agb_group *b)
{
    agb_group kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(agb_top *top, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < top->n; at = child) {
        if (child + 1 < top->n && ranks_before(top, &top->group[child], &top->group[child + 1]))
            child++;
        if (!ranks_before(top, &top->group[at], &top->group[child]))
            return;
        swap(&top->group[at], &top->group[child]);
    }
}

static void make_heap(agb_top *top)
{
    for (size_t i = top->n / 2; i-- > 0;)
        sift_down(top, i);
}

bool agb_top_wants(const agb_top *top, const agb_group *group)
{
    return top->n < top->room || (top->room && ranks_before(top, group, &top->group[0]));
}

void agb_top_offer(agb_top *top, agb_group group)
{
    if (!agb_top_wants(top, &group))
        return;
    if (top->n < top->room) {
        top->group[top->n++] = group;
        if (top->n == top->room)
            make_heap(top);
    } else {
        top->group[0] = group;
        sift_down(top, 0);
    }
}

void agb_top_sort(agb_top *top)
{
    if (top->n < top->room)    /* fewer than were asked for: not a heap yet */
        make_heap(top);
    size_t n = top->n;
    while (top->n > 1) {    /* the root ranks last: move it to the end, again and again */
        swap(&top->group[0], &top->group[--top->n]);
        sift_down(top, 0);
    }
    top->n = n;
}
