/* SPDX-License-Identifier: MIT */
/* The smallest input that fails: delta debugging (A. Zeller, R. Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", 2002). First the setup is made plainer while the failure stays, then ever smaller parts of
 * the rows are left out, then keys are exchanged for small numbers. Every attempt is a child process, because most of
 * them crash; any failure counts, for what is wrong may show in several ways. It ends after so many attempts, or
 * seconds. */
#include "verify_parts.h"

#include "key_text.h"
#include "process.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_ATTEMPTS = 600, MOST_SHOWN = 8 };

static const double most_s = 10, attempt_s = 2;

typedef struct shrinking {
    agb_verify_session session;    /* of the attempts */
    agb_sample sample;             /* the smallest that failed so far */
    agb_setup setup;
    char reason[1000];             /* why it did */
    unsigned attempts;
    double end_s;
} shrinking;

/* ---- One attempt ------------------------------------------------------------------------------------------------- */

static bool run_given(agb_verify_session *self)
{
    agb_trial trial = {.sample = self->given, .setup = self->setup};
    return agb_try(self, &trial);
}

static const agb_verify_kind replay_kind = {"replay", "", run_given};

static bool is_over(const shrinking *self)
{
    return self->attempts >= MOST_ATTEMPTS || agb_now_s() > self->end_s;
}

static bool fails(shrinking *self, const agb_sample *sample, const agb_setup *setup)
{
    agb_verify_session *session = &self->session;
    self->attempts++;
    session->given = sample;
    session->setup = *setup;
    session->error = (agb_error){0};
    agb_name_case(session, "it");
    double timeout_s = session->verify->timeout_s < attempt_s ? session->verify->timeout_s : attempt_s;
    agb_verify_outcome outcome = agb_verify_in_child(session, timeout_s);
    if (outcome.state == AGB_VERIFY_FAILED)
        snprintf(self->reason, sizeof self->reason, "%.900s",
                 strncmp(outcome.text, "it: ", 4) == 0 ? outcome.text + 4 : outcome.text);
    return outcome.state == AGB_VERIFY_FAILED;
}

/* Takes the sample: keeps it if it fails, also with a budget that is smaller by as much. */
static bool keep_if_it_fails(shrinking *self, agb_sample *sample)
{
    agb_setup setup = self->setup;
    bool failed = !is_over(self) && fails(self, sample, &setup);
    if (!failed && setup.budget && sample->rows < self->sample.rows && !is_over(self)) {
        setup.budget = setup.budget / self->sample.rows * sample->rows + 1;
        failed = fails(self, sample, &setup);
    }
    if (failed) {
        agb_sample_release(&self->sample);
        self->sample = *sample;
        self->setup = setup;
    } else {
        agb_sample_release(sample);
    }
    return failed;
}

/* ---- The setup --------------------------------------------------------------------------------------------------- */

static void try_setup(shrinking *self, agb_setup plainer)
{
    if (memcmp(&plainer, &self->setup, sizeof plainer) != 0 && !is_over(self) && fails(self, &self->sample, &plainer))
        self->setup = plainer;
}

static void simplify_setup(shrinking *self)
{
    agb_setup plainer = self->setup;
    plainer.fail_at = plainer.budget = 0;
    try_setup(self, plainer);
    plainer = self->setup;
    plainer.guarded = false;
    try_setup(self, plainer);
    plainer = self->setup;
    plainer.again = false;
    try_setup(self, plainer);
    plainer = self->setup;
    plainer.workers = 0;
    try_setup(self, plainer);
    plainer = self->setup;
    memset(plainer.hash, 0, sizeof plainer.hash);
    try_setup(self, plainer);
    plainer = self->setup;
    plainer.batch_rows = 0;
    try_setup(self, plainer);
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

/* Without the rows first..first+n-1. */
static bool try_without(shrinking *self, size_t first, size_t n)
{
    agb_error ignored;
    size_t all = self->sample.rows, kept = 0;
    size_t *rows = malloc((all + 1) * sizeof *rows);
    agb_sample smaller;
    bool good = rows != NULL;
    for (size_t i = 0; good && i < all; i++)
        if (i < first || i >= first + n)
            rows[kept++] = i;
    bool made = good && agb_sample_of_rows(&smaller, &self->sample, rows, kept, true, &ignored) == AGB_OK;
    free(rows);
    return made && keep_if_it_fails(self, &smaller);
}

/* Halves, quarters ... down to single rows; after a success the same size again at the same place. */
static void drop_rows(shrinking *self)
{
    for (size_t part = (self->sample.rows + 1) / 2; part > 0 && !is_over(self); part /= 2) {
        for (size_t first = 0; first < self->sample.rows && !is_over(self);) {
            size_t n = self->sample.rows - first < part ? self->sample.rows - first : part;
            if (!try_without(self, first, n))
                first += part;
        }
    }
}

/* Words become 1, 2, 3 ... in the order of their first row; or weights go. */
static void simplify_values(shrinking *self)
{
    agb_error ignored;
    size_t n = self->sample.rows;
    agb_sample other;
    if (self->sample.weights && agb_sample_of_rows(&other, &self->sample, NULL, n, false, &ignored) == AGB_OK)
        keep_if_it_fails(self, &other);
    bool words = self->sample.kind == AGB_KEYS_WORD && n <= 4096;
    if (words && agb_sample_of_rows(&other, &self->sample, NULL, n, true, &ignored) == AGB_OK) {
        uint64_t next = 1;
        for (size_t i = 0; i < n; i++) {
            size_t k = 0;
            while (self->sample.keys[k] != self->sample.keys[i])
                k++;
            other.keys[i] = k == i ? next++ : other.keys[k];
        }
        if (agb_sample_narrow(&other, other.type, &ignored) == AGB_OK)
            keep_if_it_fails(self, &other);
        else
            agb_sample_release(&other);
    }
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static void describe_rows(const agb_sample *sample, char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < sample->rows && i < MOST_SHOWN && at < size; i++) {
        const char *comma = i ? ", " : "";
        if (sample->kind == AGB_KEYS_BYTES)
            at += (size_t)snprintf(text + at, size - at, "%s%.64s", comma,
                                   agb_text_value(&(agb_value){.type = AGB_TYPE_BYTES, .bytes = sample->strings[i]},
                                                  30).s);
        else if (sample->kind == AGB_KEYS_PAIR)
            at += (size_t)snprintf(text + at, size - at, "%s(%" PRId64 " %" PRId64 ")", comma, (int64_t)sample->keys[i],
                                   (int64_t)sample->seconds[i]);
        else
            at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, comma, (int64_t)sample->keys[i]);
        if (sample->weights && at < size)
            at += (size_t)snprintf(text + at, size - at, " x %" PRIu64, sample->weights[i]);
    }
    if (sample->rows > MOST_SHOWN && at < size)
        snprintf(text + at, size - at, ", ...");
}

static void describe_setup(const agb_setup *setup, char *text, size_t size)
{
    int at = snprintf(text, size, "%s%s", setup->guarded ? ", guarded" : "", setup->again ? ", in used memory" : "");
    if (setup->batch_rows)
        at += snprintf(text + at, size - (size_t)at, ", batches of %" PRIu64, setup->batch_rows);
    if (setup->workers > 1)
        at += snprintf(text + at, size - (size_t)at, ", %" PRIu64 " workers", setup->workers);
    if (setup->hash[0])
        at += snprintf(text + at, size - (size_t)at, ", hash %s", setup->hash);
    if (setup->budget)
        at += snprintf(text + at, size - (size_t)at, ", budget of %s bytes", agb_text_count(setup->budget).s);
    if (setup->fail_at)
        snprintf(text + at, size - (size_t)at, ", allocation %" PRIu64 " refused", setup->fail_at);
}

static void save(shrinking *self, agb_verify_outcome *outcome)
{
    const agb_verify *verify = self->session.verify;
    agb_error error = {0};
    char rows[700] = "", setup[200];
    describe_rows(&self->sample, rows, sizeof rows);
    describe_setup(&self->setup, setup, sizeof setup);
    int at = snprintf(outcome->input, sizeof outcome->input, "%s row%s%s%s%s%s: %.300s",
                      agb_text_count(self->sample.rows).s, self->sample.rows == 1 ? "" : "s",
                      self->sample.rows ? " (" : "", rows, self->sample.rows ? ")" : "", setup, self->reason);
    if (!verify->save)
        return;
    outcome->saved = agb_sample_save(&self->sample, verify->registry, verify->save, &error) == AGB_OK;
    if (!outcome->saved && (size_t)at < sizeof outcome->input)
        snprintf(outcome->input + at, sizeof outcome->input - (size_t)at, "; not saved: %.200s", error.text);
}

void agb_verify_shrink(const agb_verify_session *failed, agb_verify_outcome *outcome)
{
    agb_error ignored;
    shrinking self = {.session = {.verify = failed->verify, .kind = &replay_kind}, .setup = failed->place->setup,
                      .end_s = agb_now_s() + most_s};
    agb_place *place = agb_place_share();
    if (!place)
        return;
    self.session.place = place;
    if (agb_sample_restore(&self.sample, failed->place->input, &ignored) == AGB_OK) {
        if (fails(&self, &self.sample, &self.setup)) {
            simplify_setup(&self);
            drop_rows(&self);
            simplify_values(&self);
            simplify_setup(&self);
            save(&self, outcome);
        } else {
            snprintf(outcome->input, sizeof outcome->input, "it did not fail again by itself: it depends on what ran "
                     "before it, or on timing");
        }
    }
    agb_sample_release(&self.sample);
    munmap(place, sizeof *place);
}
