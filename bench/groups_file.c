/* SPDX-License-Identifier: MIT */
/* All groups of a count as a CSV file: see groups_file.h. */
#include "groups_file.h"

#include "key_text.h"
#include "reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_columns(const void *a, const void *b, void *layout)
{
    return agb_key_compare(layout, &((const agb_group *)a)->key, &((const agb_group *)b)->key);
}

static void write_header(FILE *file, const agb_key_layout *layout)
{
    for (size_t i = 0; i < layout->columns; i++) {
        const char *name = layout->columns > 1 ? layout->column[i].term.name : "key";
        agb_csv_bytes(file, (agb_bytes){(const unsigned char *)name, strlen(name)});
        fputc(',', file);
    }
    fputs("count\n", file);
}

static void write_lines(FILE *file, const agb_group *groups, size_t n, const agb_key_layout *layout)
{
    for (size_t i = 0; i < n && agb_csv_key(file, layout, &groups[i].key); i++)
        fprintf(file, ",%" PRIu64 "\n", groups[i].count);
}

agb_status agb_groups_write(agb_output *to, const agb_sink *sink, uint64_t nulls, const agb_key_layout *layout,
                            agb_error *err)
{
    size_t n;
    agb_group *groups = agb_sorted_groups(sink, &n);
    if (!groups)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: no memory to put the groups in order", to->path);
    qsort_r(groups, n, sizeof *groups, by_columns, (void *)layout);
    agb_status status = agb_output_begin(to, err);
    if (status == AGB_OK) {
        write_header(to->file, layout);
        if (nulls > 0)
            fprintf(to->file, "NULL,%" PRIu64 "\n", nulls);
        write_lines(to->file, groups, n, layout);
        status = agb_output_close(to, err);
    }
    free(groups);
    return status;
}
