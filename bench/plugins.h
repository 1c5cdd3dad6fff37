/* SPDX-License-Identifier: MIT */
/* Plug-ins, kept outside this process: a child loads each of them once and copies its descriptor, names and parameters,
 * to memory that both share; only the children that run an aggregator load it for good. Whatever its constructors,
 * destructors or threads do is done to a child. */
#ifndef AGB_PLUGINS_H
#define AGB_PLUGINS_H

#include "aggbench.h"

typedef struct agb_plugin {
    const char *path;                    /* borrowed */
    const agb_aggregator *aggregator;    /* registered here; its functions only refuse. NULL when it was refused */
    agb_error refused;
    bool named;                          /* for the caller: its row is there already */
    struct agb_plugin_sketch *sketch;    /* owned: the memory of the descriptor */
} agb_plugin;

typedef struct agb_plugins {
    agb_plugin *plugin;
    size_t n;
} agb_plugins;

/* Opens all, each in timeout_s and at most ten seconds; one that is refused says why, one that is not there ends it
 * with AGB_ERR_NOT_FOUND. The registry must not be used after the release. */
agb_status agb_plugins_open(agb_plugins *out, agb_registry *registry, const char *const *paths, size_t n,
                            double timeout_s, agb_error *err);
void agb_plugins_release(agb_plugins *plugins);
/* One of its refused ones by the stem of its file, or NULL. */
agb_plugin *agb_plugins_refused(const agb_plugins *plugins, const char *stem);
/* "FOLDER/STEM.so": copied and cut to fit. */
void agb_plugin_stem(const agb_plugin *plugin, char *stem, size_t size);

/* In the child that is to run *aggregator: puts the real one in its place, if it is a plug-in's. plugins: or NULL. */
agb_status agb_plugins_load(const agb_plugins *plugins, const agb_aggregator **aggregator, agb_error *err);

#endif
