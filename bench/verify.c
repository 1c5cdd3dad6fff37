/* SPDX-License-Identifier: MIT */
/* Holds one aggregator to the contract: see verify.h. Each kind of check runs in a child process, which leaves word of
 * the case, its input and the phase it is in, so that a crash can be told with its place, and tried again. */
#include "verify_parts.h"

#include "process.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void run_in_child(void *context, int in, int out)
{
    (void)in;
    agb_verify_session *self = context;
    agb_verify_outcome outcome = {.state = AGB_VERIFY_OK};
    agb_verify real = *self->verify;
    agb_crash_watch(&self->place->last);
    self->verify = &real;
    if (agb_plugins_load(real.plugins, &real.aggregator, &self->error) != AGB_OK)
        outcome.state = AGB_VERIFY_FAILED;
    else if (!self->kind->run(self))
        outcome.state = self->skipped ? AGB_VERIFY_SKIPPED : AGB_VERIFY_FAILED;
    outcome.cases = self->place->cases;
    memcpy(outcome.text, self->error.text, sizeof self->error.text);
    agb_process_answer(out, &outcome, sizeof outcome);
}

static void tell_end(const agb_verify_session *self, agb_process *process, agb_answer heard, double timeout_s,
                     agb_verify_outcome *outcome)
{
    agb_place *place = self->place;
    const char *phase = agb_crash_phase(&place->last, self->verify->aggregator->phases);
    char how[128], where[96];
    agb_process_end(process, heard == AGB_ANSWER_LATE);
    agb_process_describe_end(process, how, sizeof how);
    agb_crash_describe(&place->last, where, sizeof where);
    if (heard == AGB_ANSWER_LATE)
        snprintf(how, sizeof how, "no end after %g s", timeout_s);
    place->what[sizeof place->what - 1] = '\0';
    *outcome = (agb_verify_outcome){.state = AGB_VERIFY_FAILED, .cases = place->cases};
    snprintf(outcome->text, sizeof outcome->text, "%s: %s%s in phase %s", place->what, how, where, phase);
}

agb_place *agb_place_share(void)
{
    agb_place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                            0);
    return place == MAP_FAILED ? NULL : place;
}

agb_verify_outcome agb_verify_in_child(agb_verify_session *self, double timeout_s)
{
    agb_verify_outcome outcome = {.state = AGB_VERIFY_FAILED};
    agb_process process;
    self->place->last = (agb_last_word){.phase = -1};
    self->place->cases = 0;
    self->place->has_input = false;
    if (agb_process_start(&process, run_in_child, self, -1, &self->error) != AGB_OK) {
        snprintf(outcome.text, sizeof outcome.text, "%s", self->error.text);
        return outcome;
    }
    agb_answer heard = agb_process_hear(&process, &outcome, sizeof outcome, timeout_s);
    if (heard == AGB_ANSWER_SPOILED) {
        outcome.cases = self->place->cases;
        snprintf(outcome.text, sizeof outcome.text, "%.200s: %s", self->place->what, AGB_SPOILED_ANSWER);
    } else if (heard != AGB_ANSWER_WHOLE) {
        tell_end(self, &process, heard, timeout_s, &outcome);
    }
    agb_process_end(&process, true);
    outcome.text[sizeof outcome.text - 1] = '\0';
    outcome.input[sizeof outcome.input - 1] = '\0';
    return outcome;
}

agb_verify_outcome agb_verify_run(const agb_verify *verify, const agb_verify_kind *kind, bool shrink)
{
    agb_verify_outcome outcome = {.state = AGB_VERIFY_FAILED};
    agb_verify_session self = {.verify = verify, .kind = kind};
    self.place = agb_place_share();
    if (!self.place) {
        snprintf(outcome.text, sizeof outcome.text, "no memory for a process");
        return outcome;
    }
    outcome = agb_verify_in_child(&self, verify->timeout_s);
    if (outcome.state == AGB_VERIFY_FAILED && shrink && self.place->has_input)
        agb_verify_shrink(&self, &outcome);
    munmap(self.place, sizeof *self.place);
    return outcome;
}
