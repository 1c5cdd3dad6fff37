/* SPDX-License-Identifier: MIT */
/* Names, parameters, descriptors and plug-ins: what is refused, and in which words. */
#include "test.h"

#include "internal.h"

static agb_status nothing_create(agb_host *host, const agb_config *config, void **self)
{
    (void)host;
    (void)config;
    *self = NULL;
    return AGB_OK;
}

static agb_status nothing_consume(void *self, unsigned worker, const agb_batch *batch)
{
    (void)self;
    (void)worker;
    (void)batch;
    return AGB_OK;
}

static agb_status nothing_finish(void *self)
{
    (void)self;
    return AGB_OK;
}

static void nothing_destroy(void *self)
{
    (void)self;
}

static agb_aggregator sound(void)
{
    static const char *const phases[] = {"only", NULL};
    static const agb_param params[] = {{"bits", 12, 1, 16, "log2 of parts"}, {"load", 50, 1, 99, "percent"}, {0}};
    return (agb_aggregator){.abi = AGB_AGGREGATOR_ABI, .size = sizeof(agb_aggregator), .name = "sound",
                            .summary = "does nothing", .phases = phases, .params = params, .traits = AGB_TAKES_WORDS,
                            .create = nothing_create, .consume = nothing_consume, .finish = nothing_finish,
                            .destroy = nothing_destroy};
}

static int set_up(void **state)
{
    assert_ok(agb_registry_create((agb_registry **)state, err));
    return 0;
}

static int tear_down(void **state)
{
    agb_registry_destroy(*state);
    return 0;
}

static void the_built_ins_are_there(void **state)
{
    static const char *const names[] = {"naive", "prefetch", "radix", "sort", "template", NULL};
    for (size_t i = 0; names[i]; i++)
        assert_string_equal(agb_registry_find_aggregator(*state, names[i])->name, names[i]);
    assert_null(agb_registry_find_aggregator(*state, "nonsense"));
}

/* What lies behind the shorter descriptor is not read. */
static void a_descriptor_of_an_older_header_is_taken(void **state)
{
    agb_aggregator old = sound();
    old.size = offsetof(agb_aggregator, need);
    old.need.bytes_per_row = 99;
    assert_ok(agb_registry_add_aggregator(*state, &old, err));
    const agb_aggregator *found = agb_registry_find_aggregator(*state, "sound");
    assert_non_null(found);
    assert_ptr_equal(found->finish, old.finish);
    assert_true(found->need.bytes_per_row == 0);
}

static void unsound_descriptors_are_refused_with_the_reason(void **state)
{
    static const char *const nine[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", NULL};
    static const agb_param upside_down[] = {{"bits", 5, 9, 12, "x"}, {0}};
    agb_aggregator a = sound();
    assert_ok(agb_registry_add_aggregator(*state, &a, err));
    assert_fails(AGB_ERR_ARGUMENT, "sound|already", agb_registry_add_aggregator(*state, &a, err));
    agb_aggregator b = sound();
    b.abi = 99;
    assert_fails(AGB_ERR_PLUGIN, "version 99", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.size = 8;
    assert_fails(AGB_ERR_PLUGIN, "8 bytes", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.size += 64;    /* a later header appended fields: fine, but the name is taken */
    assert_fails(AGB_ERR_ARGUMENT, "already", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.name = "a:b";
    assert_fails(AGB_ERR_PLUGIN, "name", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.finish = NULL;
    assert_fails(AGB_ERR_PLUGIN, "missing", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.phases = nine;
    assert_fails(AGB_ERR_PLUGIN, "phases", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.traits = 0;
    assert_fails(AGB_ERR_PLUGIN, "traits", agb_registry_add_aggregator(*state, &b, err));
    b = sound();
    b.params = upside_down;
    assert_fails(AGB_ERR_PLUGIN, "bits", agb_registry_add_aggregator(*state, &b, err));
}

static void parameters_are_parsed_and_checked(void **state)
{
    (void)state;
    agb_aggregator a = sound();
    int64_t values[AGB_MOST_PARAMS];
    assert_ok(agb_params_parse(&a, NULL, values, err));
    assert_true(values[0] == 12 && values[1] == 50);
    assert_ok(agb_params_parse(&a, "load=7:bits=3", values, err));
    assert_true(values[0] == 3 && values[1] == 7);
    assert_fails(AGB_ERR_ARGUMENT, "bits is given twice", agb_params_parse(&a, "bits=3:load=7:bits=3", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "an empty parameter", agb_params_parse(&a, "bits=3:", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "an empty parameter", agb_params_parse(&a, "bits=3::load=7", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "bits=20|1..16", agb_params_parse(&a, "bits=20", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "1..16", agb_params_parse(&a, "bits=99999999999999999999", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "whole number", agb_params_parse(&a, "bits=1x", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "whole number", agb_params_parse(&a, "bits=", values, err));
    assert_fails(AGB_ERR_ARGUMENT, "whole number", agb_params_parse(&a, "bits", values, err));
    assert_fails(AGB_ERR_NOT_FOUND, "no parameter 'bots'|bits, load", agb_params_parse(&a, "bots=1", values, err));
}

static void near_names_are_suggested_and_far_ones_are_not(void **state)
{
    (void)state;
    static const char *const names[] = {"UserID", "WatchID", "URL", NULL};
    assert_string_equal(agb_nearest_name(names, "userid"), "UserID");
    assert_string_equal(agb_nearest_name(names, "UserId"), "UserID");
    assert_string_equal(agb_nearest_name(names, "WacthID"), "WatchID");
    assert_string_equal(agb_nearest_name((const char *const[]){"naive", NULL}, "navie"), "naive");
    assert_null(agb_nearest_name(names, "Frobnicate"));
    static const char *const short_names[] = {"top", "pin", "x", NULL};
    assert_string_equal(agb_nearest_name(short_names, "tip"), "top");
    assert_string_equal(agb_nearest_name(short_names, "pins"), "pin");
    assert_null(agb_nearest_name(short_names, "foo"));
    assert_null(agb_nearest_name(short_names, "y"));
    assert_null(agb_nearest_name(short_names, ""));
}

static void plugins_are_checked_before_their_code_runs(void **state)
{
    assert_fails(AGB_ERR_NOT_FOUND, "no/such.so", agb_registry_open_plugin(*state, "no/such.so", NULL, err));
    assert_fails(AGB_ERR_PLUGIN, "Makefile", agb_registry_open_plugin(*state, "Makefile", NULL, err));
    char path[512];
    snprintf(path, sizeof path, "%s/plugins/naive.so", getenv("BUILD") ? getenv("BUILD") : "build");
    assert_fails(AGB_ERR_ARGUMENT, "naive|already", agb_registry_open_plugin(*state, path, NULL, err));
}

static const char *plugin_path(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/plugins/%s.so", getenv("BUILD") ? getenv("BUILD") : "build", name);
    return path;
}

/* Its constructor would end this process. */
static void the_version_is_checked_before_anything_is_loaded(void **state)
{
    char path[512], other[600];
    plugin_path(path, sizeof path, "old_and_crashing");
    assert_fails(AGB_ERR_PLUGIN, "version 99|version 1", agb_registry_open_plugin(*state, path, NULL, err));
    snprintf(other, sizeof other, "%s.another.so", path);    /* the same file under a name that it has no symbol for */
    unlink(other);
    assert_int_equal(link(path, other), 0);
    assert_fails(AGB_ERR_PLUGIN, "no symbol agb_aggregator_", agb_registry_open_plugin(*state, other, NULL, err));
    unlink(other);
}

/* Every byte of its headers may be wrong; none may cost more than the plug-in. */
static void a_damaged_file_is_refused_or_left_to_the_system(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 20];
    char path[512];
    FILE *file = fopen(plugin_path(path, sizeof path, "old_and_crashing"), "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t at = 0; at < 64; at++) {
        for (int value = 0; value < 256; value += 255) {
            unsigned char kept = bytes[at];
            bytes[at] = (unsigned char)value;
            char damaged[] = "/tmp/agb_damaged_XXXXXX";
            int fd = mkstemp(damaged);
            assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
            agb_plugin_head head = agb_plugin_head_read(damaged, "agb_aggregator_old_and_crashing");
            if (head.has_numbers)
                assert_int_equal(head.abi, 99);
            close(fd);
            unlink(damaged);
            bytes[at] = kept;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_built_ins_are_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_of_an_older_header_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unsound_descriptors_are_refused_with_the_reason, set_up, tear_down),
        cmocka_unit_test(parameters_are_parsed_and_checked),
        cmocka_unit_test(near_names_are_suggested_and_far_ones_are_not),
        cmocka_unit_test_setup_teardown(plugins_are_checked_before_their_code_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_version_is_checked_before_anything_is_loaded, set_up, tear_down),
        cmocka_unit_test(a_damaged_file_is_refused_or_left_to_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
