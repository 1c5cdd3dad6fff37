/* SPDX-License-Identifier: MIT */
/* What the conformance programs share: every aggregator, built in and as a plug-in. */
#ifndef AGB_CONFORMANCE_H
#define AGB_CONFORMANCE_H

#include "test.h"

#include <dirent.h>

typedef struct contenders {
    agb_registry *built_in, *plugins;
} contenders;

static inline void contenders_open_plugins(agb_registry *registry)
{
    char folder[512], path[800];
    snprintf(folder, sizeof folder, "%s/plugins", getenv("BUILD") ? getenv("BUILD") : "build");
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        int stem = length > 3 ? (int)length - 3 : 0;
        bool there = false;
        for (size_t i = 0; i < 2 && !there; i++) {
            snprintf(path, sizeof path, "aggregators/%s%.*s.c", i ? "examples/" : "", stem, entry->d_name);
            there = access(path, R_OK) == 0;
        }
        if (!there || strcmp(entry->d_name + stem, ".so") != 0)
            continue;    /* the faulty ones of tests/plugins have tests of their own */
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_ok(agb_registry_open_plugin(registry, path, NULL, err));
    }
    closedir(dir);
}

static inline void contenders_open(contenders *c)
{
    assert_ok(agb_registry_create(&c->built_in, err));
    assert_ok(agb_registry_create_empty(&c->plugins, err));
    contenders_open_plugins(c->plugins);
}

static inline void contenders_close(contenders *c)
{
    agb_registry_destroy(c->built_in);
    agb_registry_destroy(c->plugins);
}

/* The built-in ones, then the same files as plug-ins. */
static inline const agb_aggregator *contender_at(const contenders *c, size_t i)
{
    size_t built_in = 0;
    while (agb_registry_aggregator_at(c->built_in, built_in))
        built_in++;
    return i < built_in ? agb_registry_aggregator_at(c->built_in, i)
                        : agb_registry_aggregator_at(c->plugins, i - built_in);
}

/* A race needs threads: under ThreadSanitizer only the tests that have them run; the others take minutes there. */
static inline void leave_out_what_cannot_race(void)
{
#ifdef __SANITIZE_THREAD__
    cmocka_set_test_filter("*workers*");
#endif
}

#endif
