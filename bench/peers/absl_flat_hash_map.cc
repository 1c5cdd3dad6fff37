// SPDX-License-Identifier: MIT
// Abseil's flat table ("Swiss table"): 16 one-byte tags are compared at once, entries stand in one array.
#include "map_aggregator.hpp"

#include <absl/container/flat_hash_map.h>

using map =
    absl::flat_hash_map<uint64_t, uint64_t, absl::Hash<uint64_t>, std::equal_to<uint64_t>, map_entry_allocator>;

extern "C" const agb_aggregator agb_aggregator_absl_flat_hash_map;
const agb_aggregator agb_aggregator_absl_flat_hash_map =
    describe_map<map>("absl_flat_hash_map", "Abseil's open table: groups of 16 tags");
