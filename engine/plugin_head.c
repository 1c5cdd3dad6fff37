/* SPDX-License-Identifier: MIT */
/* What a plug-in's file says of itself before any of its code runs; loading it would run its constructors. The dynamic
 * symbol table leads to the descriptor, which begins with two plain numbers. Every size and place in the file is a
 * claim: what cannot be read as said is left for the loader of the system to refuse. */
#include "internal.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

typedef struct object {
    int fd;
    ElfW(Ehdr) file;
    ElfW(Shdr) symbols, names;
} object;

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
    return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool read_section(const object *o, size_t i, ElfW(Shdr) *out)
{
    return i < o->file.e_shnum && read_at(o->fd, o->file.e_shoff + i * sizeof *out, out, sizeof *out);
}

/* An object of this machine's kind that has a dynamic symbol table. */
static bool read_tables(object *o)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!read_at(o->fd, 0, &o->file, sizeof o->file) || memcmp(o->file.e_ident, ELFMAG, SELFMAG) != 0 ||
        o->file.e_ident[EI_CLASS] != class || o->file.e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    for (size_t i = 0; read_section(o, i, &o->symbols); i++)
        if (o->symbols.sh_type == SHT_DYNSYM)
            return o->symbols.sh_entsize == sizeof(ElfW(Sym)) && read_section(o, o->symbols.sh_link, &o->names);
    return false;
}

static bool is_named(const object *o, const ElfW(Sym) *symbol, const char *name)
{
    char text[256];
    size_t n = strlen(name) + 1;
    return n <= sizeof text && read_at(o->fd, o->names.sh_offset + symbol->st_name, text, n) &&
           memcmp(text, name, n) == 0;
}

static void read_head(const object *o, const ElfW(Sym) *symbol, agb_plugin_head *out)
{
    ElfW(Shdr) section;
    uint32_t numbers[2];
    out->has_symbol = true;
    if (!read_section(o, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS)
        return;
    uint64_t at = symbol->st_value - section.sh_addr;    /* from the section's beginning */
    out->has_numbers = at < section.sh_size && section.sh_size - at >= sizeof numbers &&
                       read_at(o->fd, section.sh_offset + at, numbers, sizeof numbers);
    if (out->has_numbers) {
        out->abi = numbers[0];
        out->size = numbers[1];
    }
}

agb_plugin_head agb_plugin_head_read(const char *path, const char *name)
{
    agb_plugin_head head = {0};
    object o = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    ElfW(Sym) symbol;
    head.is_known = o.fd >= 0 && read_tables(&o);
    size_t count = head.is_known ? o.symbols.sh_size / sizeof symbol : 0;
    for (size_t i = 0; i < count && !head.has_symbol; i++) {
        if (!read_at(o.fd, o.symbols.sh_offset + i * sizeof symbol, &symbol, sizeof symbol)) {
            head.is_known = false;
            break;
        }
        if (symbol.st_shndx != SHN_UNDEF && is_named(&o, &symbol, name))
            read_head(&o, &symbol, &head);
    }
    if (o.fd >= 0)
        close(o.fd);
    return head;
}
