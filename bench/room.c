/* SPDX-License-Identifier: MIT */
/* Memory for measurements: see room.h. */
#include "room.h"

#include "machine.h"
#include "text.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20 };

agb_status agb_room_map(agb_room *out, size_t bytes, agb_pages pages, const char *what, agb_error *err)
{
    *out = (agb_room){.bytes = bytes, .mapped = bytes + HUGE_BYTES};
    uint64_t available = agb_machine_available_bytes("");
    bool fits = bytes <= available / 4 * 3;
    out->base = fits ? mmap(NULL, out->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                            0) : MAP_FAILED;
    if (out->base != MAP_FAILED) {
        out->at = (char *)(((uintptr_t)out->base + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
        if (pages != AGB_PAGES_DEFAULT)
            madvise(out->base, out->mapped, pages == AGB_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        return AGB_OK;
    }
    *out = (agb_room){0};
    if (fits)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: %s: %s: raise the limit (ulimit -v), or ask for a smaller "
                        "--working-set", what, agb_text_binary(bytes).s, strerror(errno));
    return agb_fail(err, AGB_ERR_MEMORY, "%s: %s are needed, %s are available, of which it takes three quarters at "
                    "most: ask for a smaller --working-set", what, agb_text_binary(bytes).s,
                    agb_text_binary(available).s);
}

void agb_room_unmap(agb_room *room)
{
    if (room->base)
        munmap(room->base, room->mapped);
    *room = (agb_room){0};
}

/* The kernel joins neighbours that are alike, so a mapping's own lines may speak of more than this room: hence the
 * bound. */
size_t agb_room_huge_bytes(const agb_room *room)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    size_t huge = 0;
    bool inside = false;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to, kibibytes;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from < (uintptr_t)room->at + room->bytes && to > (uintptr_t)room->at;
        else if (inside && sscanf(line, "AnonHugePages: %lu kB", &kibibytes) == 1)
            huge += kibibytes << 10;
    }
    if (maps)
        fclose(maps);
    return huge < room->bytes ? huge : room->bytes;
}
