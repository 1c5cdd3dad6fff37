/* SPDX-License-Identifier: MIT */
/* Who was fastest in a cell, and where the lead changes hands: see matrix.h. */
#include "matrix.h"

#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double median_of(const json_t *result)
{
    const char *state = text_at(result, "state");
    double median = json_number_value(json_object_get(result, "median_s"));
    return state && strcmp(state, "ok") == 0 && median > 0 ? median : INFINITY;
}

/* free() it. NULL without memory. */
static double *walls_of(const json_t *result, size_t *n)
{
    const json_t *walls = json_object_get(result, "wall_s");
    *n = json_array_size(walls);
    double *out = calloc(*n + 1, sizeof *out);
    for (size_t i = 0; out && i < *n; i++)
        out[i] = json_number_value(json_array_get(walls, i));
    return out;
}

/* Rounds of one heat are pairs. */
static void set_lead(agb_win *out, const json_t *cell, const json_t *winner, const json_t *second)
{
    size_t n, m;
    double *mine = walls_of(winner, &n), *theirs = walls_of(second, &m);
    const json_t *noise = json_object_get(cell, "noise");
    agb_ratio twin = {1, json_number_value(json_array_get(noise, 0)), json_number_value(json_array_get(noise, 1))};
    out->lead = (agb_ratio){NAN, NAN, NAN};
    out->paired = n == m && json_equal(json_object_get(winner, "heat"), json_object_get(second, "heat"));
    if (mine && theirs && n > 0 && m > 0)
        out->lead = out->paired ? agb_paired_ratio(theirs, mine, NULL, n, 1)
                                : agb_unpaired_ratio((agb_values){theirs, NULL, m}, (agb_values){mine, NULL, n}, 1);
    bool has_noise = twin.ci95_low > 0 && twin.ci95_high > 0;
    out->claimed = agb_verdict_of(&out->lead, has_noise ? &twin : NULL, agb_least_claim) == AGB_VERDICT_FASTER;
    free(mine);
    free(theirs);
}

agb_win agb_matrix_win(const json_t *line)
{
    agb_win out = {0};
    const json_t *results = json_object_get(line, "results"), *winner = NULL, *second = NULL;
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        if (isinf(median_of(result)))
            continue;
        if (!winner || median_of(result) < median_of(winner)) {
            second = winner;
            winner = result;
        } else if (!second || median_of(result) < median_of(second)) {
            second = result;
        }
    }
    if (!winner)
        return out;
    out.winner = text_at(winner, "aggregator");
    out.ns_per_row = json_number_value(json_object_get(winner, "ns_per_row"));
    out.lead = (agb_ratio){NAN, NAN, NAN};
    if (second) {
        out.second = text_at(second, "aggregator");
        set_lead(&out, line, winner, second);
    }
    return out;
}

bool agb_matrix_crossover(const agb_matrix *matrix, size_t *i, agb_crossover *out)
{
    for (; *i + 1 < matrix->n; (*i)++) {
        const agb_matrix_cell *before = &matrix->cells[*i], *after = before + 1;
        if (!before->done || !after->done || before->distribution != after->distribution ||
            before->threads != after->threads)
            continue;
        *out = (agb_crossover){before, after, before->win.claimed && after->win.claimed};
        if (before->win.winner && after->win.winner && strcmp(before->win.winner, after->win.winner) != 0)
            return true;
    }
    return false;
}
