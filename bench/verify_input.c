/* SPDX-License-Identifier: MIT */
/* The rows of verify --input, loaded before anything is checked: what is wrong with them is not the aggregator's
 * fault. */
#include "verify.h"

#include <stdlib.h>
#include <string.h>

static bool has_column(const agb_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->columns; i++)
        if (strcmp(schema->column[i].name, name) == 0)
            return true;
    return false;
}

/* The columns that a saved input has, or the one that was named. */
static agb_status load(const agb_verify *verify, agb_sample *out, agb_error *err)
{
    agb_schema schema;
    agb_table *table = NULL;
    agb_status status = agb_source_describe(&schema, verify->registry, verify->input, err);
    if (status != AGB_OK)
        return status;
    const char *columns[3] = {verify->group_by ? verify->group_by : "key"};
    size_t n = 1;
    const char *second = !verify->group_by && has_column(&schema, "second") ? "second" : NULL;
    const char *weight = !verify->group_by && has_column(&schema, "weight") ? "weight" : NULL;
    bool there = verify->group_by || has_column(&schema, "key");
    if (second)
        columns[n++] = second;
    if (weight)
        columns[n++] = weight;
    agb_schema_release(&schema);
    if (!there)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "--input: %s: no column 'key', as saved inputs have: name the one to "
                        "count by --group-by", verify->input);
    status = agb_table_load(&table, verify->registry, verify->input, columns, n, NULL, err);
    if (status == AGB_OK)
        status = agb_sample_of_table(out, table, columns[0], second, weight, err);
    agb_table_destroy(table);
    return status;
}

agb_status agb_verify_load_input(const agb_verify *verify, agb_sample *out, agb_error *err)
{
    *out = (agb_sample){0};
    agb_status status = load(verify, out, err);
    const char *refusal = status == AGB_OK ? agb_key_kind_refusal(verify->aggregator, out->kind) : NULL;
    if (refusal)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--input: %s: %s: %s: choose another input", verify->input,
                        verify->aggregator->name, refusal);
    if (status == AGB_OK && !(verify->aggregator->traits & AGB_TAKES_WEIGHTS)) {
        free(out->weights);
        out->weights = NULL;
        status = agb_sample_narrow(out, out->type, err);
    }
    return status;
}
