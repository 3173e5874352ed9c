/* cuda/elf.h: ELF files in memory, as far as device code is in them.
 *
 *     struct elf e;
 *     if (elf_open(&e, data, size))
 *         for (unsigned i = 0; elf_section(&e, i, &s, &name); i++) ...
 *
 * Files are not trusted: nothing outside of `size` bytes is read. */
#ifndef HEDDLE_CUDA_ELF_H
#define HEDDLE_CUDA_ELF_H

#include "cuda/fatbin.h"

#include <elf.h>

struct elf {
    const unsigned char *data;
    size_t size;
    Elf64_Ehdr head;
};

/* false: it is none of this kind of machine. */
bool elf_open(struct elf *e, const void *data, size_t size);

/* Its i-th section and that one's name, "" if it has none; false: there are no more. */
bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *s, const char **name);

/* `size` bytes from an offset; NULL: the file has not so many. */
const void *elf_part(const struct elf *e, uint64_t offset, uint64_t size);

/* A text of a section of texts; NULL: it does not end in there. */
const char *elf_text(const struct elf *e, const Elf64_Shdr *texts, uint64_t offset);

/* The fat binaries of a section, some of them empty: {start of the section, size} first. false: there are no more; or,
 * then *why is set, what comes is damaged. */
struct elf_code {
    const unsigned char *next, *start, *end;
};
bool elf_is_code(const char *section);
struct elf_code elf_code_of(const struct elf *e, const Elf64_Shdr *s);
bool elf_next_fatbin(struct elf_code *c, struct fatbin *f, char **why);

#endif
