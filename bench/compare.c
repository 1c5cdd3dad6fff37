/* SPDX-License-Identifier: MIT */
/* Two results against each other: see compare.h. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double memory_tolerance = 0.02;    /* a kernel's own share of it differs from version to version */

const char *agb_change_name(agb_change change)
{
    static const char *const names[] = {"no difference seen", "faster", "slower", "fails now", "works now", "both fail",
                                        "only in OLD", "only in NEW"};
    return names[change];
}

bool agb_change_is_regression(agb_change change)
{
    return change == AGB_CHANGE_SLOWER || change == AGB_CHANGE_FAILS;
}

/* ---- Circumstances ----------------------------------------------------------------------------------------------- */

typedef struct circumstance {
    const char *object, *key, *name;
    bool refused;
} circumstance;

static const circumstance circumstances[] = {
    {"machine", "cpu", "machine.cpu", true},
    {"machine", "uarch", "machine.uarch", true},
    {"machine", "cores", "machine.cores", true},
    {"machine", "caches", "machine.caches", true},
    {"machine", "memory_bytes", "machine.memory_bytes", true},
    {"machine", "hypervisor", "machine.hypervisor", true},
    {"source", "name", "source.name", true},
    {"source", "rows", "source.rows", true},
    {"source", "sample", "source.sample", true},
    {"source", "groups", "source.groups", true},
    {"query", "group_by", "query.group_by", true},
    {"query", "where", "query.where", true},
    {"settings", "threads", "settings.threads", true},
    {"settings", "memory_budget", "settings.memory_budget", true},
    {"settings", "batch_rows", "settings.batch_rows", true},
    {"settings", "hash", "settings.hash", true},
    {"settings", "pin", "settings.pin", false},
    {"settings", "processes", "settings.processes", false},
    {"machine", "kernel", "machine.kernel", false},
    {"machine", "pages", "machine.pages", false},
    {"machine", "governor", "machine.governor", false},
    {"machine", "compiler", "machine.compiler", false},
    {"machine", "flags", "machine.flags", false},
    {"machine", "commit", "machine.commit", false},
};

enum { CIRCUMSTANCES = sizeof circumstances / sizeof circumstances[0], PER_ROW = 3 };

static bool nearly_same(const circumstance *of, const char *old, const char *new)
{
    if (strcmp(old, new) == 0)
        return true;
    double a = strtod(old, NULL), b = strtod(new, NULL);
    return strcmp(of->key, "memory_bytes") == 0 && a > 0 && fabs(a - b) <= memory_tolerance * a;
}

/* Takes both texts. */
static void add_difference(agb_compare *self, const char *what, bool refused, char *old, char *new)
{
    self->differences[self->n_differences++] = (agb_difference){what, old, new, refused};
}

static bool find_circumstances(agb_compare *self)
{
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        const circumstance *of = &circumstances[i];
        char *old = agb_past_text(&self->old, of->object, of->key),
             *new = agb_past_text(&self->new, of->object, of->key);
        if (old && new && !nearly_same(of, old, new)) {
            add_difference(self, of->name, of->refused, old, new);
            continue;
        }
        bool had = old && new;
        free(old);
        free(new);
        if (!had)
            return false;
    }
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const agb_past_row *partner_of(const agb_past_row *row, const agb_past *other)
{
    const agb_past_row *by_name = NULL;
    for (size_t i = 0; i < other->n; i++) {
        const agb_past_row *candidate = &other->rows[i];
        if (candidate->source_number != row->source_number || strcmp(candidate->aggregator, row->aggregator) != 0)
            continue;
        if (candidate->copy == row->copy && strcmp(candidate->params, row->params) == 0)
            return candidate;
        if (candidate->alone && row->alone)    /* its parameters have changed, but it is the only one of its name */
            by_name = candidate;
    }
    return by_name;
}

/* Values of a row that are not the same in both make its times another question. */
static bool find_row_differences(agb_compare *self, const agb_past_row *old, const agb_past_row *new)
{
    const struct { const char *what, *old, *new; } texts[PER_ROW] = {
        {"the source's name", old->source, new->source},
        {"the answer's checksum", old->checksum, new->checksum},
        {"a contestant's parameters", old->params, new->params}};
    for (size_t i = 0; i < PER_ROW; i++) {
        bool refused = i < 2, said = false;
        if (strcmp(texts[i].old, texts[i].new) == 0 || !*texts[i].old || !*texts[i].new)
            continue;
        for (size_t k = 0; k < self->n_differences; k++)
            said = said || strcmp(self->differences[k].what, texts[i].what) == 0;
        char *first = said ? NULL : strdup(texts[i].old), *second = said ? NULL : strdup(texts[i].new);
        if (!said && (!first || !second)) {
            free(first);
            free(second);
            return false;
        }
        if (!said)
            add_difference(self, texts[i].what, refused, first, second);
    }
    return true;
}

static bool one_design(const agb_compare *self, const agb_past_row *old, const agb_past_row *new)
{
    bool same = self->old.seed == self->new.seed && self->old.n == self->new.n && old->n == new->n;
    for (size_t i = 0; same && i < self->old.n; i++)
        same = strcmp(self->old.rows[i].aggregator, self->new.rows[i].aggregator) == 0;
    return same && memcmp(old->round, new->round, old->n * sizeof *old->round) == 0 &&
           memcmp(old->process, new->process, old->n * sizeof *old->process) == 0;
}

static agb_change change_of_times(const agb_compare *self, const agb_compared *row)
{
    switch (agb_verdict_of(&row->speedup, &self->noise, self->least_claim)) {
    case AGB_VERDICT_FASTER:
        return AGB_CHANGE_FASTER;
    case AGB_VERDICT_SLOWER:
        return AGB_CHANGE_SLOWER;
    default:
        return AGB_CHANGE_NONE;
    }
}

static void compare_times(const agb_compare *self, agb_compared *row)
{
    const agb_past_row *old = row->old, *new = row->new;
    row->old_median_s = agb_summarize(old->wall_s, old->n, 1).median;
    row->new_median_s = agb_summarize(new->wall_s, new->n, 1).median;
    row->paired = one_design(self, old, new);
    row->speedup = row->paired ? agb_paired_ratio(old->wall_s, new->wall_s, old->process, old->n, 1)
                               : agb_unpaired_ratio((agb_values){old->wall_s, old->process, old->n},
                                                    (agb_values){new->wall_s, new->process, new->n}, 1);
    row->change = change_of_times(self, row);
}

static void judge(const agb_compare *self, agb_compared *row)
{
    row->speedup = (agb_ratio){NAN, NAN, NAN};
    row->old_median_s = row->new_median_s = NAN;
    if (!row->old || !row->new) {
        row->change = row->old ? AGB_CHANGE_ONLY_OLD : AGB_CHANGE_ONLY_NEW;
        return;
    }
    bool before = row->old->n > 0, now = row->new->n > 0;
    if (before && now)
        compare_times(self, row);
    else
        row->change = before ? AGB_CHANGE_FAILS : now ? AGB_CHANGE_WORKS : AGB_CHANGE_BOTH_FAIL;
}

/* The old file's rows with their partners, then what only the new one has. */
static agb_status pair_rows(agb_compare *self, agb_error *err)
{
    size_t common = 0;
    for (size_t i = 0; i < self->old.n; i++) {
        const agb_past_row *old = &self->old.rows[i], *new = partner_of(old, &self->new);
        self->rows[self->n++] = (agb_compared){.old = old, .new = new};
        common += new != NULL;
        if (new && !find_row_differences(self, old, new))
            return agb_fail(err, AGB_ERR_MEMORY, "compare: no memory for its table");
    }
    for (size_t i = 0; i < self->new.n; i++)
        if (!partner_of(&self->new.rows[i], &self->old))
            self->rows[self->n++] = (agb_compared){.new = &self->new.rows[i]};
    return common > 0 ? AGB_OK : agb_fail(err, AGB_ERR_ARGUMENT, "compare: %s and %s have no contestant in common: run "
                                          "the same aggregators on the same source", self->old.path, self->new.path);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static agb_status refuse_differences(const agb_compare *self, agb_error *err)
{
    enum { MOST_SHOWN = 3 };
    char list[600] = "";
    size_t n = 0, at = 0;
    for (size_t i = 0; i < self->n_differences; i++) {
        const agb_difference *difference = &self->differences[i];
        if (!difference->refused || ++n > MOST_SHOWN)
            continue;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s (%.70s before, %.70s now)", n > 1 ? ", " : "",
                               difference->what, difference->old, difference->new);
        at = at < sizeof list ? at : sizeof list - 1;
    }
    if (n == 0 || self->forced)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_ARGUMENT,
                    "compare: %s and %s differ in %s%s: run both alike, or give --force to compare "
                    "all the same",
                    self->old.path, self->new.path, list, n > MOST_SHOWN ? " and more" : "");
}

agb_status agb_compare_files(agb_compare *out, const char *old, const char *new, bool force, agb_error *err)
{
    *out = (agb_compare){.forced = force};
    agb_status status = agb_past_read(&out->old, old, err);
    if (status == AGB_OK)
        status = agb_past_read(&out->new, new, err);
    if (status != AGB_OK)
        return status;
    out->differences = calloc(CIRCUMSTANCES + PER_ROW, sizeof *out->differences);
    out->rows = calloc(out->old.n + out->new.n, sizeof *out->rows);
    if (!out->differences || !out->rows || !find_circumstances(out))
        return agb_fail(err, AGB_ERR_MEMORY, "compare: no memory for its table");
    out->noise = (agb_ratio){1, fmin(out->old.noise_low, out->new.noise_low),
                             fmax(out->old.noise_high, out->new.noise_high)};
    out->least_claim = fmax(agb_least_claim_of(out->old.processes), agb_least_claim_of(out->new.processes));
    status = pair_rows(out, err);
    if (status == AGB_OK)
        status = refuse_differences(out, err);
    for (size_t i = 0; i < out->n && status == AGB_OK; i++) {
        judge(out, &out->rows[i]);
        out->regressions += agb_change_is_regression(out->rows[i].change);
    }
    return status;
}

void agb_compare_release(agb_compare *compare)
{
    for (size_t i = 0; i < compare->n_differences; i++) {
        free(compare->differences[i].old);
        free(compare->differences[i].new);
    }
    free(compare->differences);
    free(compare->rows);
    agb_past_release(&compare->old);
    agb_past_release(&compare->new);
    *compare = (agb_compare){0};
}
