/* SPDX-License-Identifier: MIT */
/* From a table to a file: the format whose name the file's name ends in writes it. */
#include "internal.h"
#include "loader.h"

#include <string.h>

static agb_status no_writer(const agb_registry *registry, const char *path, agb_error *err)
{
    const agb_loader *any = NULL;
    for (size_t i = 0; (any = agb_registry_loader_at(registry, i)) && !any->save; i++)
        continue;
    return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: its ending is of no format that can be written%s%s",
                    *path ? path : "(empty)", any ? ": end it in ." : "", any ? any->name : "");
}

static agb_status find_writer(const agb_registry *registry, const char *path, const agb_loader **out, agb_error *err)
{
    const char *dot = strrchr(path, '.');
    const char *name = dot && !strchr(dot, '/') ? dot + 1 : "";
    const agb_loader *loader = agb_registry_find_loader(registry, name);
    if (!loader || !loader->save)
        return no_writer(registry, path, err);
    *out = loader;
    return AGB_OK;
}

agb_status agb_table_save(const agb_table *table, const agb_registry *registry, const char *path,
                          const char *const *columns, size_t n_columns, const agb_save_options *options,
                          agb_error *err)
{
    static const agb_save_options standard = {0};
    const agb_loader *writer = NULL;
    agb_column column;
    agb_status status = agb_column_names_check(columns, n_columns, err);
    if (status == AGB_OK)
        status = find_writer(registry, path, &writer, err);
    for (size_t i = 0; status == AGB_OK && i < n_columns; i++)
        if (!agb_table_find_column(table, columns[i], &column))
            status = agb_fail(err, AGB_ERR_NOT_FOUND, "writing %s: the table has no column '%s'", path, columns[i]);
    if (status == AGB_OK)
        status = writer->save(table, columns, n_columns, path, options ? options : &standard, err);
    return status;
}
