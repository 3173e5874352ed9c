#define _GNU_SOURCE
#include "cuda/elf.h"

#include <string.h>

const void *elf_part(const struct elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset ? e->data + offset : NULL;
}

bool elf_open(struct elf *e, const void *data, size_t size)
{
    *e = (struct elf){.data = data, .size = size};
    if (size < sizeof e->head) return false;
    memcpy(&e->head, data, sizeof e->head);
    return memcmp(e->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           e->head.e_ident[EI_CLASS] == ELFCLASS64 && e->head.e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool section_at(const struct elf *e, unsigned i, Elf64_Shdr *s)
{
    const Elf64_Ehdr *h = &e->head;
    const void *at = i < h->e_shnum
                         ? elf_part(e, h->e_shoff + (uint64_t)i * h->e_shentsize, sizeof *s)
                         : NULL;
    if (at) memcpy(s, at, sizeof *s);
    return at;
}

const char *elf_text(const struct elf *e, const Elf64_Shdr *texts, uint64_t offset)
{
    const char *all = elf_part(e, texts->sh_offset, texts->sh_size);
    if (!all || offset >= texts->sh_size) return NULL;
    return memchr(all + offset, 0, texts->sh_size - offset) ? all + offset : NULL;
}

bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *s, const char **name)
{
    Elf64_Shdr names;
    *name = NULL;
    if (!section_at(e, i, s)) return false;
    if (section_at(e, e->head.e_shstrndx, &names)) *name = elf_text(e, &names, s->sh_name);
    if (!*name) *name = "";
    return true;
}

bool elf_is_code(const char *section)
{
    return strcmp(section, ".nv_fatbin") == 0 || strcmp(section, "__nv_relfatbin") == 0;
}

struct elf_code elf_code_of(const struct elf *e, const Elf64_Shdr *s)
{
    const unsigned char *at = elf_part(e, s->sh_offset, s->sh_size);
    return (struct elf_code){at, at, at ? at + s->sh_size : NULL};
}

/* They lie one behind the other. */
bool elf_next_fatbin(struct elf_code *c, struct fatbin *f, char **why)
{
    if (c->next >= c->end || !fatbin_open(f, c->next, (size_t)(c->end - c->next), why))
        return false;
    c->next = f->end;
    const size_t padding = -(uintptr_t)(c->next - c->start) % 8;
    c->next = padding < (size_t)(c->end - c->next) ? c->next + padding : c->end;
    return true;
}
