/* SPDX-License-Identifier: MIT */
/* Steps in a curve that should be flat between them: where a level of the memory ends. */
#ifndef AGB_LAB_STEPS_H
#define AGB_LAB_STEPS_H

#include "lab.h"

/* From the last x of one level to the first x of the next. */
typedef struct agb_lab_step {
    double from_x, to_x, from_y, to_y;
} agb_lab_step;

/* A rise counts where it is 20 % or more, over one point or two, and the intervals of its ends do not touch; rises that
 * follow each other, with at most one point between them that does not rise, are one step; a step counts where it is
 * 1.4 times or more in all. Noisy points are left out. Returns how many steps there are; at most `most` are written. */
size_t agb_lab_find_steps(const agb_lab_series *series, agb_lab_step *steps, size_t most);

#endif
