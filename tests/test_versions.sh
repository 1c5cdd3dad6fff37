#!/bin/sh
# SPDX-License-Identifier: MIT
# The contract grows at the ends of its structures. Tomorrow's header is today's with one more field in each of them: the
# engine built with it must take today's strategies, built in and as a plug-in, and today's must take tomorrow's plug-in.
set -u
. "$(dirname "$0")/command.sh"
case $BUILD in *address* | *thread*) skip versions_differ "a sanitizer's objects do not link with others"; exit 0 ;; esac
tomorrow=$work/tomorrow
mkdir "$tomorrow" && cp engine/*.c engine/*.h "$tomorrow"
sed -i 's/^} agb_\(aggregator\|config\);/    uint64_t appended;\n&/; s/^ *agb_status (\*fetch).*/&\n    void (*appended)(void);/' \
    "$tomorrow/aggregator.h"
report tomorrows_header_has_three_more_fields "$(diff engine/aggregator.h "$tomorrow/aggregator.h" | grep -c '^>' |
    grep -vx 3)"

cat >"$work/main.c" <<'END'
#include "aggbench.h"
#include <stdio.h>

static agb_error err;

static int count(const agb_aggregator *aggregator)
{
    static const int64_t keys[] = {3, 1, 3, 7, 3, 1};
    agb_table *table;
    agb_sink *sink;
    agb_table_create(&table, &err);
    agb_table_lend(table, "key", AGB_TYPE_INT64, keys, 6, &err);
    agb_sink_checksum(&sink, &err);
    agb_plan plan = {.table = table, .column = "key", .aggregator = aggregator};
    if (agb_count_groups(&plan, sink, NULL, &err) != AGB_OK || agb_sink_digest(sink).groups != 3)
        return fprintf(stderr, "%s: %s\n", aggregator->name, err.text), 1;
    if (aggregator->size >= sizeof *aggregator || aggregator->appended != 0)
        return fprintf(stderr, "%s: is not of today, or has a field that it cannot have\n", aggregator->name), 1;
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    return 0;
}

int main(int argc, char **argv)
{
    agb_registry *registry;
    const agb_aggregator *aggregator;
    if (agb_registry_create(&registry, &err) != AGB_OK ||
        agb_registry_open_plugin(registry, argv[argc - 1], &aggregator, &err) != AGB_OK)
        return fprintf(stderr, "%s\n", err.text), 1;
    int failed = aggregator->appended != 0;
    for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++)
        failed += count(aggregator);
    agb_registry_destroy(registry);
    return failed;
}
END
(cd "$tomorrow" && cc -std=gnu17 -D_GNU_SOURCE -O0 -fPIC -pthread -I. -c ./*.c "$work/main.c") >"$work/log" 2>&1
objects=$(find "$BUILD/aggregators" "$BUILD/loaders" -name '*.o')
# shellcheck disable=SC2046,SC2086  # lists of words
cc "$tomorrow"/*.o $objects "$BUILD/builtins.o" $(sed -n 's/^DEPS_LIBS = //p' build/deps.mk) -pthread -ldl -lm \
    -o "$work/tomorrows" >>"$work/log" 2>&1
report tomorrows_engine_is_built_with_todays_strategies "$(cat "$work/log")"

sed 's/template/today/g' aggregators/template.c >"$work/today.c"
build() { cc -O1 -shared -fPIC "$@" -Iaggregators 2>&1; }
report an_older_plugin_and_all_built_in_ones_run_in_a_newer_engine \
    "$(build -Iengine "$work/today.c" -o "$work/today.so" && "$work/tomorrows" "$work/today.so" 2>&1)"

sed 's/today/newer/g; s/^    \.destroy = .*/&\n    .appended = 5,/' "$work/today.c" |
    sed 's/^    newer_state \*self = agb_alloc.*/    if (AGB_HAS(host, appended) || AGB_HAS(config, appended))\n        return AGB_ERR_UNSUPPORTED;\n&/' \
    >"$work/newer.c"
report a_newer_plugin_runs_in_todays_engine_and_sees_what_that_lacks "$(build -I"$tomorrow" "$work/newer.c" \
    -o "$work/newer.so" && "$aggbench" verify --plugin "$work/newer.so" >"$work/log" 2>&1 || cat "$work/log"
    grep -c appended "$work/newer.c" | grep -vx 2)"
exit $failed
