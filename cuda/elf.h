/* cuda/elf.h: finds device code in ELF files in memory.
 *
 *     struct elf e;
 *     if (elf_open(&e, data, size))
 *         for (unsigned i = 0; elf_section(&e, i, &s, &name); i++) ...
 *
 * Files are not trusted: the functions read nothing outside of `size` bytes. */
#ifndef HEDDLE_CUDA_ELF_H
#define HEDDLE_CUDA_ELF_H

#include "cuda/fatbin.h"

#include <elf.h>

struct elf {
    const unsigned char *data;
    size_t size;
    Elf64_Ehdr head;
};

/* false: the data are no ELF file for this host's kind of machine. */
bool elf_open(struct elf *e, const void *data, size_t size);

/* The i-th section and its name ("" if it has none); false: i is the number of sections. */
bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *s, const char **name);

/* The `size` bytes at an offset; NULL: the file is shorter. */
const void *elf_part(const struct elf *e, uint64_t offset, uint64_t size);

/* The string at an offset of a string table; NULL: it does not end inside the section. */
const char *elf_text(const struct elf *e, const Elf64_Shdr *texts, uint64_t offset);

/* Iterates over the fat binaries of a section, some of which may be empty. elf_next_fatbin() returns false at the end, or,
 * with *why set, if the next one is damaged. */
struct elf_code {
    const unsigned char *next, *start, *end;
};
bool elf_is_code(const char *section);
struct elf_code elf_code_of(const struct elf *e, const Elf64_Shdr *s);
bool elf_next_fatbin(struct elf_code *c, struct fatbin *f, char **why);

#endif
