/* SPDX-License-Identifier: MIT */
/* All groups of a count as a CSV file: see groups_file.h. */
#include "groups_file.h"

#include "output.h"
#include "reference.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>

static void write_lines(FILE *file, const agb_group *groups, size_t n, bool signed_keys)
{
    for (size_t i = 0; i < n && !ferror(file); i++)
        fprintf(file, "%s,%" PRIu64 "\n", agb_text_key(groups[i].key, signed_keys).s, groups[i].count);
}

agb_status agb_groups_write(const char *path, const agb_sink *sink, uint64_t nulls, bool signed_keys, agb_error *err)
{
    size_t n, negative = 0;
    agb_group *groups = agb_sorted_groups(sink, &n);
    if (!groups)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: no memory to put the groups in order", path);
    while (signed_keys && negative < n && (int64_t)groups[n - 1 - negative].key < 0)
        negative++;
    agb_output output;
    agb_status status = agb_output_open(&output, path, err);
    if (status == AGB_OK) {
        fputs("key,count\n", output.file);
        if (nulls > 0)
            fprintf(output.file, "NULL,%" PRIu64 "\n", nulls);
        /* Sorted as unsigned words, the negative numbers stand last, in their own right order. */
        write_lines(output.file, groups + n - negative, negative, signed_keys);
        write_lines(output.file, groups, n - negative, signed_keys);
        status = agb_output_close(&output, err);
    }
    free(groups);
    return status;
}
