/* SPDX-License-Identifier: MIT */
/* The system's settings of huge pages, with what they mean: of /sys/kernel/mm/transparent_hugepage, and of the pool. */
#ifndef AGB_PAGE_SETTINGS_H
#define AGB_PAGE_SETTINGS_H

#include "lab.h"

/* Adds a table of them. root: before /sys and /proc; "" except in tests. */
agb_status agb_page_settings_add(agb_lab_record *record, const char *root, agb_error *err);
/* Pages of 2 MiB in the pool that nobody has taken; negative: the system has no such pool. */
int64_t agb_page_settings_free(const char *root);

#endif
