/* SPDX-License-Identifier: MIT */
/* aggbench describe: schema, rows and encodings of a SOURCE, without loading it. */
#include "commands.h"
#include "json_text.h"
#include "schema_file.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static int name_width(const agb_schema *schema)
{
    enum { LEAST = 6, MOST = 40 };
    size_t width = LEAST;
    for (size_t i = 0; i < schema->columns; i++) {
        size_t cells = (size_t)agb_text_cells(agb_text_clean(schema->column[i].name).s);
        width = cells > width ? cells : width;
    }
    return width > MOST ? MOST : (int)width;
}

static void print_table(FILE *to, const char *source, const agb_schema *schema)
{
    bool known = schema->rows != UINT64_MAX;
    fprintf(to, "%s: %s, %s rows, %zu column%s", agb_text_clean(source).s, schema->format,
            known ? agb_text_count(schema->rows).s : "unknown number of", schema->columns,
            schema->columns == 1 ? "" : "s");
    if (schema->files > 1)
        fprintf(to, ", %s files", agb_text_count(schema->files).s);
    fprintf(to, "%s%s\n\n", *schema->detail ? "; " : "", agb_text_clean(schema->detail).s);
    int width = name_width(schema);
    fprintf(to, "%4s  %-*s  %-7s %-8s  %s\n", "no", width, "column", "type", "NULL", "in the file");
    for (size_t i = 0; i < schema->columns; i++) {
        const agb_column_info *column = &schema->column[i];
        agb_clean_text name = agb_text_clean(column->name);
        int space = width - agb_text_cells(name.s);
        fprintf(to, "%4zu  %s%*s  %-7s %-8s  %s\n", i + 1, name.s, space > 0 ? space : 0, "",
                agb_type_name(column->type), column->optional ? "possible" : "never",
                agb_text_clean(column->detail).s);
    }
}

static void print_json(FILE *to, const char *source, const agb_schema *schema)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < schema->columns; i++) {
        const agb_column_info *column = &schema->column[i];
        json_array_append_new(columns, json_pack("{s:o, s:s, s:b, s:o}", "name", agb_json_text(column->name), "type",
                                                 agb_type_name(column->type), "optional", column->optional, "detail",
                                                 agb_json_text(column->detail)));
    }
    bool known = schema->rows != UINT64_MAX;
    json_t *out = json_pack("{s:i, s:o, s:s, s:o, s:I, s:o, s:o}", "aggbench", 1, "source", agb_json_text(source),
                            "format", schema->format, "rows",
                            known ? json_integer((json_int_t)schema->rows) : json_null(), "files",
                            (json_int_t)schema->files, "detail", agb_json_text(schema->detail), "columns", columns);
    json_dumpf(out, to, JSON_INDENT(2));
    fputc('\n', to);
    json_decref(out);
}

static int describe(const agb_options *options, agb_error *err)
{
    agb_registry *registry;
    agb_schema schema;
    agb_status status = agb_registry_create(&registry, err);
    if (status != AGB_OK)
        return agb_exit_of(status);
    char *text;
    status = agb_schema_file_read(&text, options->schema, err);
    agb_load_options load = {.loader = options->input_format, .schema = text};
    if (status == AGB_OK)
        status = agb_source_describe_as(&schema, registry, options->operand, &load, err);
    free(text);
    if (status == AGB_OK) {
        if (options->format == AGB_FORMAT_JSON)
            print_json(stdout, options->operand, &schema);
        else
            print_table(stdout, options->operand, &schema);
        agb_schema_release(&schema);
    }
    agb_registry_destroy(registry);
    return agb_exit_of(status);
}

static const char *const describe_options[] = {"input-format", "schema", "format", NULL};

const agb_command agb_command_describe = {
    .name = "describe", .operand = "SOURCE", .needs_operand = true,
    .summary = "schema, rows and encodings of a SOURCE",
    .about = "Lists the columns of a file, folder, glob or generator: type, whether NULL is possible, and how\n"
             "they are stored. Only as much is read as that takes.",
    .example = "aggbench describe hits.parquet",
    .options = describe_options, .run = describe};
