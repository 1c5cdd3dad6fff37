// SPDX-License-Identifier: MIT
// The C++ standard library's map: a list of nodes behind every bucket, and the key itself for its hash.
#include "map_aggregator.hpp"

#include <unordered_map>

using map =
    std::unordered_map<uint64_t, uint64_t, std::hash<uint64_t>, std::equal_to<uint64_t>, map_entry_allocator>;

extern "C" const agb_aggregator agb_aggregator_std_unordered_map;
const agb_aggregator agb_aggregator_std_unordered_map =
    describe_map<map>("std_unordered_map", "the C++ library's own map: chained nodes");
