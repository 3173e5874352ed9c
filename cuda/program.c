#define _GNU_SOURCE
#include "cuda/program.h"

#include "cuda/elf.h"
#include "cuda/fatbin.h"

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

static void look_at_needed(const struct elf *f, const Elf64_Shdr *s, struct program *p)
{
    const Elf64_Dyn *list = elf_part(f, s->sh_offset, s->sh_size);
    const char *ignored;
    Elf64_Shdr texts;
    if (!list || !elf_section(f, s->sh_link, &texts, &ignored)) return;
    for (uint64_t i = 0; i < s->sh_size / sizeof *list; i++) {
        Elf64_Dyn d;
        memcpy(&d, list + i, sizeof d);
        const char *name = d.d_tag == DT_NEEDED ? elf_text(f, &texts, d.d_un.d_val) : NULL;
        if (!name) continue;
        if (strcmp(name, "libcuda.so.1") == 0) p->driver = true;
        if (strncmp(name, "libcudart.so", 12) == 0)
            snprintf(p->runtime, sizeof p->runtime, "%s", name);
    }
}

static void look_at_code(const struct elf *f, const Elf64_Shdr *s, bool *any, bool *ptx)
{
    struct elf_code code = elf_code_of(f, s);
    char *why = NULL; /* what is damaged will be said when it is loaded */
    struct fatbin list;
    while (!why && elf_next_fatbin(&code, &list, &why)) {
        struct fatbin_entry e;
        while (fatbin_next(&list, &e, &why)) {
            *any = true;
            *ptx |= e.kind == FATBIN_PTX;
        }
    }
    free(why);
}

static void look(const struct elf *f, struct program *p)
{
    Elf64_Shdr s;
    const char *name;
    bool code = false, ptx = false;
    for (unsigned i = 0; elf_section(f, i, &s, &name); i++) {
        if (s.sh_type == SHT_DYNAMIC) look_at_needed(f, &s, p);
        if (elf_is_code(name)) look_at_code(f, &s, &code, &ptx);
    }
    const bool served = *p->runtime || p->driver;
    p->ptx = ptx || !code;
    p->kind = !served && !code ? PROGRAM_PLAIN
              : !served        ? PROGRAM_STATIC
              : p->ptx         ? PROGRAM_SERVED
                               : PROGRAM_SASS;
}

/* Its file, for munmap; NULL: *why. */
static void *map(const char *path, size_t *size, char **why)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fatbin_refuse(why, "cannot read: %s", strerror(errno));
        return NULL;
    }
    void *at = fstat(fd, &s) == 0 && s.st_size > 0
                   ? mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                   : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED) {
        fatbin_refuse(why, "cannot read: %s", "it is no file, or empty");
        return NULL;
    }
    *size = (size_t)s.st_size;
    return at;
}

bool program_read(const char *path, struct program *out, char **why)
{
    struct elf e;
    size_t size = 0;
    *out = (struct program){.ptx = true};
    void *at = map(path, &size, why);
    if (!at) return false;
    if (elf_open(&e, at, size) && (e.head.e_type == ET_EXEC || e.head.e_type == ET_DYN))
        look(&e, out);
    munmap(at, size);
    return true;
}

#define SHARED "-cudart shared"

const char *program_flags(const struct program *p)
{
    if (p->kind == PROGRAM_STATIC) return p->ptx ? SHARED : FATBIN_PTX_FLAGS " " SHARED;
    return p->kind == PROGRAM_SASS ? FATBIN_PTX_FLAGS : NULL;
}
