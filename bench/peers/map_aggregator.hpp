// SPDX-License-Identifier: MIT
// A hash map of a C++ library as an aggregator: ++map[key] for every row, then one walk that emits. Each library gets
// its own default hash function, as its users do, and grows from empty as naive does. What is not its own is memory: it
// comes from the host, as for every aggregator, so that all of them are measured on the same pages and within the same
// budget.
#ifndef MAP_AGGREGATOR_HPP
#define MAP_AGGREGATOR_HPP

#include "aggregator.h"

#include <algorithm>
#include <new>
#include <utility>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(from, bytes) ((void)0)
#endif

// Memory of one map. Requests below this many bytes are cut from slabs; larger ones are blocks of the host's.
constexpr size_t smallest_own_block = 4096;

// It knows all its blocks and drops them at once: a map is never destroyed entry by entry, and one that threw while
// growing need not be in a state that can be destroyed at all (Abseil's is not).
class map_memory {
public:
    explicit map_memory(agb_host *host) : host_(host) {}
    map_memory(const map_memory &) = delete;
    map_memory &operator=(const map_memory &) = delete;

    ~map_memory()
    {
        while (newest_)
            release(newest_);
    }

    void *take(size_t bytes, size_t alignment)
    {
        if (bytes >= smallest_own_block)
            return reinterpret_cast<char *>(acquire(AGB_ALIGNMENT + bytes)) + AGB_ALIGNMENT;
        used_ = (used_ + alignment - 1) / alignment * alignment;
        if (!slab_ || used_ + bytes > slab_->bytes)
            start_slab();
        void *out = reinterpret_cast<char *>(slab_) + used_;
        used_ += bytes;
        return out;
    }

    void give_back(void *taken, size_t bytes)
    {
        if (bytes >= smallest_own_block)
            release(reinterpret_cast<block *>(static_cast<char *>(taken) - AGB_ALIGNMENT));
    }

private:
    struct block {    // its head; what is handed out starts AGB_ALIGNMENT bytes behind it
        block *older, *newer;
        size_t bytes;
    };

    block *acquire(size_t bytes)
    {
        auto *fresh = static_cast<block *>(agb_alloc(host_, bytes, 0));
        if (!fresh)
            throw std::bad_alloc();
        *fresh = {newest_, nullptr, bytes};
        if (newest_)
            newest_->newer = fresh;
        newest_ = fresh;
        return fresh;
    }

    void release(block *old)
    {
        if (old->older)
            old->older->newer = old->newer;
        (old->newer ? old->newer->older : newest_) = old->older;
        ASAN_UNPOISON_MEMORY_REGION(old, old->bytes);    // Abseil forbids its empty slots, until a map is destroyed
        agb_release(host_, old, old->bytes);
    }

    // From 16 KiB to 1 MiB, so that few groups need little memory.
    void start_slab()
    {
        constexpr size_t least = size_t{16} << 10, most = size_t{1} << 20;
        slab_ = acquire(slab_ ? std::min(most, 2 * slab_->bytes) : least);
        used_ = AGB_ALIGNMENT;
    }

    agb_host *host_;
    block *newest_ = nullptr, *slab_ = nullptr;
    size_t used_ = 0;
};

template <typename T>
struct host_allocator {
    using value_type = T;

    map_memory *from;

    explicit host_allocator(map_memory *from) : from(from) {}
    template <typename U>
    host_allocator(const host_allocator<U> &other) : from(other.from) {}

    T *allocate(size_t n) { return static_cast<T *>(from->take(n * sizeof(T), alignof(T))); }
    void deallocate(T *block, size_t n) { from->give_back(block, n * sizeof(T)); }

    template <typename U>
    bool operator==(const host_allocator<U> &other) const { return from == other.from; }
    template <typename U>
    bool operator!=(const host_allocator<U> &other) const { return from != other.from; }
};

using map_entry_allocator = host_allocator<std::pair<const uint64_t, uint64_t>>;

// The contract's functions for one kind of map. Map's only constructor argument is the allocator.
template <typename Map>
struct map_aggregator {
    agb_host *host;
    map_memory memory;
    Map *map = nullptr;    // stands in `memory`, too

    explicit map_aggregator(agb_host *host) : host(host), memory(host) {}

    static agb_status create(agb_host *host, const agb_config *, void **out)
    {
        void *place = agb_alloc(host, sizeof(map_aggregator), 0);
        *out = place;
        if (!place)
            return AGB_ERR_MEMORY;
        auto *self = new (place) map_aggregator(host);
        try {
            self->map = new (self->memory.take(sizeof(Map), alignof(Map))) Map(map_entry_allocator(&self->memory));
        } catch (const std::bad_alloc &) {
            return AGB_ERR_MEMORY;
        }
        return AGB_OK;
    }

    static agb_status consume(void *state, unsigned, const agb_batch *batch)
    {
        Map &map = *static_cast<map_aggregator *>(state)->map;
        try {
            for (size_t i = 0; i < batch->rows; i++)
                map[batch->keys[i]] += batch->weights ? batch->weights[i] : 1;
        } catch (const std::bad_alloc &) {
            return AGB_ERR_MEMORY;
        }
        return AGB_OK;
    }

    static agb_status finish(void *state)
    {
        auto *self = static_cast<map_aggregator *>(state);
        agb_phase(self->host, 0, 1);
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(self->host, 0, self->map->size(), &keys, &counts);
        if (status != AGB_OK)
            return status;
        size_t groups = 0;
        for (const auto &entry : *self->map) {
            keys[groups] = entry.first;
            counts[groups++] = entry.second;
        }
        return agb_emit_end(self->host, 0, groups);
    }

    static void destroy(void *state)
    {
        auto *self = static_cast<map_aggregator *>(state);
        agb_host *host = self->host;
        self->~map_aggregator();
        agb_release(host, self, sizeof(map_aggregator));
    }
};

inline constexpr const char *map_phases[] = {"build", "emit", nullptr};

template <typename Map>
constexpr agb_aggregator describe_map(const char *name, const char *summary)
{
    agb_aggregator out{};
    out.abi = AGB_AGGREGATOR_ABI;
    out.size = sizeof(agb_aggregator);
    out.name = name;
    out.summary = summary;
    out.phases = map_phases;
    out.traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS;
    out.create = map_aggregator<Map>::create;
    out.consume = map_aggregator<Map>::consume;
    out.finish = map_aggregator<Map>::finish;
    out.destroy = map_aggregator<Map>::destroy;
    return out;
}

#endif
