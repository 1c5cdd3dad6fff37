/* SPDX-License-Identifier: MIT */
/* Holds one aggregator to the contract: see verify.h. Each kind of check runs in a child process, which leaves word of
 * the case and phase it is in, so that a crash can be told with its place. */
#include "verify.h"

#include "key_shapes.h"
#include "process.h"
#include "reference.h"
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROWS = 50000, FEW_ROWS = 3000, MOST_ALLOCATIONS = 2000 };

/* Written by the child, read by the parent after its end. */
typedef struct place {
    char what[256];
    int32_t phase;
    uint64_t cases;
} place;

typedef struct session {
    const agb_verify *verify;
    const agb_verify_kind *kind;
    place *place;
    agb_error error;
    bool skipped;
} session;

struct agb_verify_kind {
    const char *name, *about;
    bool (*run)(session *self);    /* false: self->error says why, or self->skipped */
};

/* One run of the aggregator. Zero is the default of every field. */
typedef struct trial {
    const agb_sample *sample;
    agb_key_kind kind;       /* of a sample that is made of a shape */
    size_t batch_rows;
    const char *hash;
    unsigned workers;
    agb_memory_options limits;
    agb_memory *memory;      /* used instead of one by `limits` */
    bool may_refuse;         /* running out of memory is a right answer, too */
    bool refused;            /* out: it was given */
    uint64_t peak, allocations;    /* out */
    agb_key_layout *layout;  /* of the running trial's table */
} trial;

/* ---- One run and its judgement ----------------------------------------------------------------------------------- */

static bool fail(session *self, const char *why)
{
    agb_fail(&self->error, AGB_ERR_CONTRACT, "%s: %s", self->place->what, why);
    return false;
}

static void note_phase(void *context, unsigned worker, unsigned phase)
{
    if (worker == 0)
        ((session *)context)->place->phase = (int32_t)phase;
}

static bool compare(session *self, const trial *trial, const agb_sink *sink)
{
    const agb_sample *sample = trial->sample;
    agb_reference right = {.groups = sample->groups, .n = sample->n_groups, .kind = sample->kind};
    agb_stats stats = {0};
    size_t n;
    agb_group *mine = agb_sorted_groups(sink, &n);
    bool same = mine && n == sample->n_groups;
    for (size_t i = 0; same && i < n; i++)
        same = agb_same_group(sample->kind, &mine[i], &sample->groups[i]);
    free(mine);
    if (same)
        return true;
    agb_error why = {0};
    agb_reference_explain(&right, sink, &stats, trial->layout, &why);
    return fail(self, why.text);
}

static bool judge(session *self, trial *trial, agb_status status, const agb_sink *sink, const agb_error *why)
{
    bool out_of_memory = status == AGB_ERR_MEMORY || status == AGB_ERR_BUDGET;
    trial->refused = out_of_memory;
    if (status == AGB_OK)
        return compare(self, trial, sink);
    if (out_of_memory && trial->may_refuse)
        return true;
    return fail(self, why->text);
}

static bool run_with(session *self, trial *trial, agb_pool *pool, agb_memory *memory)
{
    agb_error why = {0};
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    const agb_sample *sample = trial->sample;
    agb_observer observer = {.context = self, .phase = note_phase};
    agb_plan plan = {.weights = sample->weights, .aggregator = self->verify->aggregator,
                     .params = self->verify->params, .batch_rows = trial->batch_rows, .hash = trial->hash,
                     .pool = pool, .memory = memory, .observer = &observer,
                     .spill_folder = self->verify->spill_folder};
    bool good = agb_sink_collect(&sink, &why) == AGB_OK &&
                agb_sample_lend(sample, &table, &plan.column, &why) == AGB_OK &&
                agb_key_layout_create(&trial->layout, table, plan.column, &why) == AGB_OK;
    if (good) {
        self->place->cases++;
        self->place->phase = -1;
        plan.table = table;
        agb_status status = agb_count_groups(&plan, sink, NULL, &why);
        agb_memory_usage usage = agb_memory_usage_of(memory);
        trial->peak = usage.peak;
        trial->allocations = usage.allocations;
        good = judge(self, trial, status, sink, &why);
        if (good && usage.live != 0)
            good = fail(self, "memory was left unreleased");
    } else {
        fail(self, why.text);
    }
    agb_sink_destroy(sink);
    agb_key_layout_destroy(trial->layout);
    agb_table_destroy(table);
    return good;
}

/* The case's name, for the report of a failure or a crash, must have been set. */
static bool try(session *self, trial *trial)
{
    agb_error why = {0};
    agb_pool *pool = NULL;
    agb_memory *memory = NULL;
    bool ready = agb_pool_create(&pool, trial->workers ? trial->workers : 1, NULL, &why) == AGB_OK &&
                 (trial->memory || agb_memory_create(&memory, &trial->limits, &why) == AGB_OK);
    bool good = ready ? run_with(self, trial, pool, trial->memory ? trial->memory : memory) : fail(self, why.text);
    agb_memory_destroy(memory);
    agb_pool_destroy(pool);
    return good;
}

__attribute__((format(printf, 2, 3))) static void name_case(session *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->place->what, sizeof self->place->what, format, arguments);
    va_end(arguments);
}

/* Makes a sample of a shape and tries it; the trial's other fields are the caller's. */
static bool try_shape(session *self, const agb_shape *shape, size_t rows, bool weighted, trial trial)
{
    agb_sample sample;
    bool good = agb_sample_of_shape(&sample, shape, trial.kind, rows, weighted, &self->error) == AGB_OK;
    trial.sample = &sample;
    good = good && try(self, &trial);
    agb_sample_release(&sample);
    return good;
}

static bool skip(session *self, const char *why)
{
    self->skipped = true;
    agb_fail(&self->error, AGB_OK, "%s", why);
    return false;
}

static const agb_shape *shape_named(const char *name)
{
    const agb_shape *shape = agb_shapes;
    while (shape->name && strcmp(shape->name, name) != 0)
        shape++;
    return shape;
}

/* ---- The kinds --------------------------------------------------------------------------------------------------- */

static bool check_shapes(session *self)
{
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        name_case(self, "%s, %d rows", shape->name, ROWS);
        if (!try_shape(self, shape, ROWS, false, (trial){0}))
            return false;
    }
    return true;
}

static agb_text words_of(uint64_t key)
{
    agb_text text;
    snprintf(text.s, sizeof text.s, "%" PRId64, (int64_t)key);
    return text;
}

static bool check_single_keys(session *self)
{
    static const size_t copies[] = {1, 1000};
    for (size_t i = 0; i < agb_edge_key_count; i++) {
        for (size_t k = 0; k < sizeof copies / sizeof copies[0]; k++) {
            name_case(self, "%zu times the key %s", copies[k], words_of(agb_edge_keys[i]).s);
            agb_sample sample;
            bool good = agb_sample_of_key(&sample, agb_edge_keys[i], copies[k], &self->error) == AGB_OK &&
                        try(self, &(trial){.sample = &sample});
            agb_sample_release(&sample);
            if (!good)
                return false;
        }
    }
    return true;
}

static bool check_generated(session *self)
{
    static const char *const sources[] = {"synth:hits,rows=200000",
                                          "synth:hits,rows=200000,order=shuffled",
                                          "synth:uniform,rows=100000,groups=30000",
                                          "synth:zipf,rows=100000,groups=50000",
                                          "synth:runs,rows=100000",
                                          "synth:same,rows=1000"};
    static const char *const columns[] = {"UserID"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        name_case(self, "%s", sources[i]);
        agb_table *table;
        if (agb_table_load(&table, self->verify->registry, sources[i], columns, 1, NULL, &self->error) != AGB_OK)
            return false;
        agb_sample sample;
        bool good = agb_sample_of_table(&sample, table, columns[0], &self->error) == AGB_OK &&
                    try(self, &(trial){.sample = &sample});
        agb_sample_release(&sample);
        agb_table_destroy(table);
        if (!good)
            return false;
    }
    return true;
}

static bool check_batches(session *self)
{
    static const size_t rows[] = {0, 1, 2, 63, 64, 65, 4097}, batches[] = {1, 7, 64, 1000, 65536};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < sizeof batches / sizeof batches[0]; k++) {
            name_case(self, "%zu rows in batches of %zu", rows[i], batches[k]);
            if (!try_shape(self, shape_named("edge keys among others"), rows[i], false,
                           (trial){.batch_rows = batches[k]}))
                return false;
        }
    }
    return true;
}

/* With a constant hash everything collides: few groups, or it takes for ever. */
static bool check_hashes(session *self)
{
    static const char *const few[] = {"few groups", "edge keys", "all equal"};
    for (const char *const *hash = agb_hash_names(); *hash; hash++) {
        bool constant = strcmp(*hash, "constant") == 0;
        for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
            name_case(self, "hash %s, %s", *hash, few[i]);
            if (!try_shape(self, shape_named(few[i]), FEW_ROWS, false, (trial){.hash = *hash}))
                return false;
        }
        name_case(self, "hash %s, all distinct", *hash);
        if (!try_shape(self, shape_named("all distinct"), constant ? 200 : FEW_ROWS, false, (trial){.hash = *hash}))
            return false;
    }
    return true;
}

static bool check_weights(session *self)
{
    if (!(self->verify->aggregator->traits & AGB_TAKES_WEIGHTS))
        return skip(self, "it does not take weights");
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        name_case(self, "%s with weights up to 2^44", shape->name);
        if (!try_shape(self, shape, ROWS / 5, true, (trial){0}))
            return false;
    }
    return true;
}

static bool check_workers(session *self)
{
    if (!(self->verify->aggregator->traits & AGB_PARALLEL))
        return skip(self, "it runs on one worker only");
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        for (unsigned workers = 1; workers <= 3; workers++) {
            name_case(self, "%s on %u workers", shape->name, workers);
            if (!try_shape(self, shape, ROWS, false, (trial){.workers = workers, .batch_rows = 1000}))
                return false;
        }
    }
    return true;
}

/* Memory that earlier runs have used is handed out again with what they left in it. */
static bool check_used_memory(session *self)
{
    agb_memory *memory;
    agb_memory_options warm = {.mode = AGB_MEMORY_WARM};
    if (agb_memory_create(&memory, &warm, &self->error) != AGB_OK)
        return false;
    bool good = true;
    for (int round = 0; round < 2 && good; round++) {
        for (const agb_shape *shape = agb_shapes; shape->name && good; shape++) {
            name_case(self, "%s in memory used before", shape->name);
            good = try_shape(self, shape, ROWS / 2, false, (trial){.memory = memory});
        }
    }
    agb_memory_destroy(memory);
    return good;
}

static bool check_guarded(session *self)
{
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        name_case(self, "%s in guarded memory", shape->name);
        if (!try_shape(self, shape, ROWS / 5, false, (trial){.limits = {.guarded = true}}))
            return false;
    }
    return true;
}

static bool check_budgets_of(session *self, agb_key_kind kind)
{
    agb_sample sample;
    name_case(self, "no budget");
    bool good = agb_sample_of_shape(&sample, shape_named("random words"), kind, ROWS, false, &self->error) == AGB_OK;
    trial free_run = {.sample = &sample};
    good = good && try(self, &free_run);
    for (uint64_t budget = free_run.peak; good && budget > 0; budget = budget * 7 / 10) {
        name_case(self, "budget of %s bytes", agb_text_count(budget).s);
        good = try(self, &(trial){.sample = &sample, .limits = {.budget = budget}, .may_refuse = true});
    }
    agb_sample_release(&sample);
    return good;
}

static bool check_failures_of(session *self, agb_key_kind kind)
{
    agb_sample sample;
    name_case(self, "no failure");
    bool good = agb_sample_of_shape(&sample, shape_named("random words"), kind, ROWS, false, &self->error) == AGB_OK;
    trial free_run = {.sample = &sample};
    good = good && try(self, &free_run);
    uint64_t last = free_run.allocations < MOST_ALLOCATIONS ? free_run.allocations : MOST_ALLOCATIONS;
    /* Every one of the first and last hundred, and a spread of those between. */
    uint64_t step = last > 400 ? last / 200 : 1;
    for (uint64_t n = 1; good && n <= last + 1; n += n > 100 && n + 100 < last ? step : 1) {
        name_case(self, "allocation %" PRIu64 " refused", n);
        good = try(self, &(trial){.sample = &sample, .limits = {.fail_at = n}, .may_refuse = true});
    }
    agb_sample_release(&sample);
    return good;
}

static bool check_budgets(session *self)
{
    return check_budgets_of(self, AGB_KEYS_WORD);
}

static bool check_failures(session *self)
{
    return check_failures_of(self, AGB_KEYS_WORD);
}

/* All of the above once more, with fewer cases, for keys that do not fit a word. */
static bool check_wide(session *self, agb_key_kind kind)
{
    unsigned traits = self->verify->aggregator->traits;
    const char *refusal = agb_key_kind_refusal(self->verify->aggregator, kind);
    if (refusal)
        return skip(self, refusal);
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        name_case(self, "%s", shape->name);
        if (!try_shape(self, shape, FEW_ROWS, false, (trial){.kind = kind, .batch_rows = 1000}))
            return false;
        name_case(self, "%s in guarded memory, on several workers", shape->name);
        if (!try_shape(self, shape, FEW_ROWS, false, (trial){.kind = kind, .batch_rows = 7, .workers = 3,
                                                             .limits = {.guarded = true}}))
            return false;
        name_case(self, "%s with weights", shape->name);
        if ((traits & AGB_TAKES_WEIGHTS) && !try_shape(self, shape, FEW_ROWS, true, (trial){.kind = kind}))
            return false;
        name_case(self, "%s, all with the same hash", shape->name);
        if (!try_shape(self, shape, 200, false, (trial){.kind = kind, .hash = "constant"}))
            return false;
    }
    return check_budgets_of(self, kind) && check_failures_of(self, kind);
}

static bool check_pairs(session *self)
{
    return check_wide(self, AGB_KEYS_PAIR);
}

static bool check_strings(session *self)
{
    return check_wide(self, AGB_KEYS_BYTES);
}

static const agb_verify_kind kinds[] = {
    {"key shapes", "hot, sparse, sequential and adversarial keys", check_shapes},
    {"single keys", "0, -1, least, greatest and others, alone in a column", check_single_keys},
    {"generated", "the kinds of rows that runs are measured with", check_generated},
    {"batch sizes", "0 to 4097 rows in batches of 1 to 65536", check_batches},
    {"hashes", "every shared hash, also one that gives all keys the same", check_hashes},
    {"weights", "rows that count more than once, sums beyond 32 bits", check_weights},
    {"workers", "1 to 3 workers", check_workers},
    {"used memory", "blocks that still hold what an earlier run left", check_used_memory},
    {"guarded", "no write past the end of a block", check_guarded},
    {"budgets", "ever smaller budgets: a right answer or a clean refusal", check_budgets},
    {"pairs", "the same with keys of two words", check_pairs},
    {"strings", "the same with strings: empty, long, with NULs, with common beginnings", check_strings},
    {"failures", "each allocation refused once: no crash, no leak", check_failures},
};

const agb_verify_kind *agb_verify_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof kinds[0] ? &kinds[i] : NULL;
}

const char *agb_verify_kind_name(const agb_verify_kind *kind)
{
    return kind->name;
}

const char *agb_verify_kind_about(const agb_verify_kind *kind)
{
    return kind->about;
}

/* ---- The child and its outcome ----------------------------------------------------------------------------------- */

static void run_in_child(void *context, int in, int out)
{
    (void)in;
    session *self = context;
    agb_verify_outcome outcome = {.state = AGB_VERIFY_OK};
    agb_verify real = *self->verify;
    self->verify = &real;
    if (agb_plugins_load(real.plugins, &real.aggregator, &self->error) != AGB_OK)
        outcome.state = AGB_VERIFY_FAILED;
    else if (!self->kind->run(self))
        outcome.state = self->skipped ? AGB_VERIFY_SKIPPED : AGB_VERIFY_FAILED;
    outcome.cases = self->place->cases;
    memcpy(outcome.text, self->error.text, sizeof self->error.text);
    agb_pipe_write(out, &outcome, sizeof outcome);
}

static void tell_end(const session *self, agb_process *process, agb_answer heard, agb_verify_outcome *outcome)
{
    size_t phases = 0;
    const char *const *names = self->verify->aggregator->phases;
    while (names[phases])
        phases++;
    int32_t phase = self->place->phase;
    char how[128];
    agb_process_end(process, heard == AGB_ANSWER_LATE);
    agb_process_describe_end(process, how, sizeof how);
    if (heard == AGB_ANSWER_LATE)
        snprintf(how, sizeof how, "no end after %g s", self->verify->timeout_s);
    self->place->what[sizeof self->place->what - 1] = '\0';
    *outcome = (agb_verify_outcome){.state = AGB_VERIFY_FAILED, .cases = self->place->cases};
    snprintf(outcome->text, sizeof outcome->text, "%s: %s in phase %s", self->place->what, how,
             phase >= 0 && (size_t)phase < phases ? names[phase] : names[0]);
}

agb_verify_outcome agb_verify_run(const agb_verify *verify, const agb_verify_kind *kind)
{
    agb_verify_outcome outcome = {.state = AGB_VERIFY_FAILED};
    session self = {.verify = verify, .kind = kind};
    self.place = mmap(NULL, sizeof *self.place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (self.place == MAP_FAILED) {
        snprintf(outcome.text, sizeof outcome.text, "no memory for a process");
        return outcome;
    }
    agb_process process;
    if (agb_process_start(&process, run_in_child, &self, &self.error) != AGB_OK) {
        snprintf(outcome.text, sizeof outcome.text, "%s", self.error.text);
    } else {
        agb_answer heard = agb_process_hear(&process, &outcome, sizeof outcome, verify->timeout_s);
        if (heard != AGB_ANSWER_WHOLE)
            tell_end(&self, &process, heard, &outcome);
        agb_process_end(&process, true);
    }
    munmap(self.place, sizeof *self.place);
    return outcome;
}
