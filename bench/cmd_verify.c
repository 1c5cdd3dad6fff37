/* SPDX-License-Identifier: MIT */
/* aggbench verify: is this aggregator right? One line for each kind of check, and a verdict. */
#include "commands.h"
#include "outputs.h"
#include "process.h"
#include "text.h"
#include "verify.h"

#include <stdlib.h>
#include <string.h>

static void print_outcome(FILE *to, const agb_verify_kind *kind, const agb_verify_outcome *outcome)
{
    static const char *const states[] = {"ok", "FAILED", "skipped"};
    int at = fprintf(to, "%-8s %-12s ", states[outcome->state], agb_verify_kind_name(kind));
    char text[1400];
    if (outcome->state == AGB_VERIFY_OK)
        snprintf(text, sizeof text, "%s: %s cases", agb_verify_kind_about(kind), agb_text_count(outcome->cases).s);
    else
        snprintf(text, sizeof text, "%s", outcome->text);
    agb_text_wrap(to, text, at, at);
    if (outcome->input[0])
        agb_text_wrap(to, outcome->input, at, fprintf(to, "%*s", at, "smallest: "));
    fflush(to);
}

/* How to see it again. */
static void print_replay(FILE *to, const agb_verify *verify, const agb_words *plugins)
{
    const char *grouped = "key", *name = verify->aggregator->name;
    char text[1400];
    int at = snprintf(text, sizeof text, "aggbench verify %s%s%s", name, *verify->params ? ":" : "", verify->params);
    for (size_t i = 0; i < plugins->n && (size_t)at < sizeof text; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " --plugin %s", plugins->word[i]);
    if ((size_t)at < sizeof text)
        snprintf(text + at, sizeof text - (size_t)at, " --input %s, or as a SOURCE of run with --group-by %s",
                 verify->save, grouped);
    fprintf(to, "the smallest failing input is saved: %s\n", agb_text_clean(text).s);
}

/* Runs all kinds; how many failed. */
static unsigned verify_all(FILE *to, const agb_verify *verify, const agb_words *plugins)
{
    unsigned failed = 0;
    bool saved = false;
    uint64_t cases = 0;
    const agb_verify_kind *kind;
    fprintf(to, "%s%s%s\n", verify->aggregator->name, *verify->params ? " " : "", verify->params);
    for (size_t i = 0; (kind = agb_verify_kind_at(verify, i)); i++) {
        if (verify->only && strcmp(verify->only, agb_verify_kind_name(kind)) != 0)
            continue;
        agb_verify_outcome outcome = agb_verify_run(verify, kind, failed == 0);    /* one is enough to go on */
        print_outcome(to, kind, &outcome);
        failed += outcome.state == AGB_VERIFY_FAILED;
        cases += outcome.cases;
        saved = saved || outcome.saved;
    }
    if (saved)
        print_replay(to, verify, plugins);
    if (failed)
        fprintf(to, "%s is wrong: %u kind%s of check failed\n", verify->aggregator->name, failed,
                failed == 1 ? "" : "s");
    else
        fprintf(to, "%s is right: %s cases\n", verify->aggregator->name, agb_text_count(cases).s);
    return failed;
}

/* "radix:bits=4": name is the caller's to free; *params points into word. */
static agb_status find(const agb_registry *registry, const char *word, agb_verify *verify, agb_error *err)
{
    int64_t values[AGB_MOST_PARAMS];
    size_t length = strcspn(word, ":");
    char *name = strndup(word, length);
    if (!name)
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory");
    agb_status status = agb_lineup_find_aggregator(registry, name, &verify->aggregator, err);
    verify->params = word[length] ? word + length + 1 : "";
    if (status == AGB_OK)
        status = agb_params_parse(verify->aggregator, verify->params, values, err);
    if (status == AGB_OK && !(verify->aggregator->traits & AGB_TAKES_WORDS))
        status = agb_fail(err, AGB_ERR_UNSUPPORTED,
                          "verify: %s: it does not take integer keys, the only ones checked yet", name);
    free(name);
    return status;
}

/* The last of them is checked, unless NAME says otherwise. */
static agb_status open_plugins(agb_plugins *out, agb_registry *registry, const agb_words *words, agb_verify *verify,
                               agb_error *err)
{
    agb_status status = agb_plugins_open(out, registry, words->word, words->n, verify->timeout_s, err);
    for (size_t i = 0; i < out->n && status == AGB_OK; i++) {
        const agb_plugin *plugin = &out->plugin[i];
        if (!plugin->aggregator)
            return agb_fail(err, plugin->refused.status, "%s", plugin->refused.text);
        verify->aggregator = plugin->aggregator;
    }
    return status;
}

/* What failed is saved beside where one works, unless that could be the very file that is read. */
static agb_status set_input(agb_verify *check, const agb_options *options, char *save, size_t size, agb_error *err)
{
    check->input = options->input;
    check->group_by = agb_option_given(options, "group-by") ? options->group_by : NULL;
    snprintf(save, size, "%.200s-failing.agb", check->aggregator->name);
    check->save = options->save ? options->save : options->input ? NULL : save;
    size_t length = options->save ? strlen(options->save) : 0;
    if (options->save && (length < 5 || strcmp(options->save + length - 4, ".agb") != 0))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--save: %s: not a name that ends in .agb: give one", options->save);
    agb_output saved = {0};
    agb_status status = !options->save || !options->input
                            ? AGB_OK
                            : agb_output_prepare_apart(&saved, "save", options->save, &options->input, 1, err);
    agb_output_release(&saved);
    if (status != AGB_OK)
        return status;
    if (check->group_by && !check->input)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--group-by: %s: belongs to --input: give that, too", check->group_by);
    return AGB_OK;
}

static agb_status check_only(agb_verify *check, const agb_options *options, agb_error *err)
{
    enum { MOST_KINDS = 32 };
    const char *names[MOST_KINDS + 1] = {0};
    const agb_verify_kind *kind;
    check->only = options->check;
    for (size_t i = 0; i < MOST_KINDS && (kind = agb_verify_kind_at(check, i)); i++) {
        names[i] = agb_verify_kind_name(kind);
        if (!check->only || strcmp(check->only, names[i]) == 0)
            return AGB_OK;
    }
    const char *near = agb_nearest_name(names, check->only);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "--check: %s: no such kind of check%s%s: verify lists them as it goes",
                    check->only, near ? ": did you mean " : "", near ? near : "");
}

static int verify(const agb_options *options, agb_error *err)
{
    const agb_words *words = &options->plugins;
    agb_plugins opened = {0};
    agb_registry *registry;
    agb_status status = agb_registry_create(&registry, err);
    agb_verify check = {.registry = registry, .plugins = &opened, .params = "", .timeout_s = (double)options->timeout_s,
                        .spill_folder = options->spill_folder};
    if (status == AGB_OK)
        status = agb_lineup_check_folder(options->spill_folder, err);
    if (status == AGB_OK && words->n == 0 && !options->operand)
        status = agb_fail(err, AGB_ERR_ARGUMENT,
                          "verify: NAME is missing: name an aggregator, or give --plugin FILE.so");
    if (status == AGB_OK)
        status = open_plugins(&opened, registry, words, &check, err);
    if (status == AGB_OK && options->operand)
        status = find(registry, options->operand, &check, err);
    char save[280];
    agb_sample rows = {0};
    if (status == AGB_OK)
        status = set_input(&check, options, save, sizeof save, err);
    if (status == AGB_OK && check.input)
        status = agb_verify_load_input(&check, &rows, err);
    check.rows = check.input ? &rows : NULL;
    if (status == AGB_OK)
        status = check_only(&check, options, err);
    int code = agb_exit_of(status);
    agb_older_children older;
    agb_strays_adopt(&older);
    if (status == AGB_OK)
        code = verify_all(stdout, &check, words) == 0 ? AGB_EXIT_FINE : AGB_EXIT_FAILED;
    agb_strays_end(&older);
    agb_sample_release(&rows);
    agb_registry_destroy(registry);
    agb_plugins_release(&opened);
    return code;
}

static void defaults(agb_options *options)
{
    options->timeout_s = 60;
}

static const char *const verify_options[] = {"plugin", "check", "input", "group-by", "save", "timeout", "spill-folder",
                                             NULL};

const agb_command agb_command_verify = {
    .name = "verify", .operand = "NAME[:p=v...]",
    .summary = "one aggregator against the right answers, and when memory runs out",
    .about = "Runs an aggregator, built in or a plug-in, over key shapes, batch sizes, hashes, workers, budgets\n"
             "and refused allocations, each kind in a process of its own, and compares every answer with one\n"
             "found by sorting. The first input that fails is made as small as it can be while it still fails,\n"
             "shown, and saved; --input tries it again.",
    .example = "aggbench verify --plugin ./mine.so",
    .interrupted = "the checks that are not listed were not made: run it again",
    .options = verify_options, .defaults = defaults, .run = verify};
