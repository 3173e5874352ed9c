#define _GNU_SOURCE
#include "cuda/program.h"

#include "cuda/fatbin.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const unsigned char *data;
    size_t size;
};

/* `size` bytes from an offset; NULL: the file has not so many. */
static const void *part(const struct file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset ? f->data + offset : NULL;
}

static bool read_header(const struct file *f, Elf64_Ehdr *h)
{
    if (f->size < sizeof *h) return false;
    memcpy(h, f->data, sizeof *h);
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_ident[EI_DATA] == ELFDATA2LSB && (h->e_type == ET_EXEC || h->e_type == ET_DYN);
}

static bool section_at(const struct file *f, const Elf64_Ehdr *h, unsigned i, Elf64_Shdr *s)
{
    const void *at = i < h->e_shnum ? part(f, h->e_shoff + (uint64_t)i * h->e_shentsize, sizeof *s)
                                    : NULL;
    if (at) memcpy(s, at, sizeof *s);
    return at;
}

/* A text of a section of texts; NULL: it does not end in there. */
static const char *text_at(const struct file *f, const Elf64_Shdr *texts, uint64_t offset)
{
    const char *all = part(f, texts->sh_offset, texts->sh_size);
    if (!all || offset >= texts->sh_size) return NULL;
    return memchr(all + offset, 0, texts->sh_size - offset) ? all + offset : NULL;
}

static void look_at_needed(const struct file *f, const Elf64_Ehdr *h, const Elf64_Shdr *s,
                           struct program *p)
{
    const Elf64_Dyn *list = part(f, s->sh_offset, s->sh_size);
    Elf64_Shdr texts;
    if (!list || !section_at(f, h, s->sh_link, &texts)) return;
    for (uint64_t i = 0; i < s->sh_size / sizeof *list; i++) {
        Elf64_Dyn d;
        memcpy(&d, list + i, sizeof d);
        const char *name = d.d_tag == DT_NEEDED ? text_at(f, &texts, d.d_un.d_val) : NULL;
        if (!name) continue;
        if (strcmp(name, "libcuda.so.1") == 0) p->driver = true;
        if (strncmp(name, "libcudart.so", 12) == 0)
            snprintf(p->runtime, sizeof p->runtime, "%s", name);
    }
}

/* Containers lie one behind the other, and some are empty. */
static void look_at_code(const struct file *f, const Elf64_Shdr *s, bool *any, bool *ptx)
{
    const unsigned char *const start = part(f, s->sh_offset, s->sh_size), *at = start;
    const unsigned char *const end = start ? start + s->sh_size : start;
    char *why = NULL; /* what is damaged will be said when it is loaded */
    struct fatbin list;
    while (!why && at < end && fatbin_open(&list, at, (size_t)(end - at), &why)) {
        struct fatbin_entry e;
        at = list.end;
        while (fatbin_next(&list, &e, &why)) {
            *any = true;
            *ptx |= e.kind == FATBIN_PTX;
        }
        at += -(uintptr_t)(at - start) % 8;
    }
    free(why);
}

static void look(const struct file *f, const Elf64_Ehdr *h, struct program *p)
{
    Elf64_Shdr s, names;
    bool code = false, ptx = false;
    if (!section_at(f, h, h->e_shstrndx, &names)) names = (Elf64_Shdr){0};
    for (unsigned i = 0; section_at(f, h, i, &s); i++) {
        const char *name = text_at(f, &names, s.sh_name);
        if (s.sh_type == SHT_DYNAMIC) look_at_needed(f, h, &s, p);
        if (name && (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0))
            look_at_code(f, &s, &code, &ptx);
    }
    const bool served = *p->runtime || p->driver;
    p->ptx = ptx || !code;
    p->kind = !served && !code ? PROGRAM_PLAIN
              : !served        ? PROGRAM_STATIC
              : p->ptx         ? PROGRAM_SERVED
                               : PROGRAM_SASS;
}

static bool map(const char *path, struct file *f, char **why)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fatbin_refuse(why, "cannot read: %s", strerror(errno));
    void *at = fstat(fd, &s) == 0 && s.st_size > 0
                   ? mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                   : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED) return fatbin_refuse(why, "cannot read: %s", "it is no file, or empty");
    *f = (struct file){at, (size_t)s.st_size};
    return true;
}

bool program_read(const char *path, struct program *out, char **why)
{
    struct file f = {0};
    Elf64_Ehdr h;
    *out = (struct program){.ptx = true};
    if (!map(path, &f, why)) return false;
    if (read_header(&f, &h)) look(&f, &h, out);
    munmap((void *)f.data, f.size);
    return true;
}

#define SHARED "-cudart shared"

const char *program_flags(const struct program *p)
{
    if (p->kind == PROGRAM_STATIC) return p->ptx ? SHARED : FATBIN_PTX_FLAGS " " SHARED;
    return p->kind == PROGRAM_SASS ? FATBIN_PTX_FLAGS : NULL;
}
