// SPDX-License-Identifier: MIT
// Boost's flat table (from 1.81 on): 15 one-byte tags and an overflow byte, entries stand in one array.
#include "map_aggregator.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

using map =
    boost::unordered_flat_map<uint64_t, uint64_t, boost::hash<uint64_t>, std::equal_to<uint64_t>, map_entry_allocator>;

extern "C" const agb_aggregator agb_aggregator_boost_unordered_flat_map;
const agb_aggregator agb_aggregator_boost_unordered_flat_map =
    describe_map<map>("boost_unordered_flat_map", "Boost's open table: groups of 15 tags");
