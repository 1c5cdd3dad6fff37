/* SPDX-License-Identifier: MIT */
/* What verify tries: see verify_parts.h. Each kind of check is a function that goes over its cases. */
#include "verify_parts.h"

#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 50000, FEW_ROWS = 3000, MOST_ALLOCATIONS = 2000, FEW_ALLOCATIONS = 200 };

static bool skip(agb_verify_session *self, const char *why)
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

static bool check_shapes(agb_verify_session *self)
{
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        agb_name_case(self, "%s, %d rows", shape->name, ROWS);
        if (!agb_try_shape(self, shape, ROWS, false, (agb_trial){0}))
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

static bool check_single_keys(agb_verify_session *self)
{
    static const size_t copies[] = {1, 1000};
    for (size_t i = 0; i < agb_edge_key_count; i++) {
        for (size_t k = 0; k < sizeof copies / sizeof copies[0]; k++) {
            agb_name_case(self, "%zu times the key %s", copies[k], words_of(agb_edge_keys[i]).s);
            agb_sample sample;
            bool good = agb_sample_of_key(&sample, agb_edge_keys[i], copies[k], &self->error) == AGB_OK &&
                        agb_try(self, &(agb_trial){.sample = &sample});
            agb_sample_release(&sample);
            if (!good)
                return false;
        }
    }
    return true;
}

static bool check_generated(agb_verify_session *self)
{
    static const char *const sources[] = {"synth:hits,rows=200000",
                                          "synth:hits,rows=200000,order=shuffled",
                                          "synth:uniform,rows=100000,groups=30000",
                                          "synth:zipf,rows=100000,groups=50000",
                                          "synth:runs,rows=100000",
                                          "synth:same,rows=1000"};
    static const char *const columns[] = {"UserID"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        agb_name_case(self, "%s", sources[i]);
        agb_table *table;
        if (agb_table_load(&table, self->verify->registry, sources[i], columns, 1, NULL, &self->error) != AGB_OK)
            return false;
        agb_sample sample;
        bool good = agb_sample_of_table(&sample, table, columns[0], NULL, NULL, &self->error) == AGB_OK &&
                    agb_try(self, &(agb_trial){.sample = &sample});
        agb_sample_release(&sample);
        agb_table_destroy(table);
        if (!good)
            return false;
    }
    return true;
}

static bool check_batches(agb_verify_session *self)
{
    static const size_t rows[] = {0, 1, 2, 63, 64, 65, 4097}, batches[] = {1, 7, 64, 1000, 65536};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < sizeof batches / sizeof batches[0]; k++) {
            agb_name_case(self, "%zu rows in batches of %zu", rows[i], batches[k]);
            if (!agb_try_shape(self, shape_named("edge keys among others"), rows[i], false,
                           (agb_trial){.setup.batch_rows = batches[k]}))
                return false;
        }
    }
    return true;
}

static agb_trial hashed(const char *hash)
{
    agb_trial trial = {0};
    snprintf(trial.setup.hash, sizeof trial.setup.hash, "%s", hash);
    return trial;
}

/* With a constant hash everything collides: few groups, or it takes for ever. */
static bool check_hashes(agb_verify_session *self)
{
    static const char *const few[] = {"few groups", "edge keys", "all equal"};
    for (const char *const *hash = agb_hash_names(); *hash; hash++) {
        bool constant = strcmp(*hash, "constant") == 0;
        for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
            agb_name_case(self, "hash %s, %s", *hash, few[i]);
            if (!agb_try_shape(self, shape_named(few[i]), FEW_ROWS, false, hashed(*hash)))
                return false;
        }
        agb_name_case(self, "hash %s, all distinct", *hash);
        if (!agb_try_shape(self, shape_named("all distinct"), constant ? 200 : FEW_ROWS, false, hashed(*hash)))
            return false;
    }
    return true;
}

/* Two partial counts of one key, as merging them would give: 6,000,000,000 must not come out modulo 2^32. */
static bool check_large_counts(agb_verify_session *self)
{
    agb_sample sample;
    agb_name_case(self, "one key in two rows of 3,000,000,000 each");
    bool good = agb_sample_of_shape(&sample, shape_named("all equal"), AGB_KEYS_WORD, 2, true, &self->error) == AGB_OK;
    if (good) {
        sample.weights[0] = sample.weights[1] = 3000000000;
        good = agb_sample_narrow(&sample, AGB_TYPE_INT64, &self->error) == AGB_OK &&
               agb_try(self, &(agb_trial){.sample = &sample});
    }
    agb_sample_release(&sample);
    return good;
}

static bool check_weights(agb_verify_session *self)
{
    if (!(self->verify->aggregator->traits & AGB_TAKES_WEIGHTS))
        return skip(self, "it does not take weights");
    if (!check_large_counts(self))
        return false;
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        agb_name_case(self, "%s with weights up to 2^44", shape->name);
        if (!agb_try_shape(self, shape, ROWS / 5, true, (agb_trial){0}))
            return false;
    }
    return true;
}

static bool check_workers(agb_verify_session *self)
{
    if (!(self->verify->aggregator->traits & AGB_PARALLEL))
        return skip(self, "it runs on one worker only");
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        for (unsigned workers = 1; workers <= 3; workers++) {
            agb_name_case(self, "%s on %u workers", shape->name, workers);
            if (!agb_try_shape(self, shape, ROWS, false,
                               (agb_trial){.setup = {.workers = workers, .batch_rows = 1000}}))
                return false;
        }
    }
    return true;
}

/* Memory that earlier runs have used is handed out again with what they left in it. */
static bool check_used_memory(agb_verify_session *self)
{
    agb_memory *memory;
    agb_memory_options warm = {.mode = AGB_MEMORY_WARM};
    if (agb_memory_create(&memory, &warm, &self->error) != AGB_OK)
        return false;
    bool good = true;
    for (int round = 0; round < 2 && good; round++) {
        for (const agb_shape *shape = agb_shapes; shape->name && good; shape++) {
            agb_name_case(self, "%s in memory used before", shape->name);
            good = agb_try_shape(self, shape, ROWS / 2, false, (agb_trial){.memory = memory, .setup.again = true});
        }
    }
    agb_memory_destroy(memory);
    return good;
}

static bool check_guarded(agb_verify_session *self)
{
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        agb_name_case(self, "%s in guarded memory", shape->name);
        if (!agb_try_shape(self, shape, ROWS / 5, false, (agb_trial){.setup.guarded = true}))
            return false;
    }
    return true;
}

static bool check_budgets_of(agb_verify_session *self, agb_key_kind kind)
{
    agb_sample sample;
    agb_name_case(self, "no budget");
    bool good = agb_sample_of_shape(&sample, shape_named("random words"), kind, ROWS, false, &self->error) == AGB_OK;
    agb_trial free_run = {.sample = &sample};
    good = good && agb_try(self, &free_run);
    for (uint64_t budget = free_run.peak; good && budget > 0; budget = budget * 7 / 10) {
        agb_name_case(self, "budget of %s bytes", agb_text_count(budget).s);
        good = agb_try(self, &(agb_trial){.sample = &sample, .setup.budget = budget});
    }
    agb_sample_release(&sample);
    return good;
}

static bool check_failures_of(agb_verify_session *self, agb_key_kind kind)
{
    agb_sample sample;
    agb_name_case(self, "no failure");
    bool good = agb_sample_of_shape(&sample, shape_named("random words"), kind, ROWS, false, &self->error) == AGB_OK;
    agb_trial free_run = {.sample = &sample};
    good = good && agb_try(self, &free_run);
    uint64_t last = free_run.allocations < MOST_ALLOCATIONS ? free_run.allocations : MOST_ALLOCATIONS;
    /* Every one of the first and last hundred, and a spread of those between. */
    uint64_t step = last > 400 ? last / 200 : 1;
    for (uint64_t n = 1; good && n <= last + 1; n += n > 100 && n + 100 < last ? step : 1) {
        agb_name_case(self, "allocation %" PRIu64 " refused", n);
        good = agb_try(self, &(agb_trial){.sample = &sample, .setup.fail_at = n});
    }
    agb_sample_release(&sample);
    return good;
}

static bool check_budgets(agb_verify_session *self)
{
    return check_budgets_of(self, AGB_KEYS_WORD);
}

static bool check_failures(agb_verify_session *self)
{
    return check_failures_of(self, AGB_KEYS_WORD);
}

/* Narrow columns are widened batch by batch. */
static bool check_types(agb_verify_session *self)
{
    static const agb_type types[] = {AGB_TYPE_INT32, AGB_TYPE_UINT32, AGB_TYPE_BOOL, AGB_TYPE_UINT64};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
            agb_name_case(self, "%s as %s", shape->name, agb_type_name(types[i]));
            agb_sample sample;
            agb_trial trial = {.sample = &sample, .setup = {.batch_rows = 1000, .guarded = i % 2}};
            bool good = agb_sample_of_shape(&sample, shape, AGB_KEYS_WORD, FEW_ROWS, false, &self->error) == AGB_OK &&
                        agb_sample_narrow(&sample, types[i], &self->error) == AGB_OK && agb_try(self, &trial);
            agb_sample_release(&sample);
            if (!good)
                return false;
        }
    }
    return true;
}

/* Every setup for one sample: batches, workers, and memory that is plain, guarded, used before, short, or refused at
 * one request in the middle. */
static bool try_setups(agb_verify_session *self, const agb_sample *sample, const char *hash, const char *name)
{
    static const uint64_t batches[] = {1, 7, 1000}, workers[] = {1, 3};
    enum { PLAIN, GUARDED, AGAIN, BUDGET, FAILURE, LIMITS };
    static const char *const limits[] = {"", ", guarded", ", in used memory", ", half of the memory",
                                         ", one allocation refused"};
    unsigned most = self->verify->aggregator->traits & AGB_PARALLEL ? 2 : 1;
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        for (size_t k = 0; k < most; k++) {
            uint64_t peak = 0, allocations = 0;
            for (int limit = PLAIN; limit < LIMITS; limit++) {
                agb_trial trial = hashed(hash);
                trial.sample = sample;
                trial.setup.batch_rows = batches[i];
                trial.setup.workers = workers[k];
                trial.setup.guarded = limit == GUARDED;
                trial.setup.again = limit == AGAIN;
                trial.setup.budget = limit == BUDGET ? peak / 2 + 1 : 0;
                trial.setup.fail_at = limit == FAILURE ? allocations / 2 + 1 : 0;
                agb_name_case(self, "%s, batches of %" PRIu64 ", %" PRIu64 " worker%s%s%s%s", name, batches[i],
                              workers[k], workers[k] == 1 ? "" : "s", *hash ? ", hash " : "", hash, limits[limit]);
                if (!agb_try(self, &trial))
                    return false;
                peak = limit == PLAIN ? trial.peak : peak;
                allocations = limit == PLAIN ? trial.allocations : allocations;
            }
        }
    }
    return true;
}

/* Few rows, but every combination: what goes wrong only when two things come together. */
static bool check_combinations(agb_verify_session *self)
{
    enum { LEAST_ROWS = 300 };
    static const agb_key_kind key_kinds[] = {AGB_KEYS_WORD, AGB_KEYS_PAIR, AGB_KEYS_BYTES};
    static const char *const names[] = {"words", "pairs", "strings"};
    for (size_t i = 0; i < sizeof key_kinds / sizeof key_kinds[0]; i++) {
        if (agb_key_kind_refusal(self->verify->aggregator, key_kinds[i]))
            continue;
        for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
            char name[128];
            agb_sample sample;
            snprintf(name, sizeof name, "%s as %s", shape->name, names[i]);
            bool good = agb_sample_of_shape(&sample, shape, key_kinds[i], LEAST_ROWS, false, &self->error) == AGB_OK &&
                        try_setups(self, &sample, "", name);
            agb_sample_release(&sample);
            if (!good)
                return false;
        }
    }
    return true;
}

/* All of the above once more, with fewer cases, for keys that do not fit a word. */
static bool check_wide(agb_verify_session *self, agb_key_kind kind)
{
    unsigned traits = self->verify->aggregator->traits;
    const char *refusal = agb_key_kind_refusal(self->verify->aggregator, kind);
    if (refusal)
        return skip(self, refusal);
    for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
        agb_name_case(self, "%s", shape->name);
        if (!agb_try_shape(self, shape, FEW_ROWS, false, (agb_trial){.kind = kind, .setup.batch_rows = 1000}))
            return false;
        agb_name_case(self, "%s in guarded memory, on several workers", shape->name);
        if (!agb_try_shape(self, shape, FEW_ROWS, false,
                           (agb_trial){.kind = kind, .setup = {.batch_rows = 7, .workers = 3, .guarded = true}}))
            return false;
        agb_name_case(self, "%s with weights", shape->name);
        if ((traits & AGB_TAKES_WEIGHTS) && !agb_try_shape(self, shape, FEW_ROWS, true, (agb_trial){.kind = kind}))
            return false;
        agb_name_case(self, "%s, all with the same hash", shape->name);
        if (!agb_try_shape(self, shape, 200, false, (agb_trial){.kind = kind, .setup.hash = "constant"}))
            return false;
    }
    return check_budgets_of(self, kind) && check_failures_of(self, kind);
}

static bool check_pairs(agb_verify_session *self)
{
    return check_wide(self, AGB_KEYS_PAIR);
}

static bool check_strings(agb_verify_session *self)
{
    return check_wide(self, AGB_KEYS_BYTES);
}

/* ---- An input of the caller's ------------------------------------------------------------------------------------ */

/* Over ever smaller budgets, and with each allocation refused in turn. */
static bool try_shortages(agb_verify_session *self, const agb_sample *sample)
{
    agb_trial free_run = {.sample = sample};
    agb_name_case(self, "the input");
    bool good = agb_try(self, &free_run);
    for (uint64_t budget = free_run.peak; good && budget > 0; budget = budget * 7 / 10) {
        agb_name_case(self, "the input, budget of %s bytes", agb_text_count(budget).s);
        good = agb_try(self, &(agb_trial){.sample = sample, .setup.budget = budget});
    }
    uint64_t last = free_run.allocations < FEW_ALLOCATIONS ? free_run.allocations : FEW_ALLOCATIONS;
    for (uint64_t n = 1; good && n <= last; n++) {
        agb_name_case(self, "the input, allocation %" PRIu64 " refused", n);
        good = agb_try(self, &(agb_trial){.sample = sample, .setup.fail_at = n});
    }
    return good;
}

/* Of many groups with one hash an honest table makes a list: that takes as long as their square. */
static bool check_input(agb_verify_session *self)
{
    enum { MOST_IN_A_LIST = 2000 };
    const agb_sample *rows = self->verify->rows;
    bool good = true;
    for (const char *const *hash = agb_hash_names(); good && *hash; hash++)
        if (strcmp(*hash, "constant") != 0 || rows->n_groups <= MOST_IN_A_LIST)
            good = try_setups(self, rows, *hash, "the input");
    return good && try_shortages(self, rows);
}

static const agb_verify_kind input_kind = {"input", "the given rows in every setup", check_input};

static const agb_verify_kind kinds[] = {
    {"key shapes", "hot, sparse, sequential and adversarial keys", check_shapes},
    {"single keys", "0, -1, least, greatest and others, alone in a column", check_single_keys},
    {"generated", "the kinds of rows that runs are measured with", check_generated},
    {"batch sizes", "0 to 4097 rows in batches of 1 to 65536", check_batches},
    {"hashes", "every shared hash, also one that gives all keys the same", check_hashes},
    {"weights", "rows that count more than once, sums beyond 32 bits", check_weights},
    {"workers", "1 to 3 workers", check_workers},
    {"used memory", "blocks that still hold what an earlier run left", check_used_memory},
    {"guarded", "no access outside its blocks and its input, no write to the input", check_guarded},
    {"types", "narrow and unsigned columns", check_types},
    {"combinations", "shapes, key kinds, batches, workers and short memory, each with each", check_combinations},
    {"budgets", "ever smaller budgets: a right answer or a clean refusal", check_budgets},
    {"pairs", "the same with keys of two words", check_pairs},
    {"strings", "the same with strings: empty, long, with NULs, with common beginnings", check_strings},
    {"failures", "each allocation refused once: no crash, no leak", check_failures},
};

const agb_verify_kind *agb_verify_kind_at(const agb_verify *verify, size_t i)
{
    if (verify->rows)
        return i == 0 ? &input_kind : NULL;
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
