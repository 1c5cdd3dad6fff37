/* SPDX-License-Identifier: MIT */
/* The engine inside a program of one's own: rows from a stream, and what several threads may share. The threads are
 * worth most under TSan: `make check` runs this there. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROWS = 30000, BATCH = 700, WORKERS = 3 };

_Static_assert(sizeof ((agb_group *)0)->count == 8 && sizeof *((agb_block *)0)->counts == 8 &&
               sizeof *((agb_batch *)0)->weights == 8, "counts have 64 bits from the row to the result");

typedef struct fixture {
    agb_registry *registry;
    agb_pool *pool;
    uint64_t words[2 * ROWS], weights[ROWS];    /* words: also pairs */
    agb_bytes bytes[ROWS];
    char text[ROWS][8];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_ok(agb_registry_create(&f->registry, err));
    assert_ok(agb_pool_create(&f->pool, WORKERS, NULL, err));
    for (size_t i = 0; i < 2 * ROWS; i++)
        f->words[i] = i * i % 1009 * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < ROWS; i++) {
        f->weights[i] = i % 7 + 1;
        int length = snprintf(f->text[i], sizeof f->text[i], "k%zu", i * i % 503);
        f->bytes[i] = (agb_bytes){(unsigned char *)f->text[i], (size_t)length};
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_pool_destroy(f->pool);
    agb_registry_destroy(f->registry);
    free(f);
    return 0;
}

/* ---- Streams ---- */

typedef struct feed {    /* hands out the fixture's rows, from several threads if need be */
    fixture *f;
    agb_key_kind kind;
    bool weighted;
    atomic_size_t next;
    size_t stop_at;      /* from this row on it fails; 0 = never */
    agb_status failure;
    bool forgets_keys;
} feed;

static agb_status feed_next(void *context, unsigned worker, agb_batch *batch)
{
    feed *self = context;
    assert_true(worker < WORKERS);
    size_t from = atomic_fetch_add(&self->next, BATCH);
    if (self->stop_at && from >= self->stop_at)
        return self->failure;
    if (from >= ROWS)
        return AGB_OK;
    batch->rows = ROWS - from < BATCH ? ROWS - from : BATCH;
    if (self->forgets_keys)
        return AGB_OK;
    if (self->kind == AGB_KEYS_BYTES)
        batch->bytes = self->f->bytes + from;
    else
        batch->keys = self->f->words + (self->kind == AGB_KEYS_PAIR ? 2 * from : from);
    batch->weights = self->weighted ? self->f->weights + from : NULL;
    return AGB_OK;
}

static agb_digest count_stream(feed *feed, const char *aggregator, agb_pool *pool)
{
    agb_stream stream = {.kind = feed->kind, .weighted = feed->weighted, .rows = ROWS, .context = feed,
                         .next = feed_next};
    agb_plan plan = {.stream = &stream, .pool = pool,
                     .aggregator = agb_registry_find_aggregator(feed->f->registry, aggregator)};
    agb_sink *sink;
    agb_stats stats;
    assert_ok(agb_sink_checksum(&sink, err));
    assert_ok(agb_count_groups(&plan, sink, &stats, err));
    assert_int_equal(stats.rows, ROWS);
    assert_int_equal(stats.kind, feed->kind);
    agb_digest digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    return digest;
}

static agb_digest count_table(const fixture *f, const char *name, agb_type type, const void *values,
                              const uint64_t *weights)
{
    agb_table *table;
    agb_sink *sink;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, name, type, values, ROWS, err));
    assert_ok(agb_sink_checksum(&sink, err));
    agb_plan plan = {.table = table, .column = name, .weights = weights,
                     .aggregator = agb_registry_find_aggregator(f->registry, "sort")};
    assert_ok(agb_count_groups(&plan, sink, NULL, err));
    agb_digest digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    return digest;
}

static void assert_same(agb_digest a, agb_digest b)
{
    assert_int_equal(a.groups, b.groups);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.max_count, b.max_count);
    assert_int_equal(a.checksum, b.checksum);
}

static void a_stream_gives_what_a_table_gives(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"naive", "radix", "sort"};
    agb_digest words = count_table(f, "w", AGB_TYPE_UINT64, f->words, NULL);
    agb_digest weighted = count_table(f, "w", AGB_TYPE_UINT64, f->words, f->weights);
    agb_digest strings = count_table(f, "s", AGB_TYPE_BYTES, f->bytes, NULL);
    for (size_t i = 0; i < 3; i++) {
        for (int parallel = 0; parallel < 2; parallel++) {
            agb_pool *pool = parallel ? f->pool : NULL;
            assert_same(count_stream(&(feed){.f = f}, names[i], pool), words);
            assert_same(count_stream(&(feed){.f = f, .weighted = true}, names[i], pool), weighted);
            assert_same(count_stream(&(feed){.f = f, .kind = AGB_KEYS_BYTES}, names[i], pool), strings);
        }
        assert_same(count_stream(&(feed){.f = f, .kind = AGB_KEYS_PAIR}, names[i], f->pool),
                    count_stream(&(feed){.f = f, .kind = AGB_KEYS_PAIR}, names[(i + 1) % 3], NULL));
    }
}

/* Two partial counts of 3,000,000,000 are 6,000,000,000, not what is left of them in 32 bits. */
static void partial_counts_past_32_bits_are_merged_exactly(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ROWS; i++) {
        f->words[i] = 7;
        f->weights[i] = i < 2 ? UINT64_C(3000000000) : 1;
    }
    agb_digest digest = count_stream(&(feed){.f = f, .weighted = true}, "radix", f->pool);
    assert_int_equal(digest.groups, 1);
    assert_int_equal(digest.max_count, UINT64_C(6000000000) + ROWS - 2);
}

static void what_is_wrong_with_a_stream_is_said(void **state)
{
    fixture *f = *state;
    agb_sink *sink;
    assert_ok(agb_sink_checksum(&sink, err));
    feed feed = {.f = f, .stop_at = 10000, .failure = AGB_ERR_IO};
    agb_stream stream = {.context = &feed, .next = feed_next};
    agb_plan plan = {.stream = &stream, .aggregator = agb_registry_find_aggregator(f->registry, "naive")};
    assert_fails(AGB_ERR_IO, "plan: stream|input/output", agb_count_groups(&plan, sink, NULL, err));
    feed.failure = (agb_status)77;
    assert_fails(AGB_ERR_ARGUMENT, "plan: stream", agb_count_groups(&plan, sink, NULL, err));
    feed.next = feed.stop_at = 0;
    feed.forgets_keys = true;
    assert_fails(AGB_ERR_ARGUMENT, "plan: stream|no keys", agb_count_groups(&plan, sink, NULL, err));
    feed.forgets_keys = false;
    feed.next = 0;
    feed.weighted = true;
    assert_fails(AGB_ERR_ARGUMENT, "plan: stream|weights", agb_count_groups(&plan, sink, NULL, err));
    plan.column = "w";
    assert_fails(AGB_ERR_ARGUMENT, "plan: stream|column", agb_count_groups(&plan, sink, NULL, err));
    plan.column = NULL;
    stream.next = NULL;
    assert_fails(AGB_ERR_ARGUMENT, "plan: stream|next", agb_count_groups(&plan, sink, NULL, err));
    stream = (agb_stream){.kind = AGB_KEYS_BYTES, .context = &feed, .next = feed_next};
    plan.aggregator = agb_registry_find_aggregator(f->registry, "swiss");
    assert_fails(AGB_ERR_UNSUPPORTED, "swiss|string", agb_count_groups(&plan, sink, NULL, err));
    agb_sink_destroy(sink);
}

static void equal_counts_of_strings_are_ordered_by_their_bytes(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ROWS; i++)    /* each of 1000 strings 30 times, from large to small */
        f->bytes[i].length = (size_t)snprintf(f->text[i], sizeof f->text[i], "%03zu", 999 - i % 1000);
    feed feed = {.f = f, .kind = AGB_KEYS_BYTES};
    agb_stream stream = {.kind = AGB_KEYS_BYTES, .context = &feed, .next = feed_next};
    agb_plan plan = {.stream = &stream, .aggregator = agb_registry_find_aggregator(f->registry, "naive")};
    agb_sink *sink;
    agb_group top[5];
    assert_ok(agb_sink_top(&sink, 5, NULL, err));
    assert_ok(agb_count_groups(&plan, sink, NULL, err));
    assert_int_equal(agb_sink_top_groups(sink, top, 5, NULL), 5);
    for (size_t i = 0; i < 5; i++) {
        char want[8];
        snprintf(want, sizeof want, "%03zu", i);
        assert_int_equal(top[i].key.bytes.length, 3);
        assert_memory_equal(top[i].key.bytes.data, want, 3);
    }
    agb_sink_destroy(sink);
}

/* ---- Threads ---- */

typedef struct counter {    /* one thread's own: sink, pool; shared: registry, table, filter, plan's texts */
    const agb_registry *registry;
    const agb_table *table;
    const agb_filter *filter;
    const char *aggregator;
    agb_status status;
    agb_digest digest;
} counter;

static void *count_in_thread(void *argument)
{
    counter *self = argument;
    agb_sink *sink = NULL;
    agb_pool *pool = NULL;
    self->status = agb_sink_checksum(&sink, NULL);
    if (self->status == AGB_OK)
        self->status = agb_pool_create(&pool, 2, NULL, NULL);
    agb_plan plan = {.table = self->table, .column = "w", .filter = self->filter, .pool = pool,
                     .aggregator = agb_registry_find_aggregator(self->registry, self->aggregator)};
    for (int round = 0; round < 3 && self->status == AGB_OK; round++)
        self->status = agb_count_groups(&plan, sink, NULL, NULL);
    self->digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    agb_pool_destroy(pool);
    return NULL;
}

static void runs_in_several_threads_share_table_registry_and_filter(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"naive", "radix", "radix", "local_merge"};
    enum { THREADS = sizeof names / sizeof *names };
    agb_table *table;
    agb_filter *filter;
    pthread_t thread[THREADS];
    counter counters[THREADS];
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "w", AGB_TYPE_UINT64, f->words, ROWS, err));
    assert_ok(agb_filter_parse(&filter, "w <> 0", err));
    for (size_t i = 0; i < THREADS; i++) {
        counters[i] = (counter){.registry = f->registry, .table = table, .filter = filter, .aggregator = names[i]};
        assert_int_equal(pthread_create(&thread[i], NULL, count_in_thread, &counters[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(counters[i].status, AGB_OK);
        assert_same(counters[i].digest, counters[0].digest);
    }
    assert_true(counters[0].digest.rows > 0 && counters[0].digest.rows < ROWS);
    agb_filter_destroy(filter);
    agb_table_destroy(table);
}

/* ---- An aggregator that names a worker that there is not ---- */

enum service { PHASE, EMIT_BEGIN, EMIT_END, EMIT_BYTES, SERVICES };

typedef struct stranger {
    agb_host *host;
    enum service calls;
} stranger;

static agb_status stranger_create(agb_host *host, const agb_config *config, void **out)
{
    stranger *self = agb_alloc(host, sizeof *self, 0);
    *self = (stranger){host, (enum service)config->params[0]};
    *out = self;
    return AGB_OK;
}

static agb_status stranger_consume(void *self, unsigned worker, const agb_batch *batch)
{
    (void)self;
    (void)worker;
    (void)batch;
    return AGB_OK;
}

static agb_status stranger_finish(void *state)
{
    stranger *self = state;
    const unsigned nobody = 1u << 30;    /* memory of others, or none */
    uint64_t *keys, *counts, one = 1;
    switch (self->calls) {
    case PHASE:
        agb_phase(self->host, nobody, 0);
        return AGB_OK;
    case EMIT_BEGIN:
        return agb_emit_begin(self->host, nobody, 1, &keys, &counts);
    case EMIT_END:
        return agb_emit_end(self->host, nobody, 0);
    default:
        return agb_emit_bytes(self->host, nobody, &(agb_bytes){0}, &one, 1);
    }
}

static void stranger_destroy(void *state)
{
    agb_release(((stranger *)state)->host, state, sizeof(stranger));
}

static void a_worker_that_there_is_not_breaks_the_contract(void **state)
{
    fixture *f = *state;
    static const char *const phases[] = {"count", NULL};
    static const agb_param params[] = {{"calls", 0, 0, SERVICES, "which service"}, {0}};
    const agb_aggregator faulty = {
        .abi = AGB_AGGREGATOR_ABI, .size = sizeof(agb_aggregator), .name = "stranger", .phases = phases,
        .params = params, .traits = AGB_TAKES_WORDS | AGB_TAKES_BYTES, .create = stranger_create,
        .consume = stranger_consume, .finish = stranger_finish, .destroy = stranger_destroy};
    for (int calls = 0; calls < SERVICES; calls++) {
        char text[16];
        agb_sink *sink;
        feed feed = {.f = f, .kind = calls == EMIT_BYTES ? AGB_KEYS_BYTES : AGB_KEYS_WORD};
        agb_stream stream = {.kind = feed.kind, .context = &feed, .next = feed_next};
        snprintf(text, sizeof text, "calls=%d", calls);
        agb_plan plan = {.stream = &stream, .aggregator = &faulty, .params = text};
        assert_ok(agb_sink_checksum(&sink, err));
        assert_fails(AGB_ERR_CONTRACT, "stranger: contract broken|a worker that there is not",
                     agb_count_groups(&plan, sink, NULL, err));
        agb_sink_destroy(sink);
    }
}

static void the_library_says_its_version(void **state)
{
    (void)state;
    assert_string_equal(agb_version(), AGB_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_gives_what_a_table_gives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partial_counts_past_32_bits_are_merged_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_with_a_stream_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_counts_of_strings_are_ordered_by_their_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_in_several_threads_share_table_registry_and_filter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_there_is_not_breaks_the_contract, set_up, tear_down),
        cmocka_unit_test(the_library_says_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
