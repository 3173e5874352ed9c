/* cuLink*: several inputs become one image. Layouts of objects and archives are ld's and ar's: where these tools are,
 * they make them, too. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"
#include "tests/support/fatbins.h"
#include "tests/support/support.h"

#include <ar.h>
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define DECLARE(name) ".extern .func (.param .b32 r) " name "(.param .b32 a);\n"
#define DEFINE(name, code)                                                                         \
    ".visible .func (.param .b32 r) " name "(.param .b32 a)\n{\n .reg .b32 %r<4>;\n"               \
    " ld.param.b32 %r1, [a]; " code " st.param.b32 [r], %r2; ret;\n}\n"
#define CALL(name)                                                                                 \
    " { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), " name ", (x);\n"       \
    "   ld.param.b32 %r1, [y]; }\n"
#define KERNEL(name, code)                                                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n .reg .b64 %rd1; .reg .b32 %r<4>;\n"            \
    " ld.param.u64 %rd1, [out]; mov.b32 %r1, 5;\n" code " st.global.b32 [%rd1], %r1; ret;\n}\n"

/* out = twice(5) + table's number, of three texts */
static const char kernel[] = HEAD DECLARE("twice") ".extern .global .u32 number;\n" KERNEL(
    "k", CALL("twice") " ld.global.u32 %r2, [number]; add.u32 %r1, %r1, %r2;\n");
static const char twice[] = HEAD DEFINE("twice", "shl.b32 %r2, %r1, 1;");
static const char thrice[] = HEAD DEFINE("twice", "mul.lo.u32 %r2, %r1, 3;");
static const char number[] = HEAD ".visible .global .u32 number = 7;\n";

TestSuite(linker, .init = driver_start, .fini = cuda_device_reset);

static CUlinkState new_link(void)
{
    CUlinkState l = NULL;
    OK(cuLinkCreate(0, NULL, NULL, &l));
    return l;
}

static CUresult add(CUlinkState l, CUjitInputType type, const void *data, size_t size)
{
    return cuLinkAddData(l, type, (void *)data, size, NULL, 0, NULL, NULL);
}

static CUresult add_text(CUlinkState l, const char *text)
{
    return add(l, CU_JIT_INPUT_PTX, text, strlen(text) + 1);
}

/* What kernel k of the link stores. */
static unsigned result(CUlinkState l)
{
    void *image = NULL;
    CUmodule m;
    OK(cuLinkComplete(l, &image, NULL));
    OK(cuModuleLoadData(&m, image));
    const unsigned value = driver_stored_by(m, "k");
    OK(cuModuleUnload(m));
    OK(cuLinkDestroy(l));
    return value;
}

Test(linker, texts_and_fat_binaries)
{
    struct buf b = {0};
    CUlinkState l = new_link();
    fatbin_add(&b, FATBIN_PTX, 52, thrice, sizeof thrice, ZSTD);
    fatbin_add(&b, FATBIN_PTX, 75, twice, sizeof twice, LZ4);
    fatbin_add(&b, FATBIN_CUBIN, 75, "\177ELF", 4, STORED);
    OK(add_text(l, kernel));
    OK(add(l, CU_JIT_INPUT_FATBINARY, b.data, b.size));
    OK(add(l, CU_JIT_INPUT_PTX, number, sizeof number - 1)); /* without its NUL */
    cr_expect_eq(result(l), 17);
    buf_free(&b);
}

Test(linker, is_for_the_architecture_asked_for)
{
    struct buf b = {0};
    CUlinkState l;
    CUjit_option options[] = {CU_JIT_TARGET};
    fatbin_add(&b, FATBIN_PTX, 52, thrice, sizeof thrice, ZSTD);
    fatbin_add(&b, FATBIN_PTX, 75, twice, sizeof twice, LZ4);
    OK(cuLinkCreate(1, options, (void *[]){(void *)(uintptr_t)60}, &l));
    OK(add_text(l, kernel));
    OK(add_text(l, number));
    OK(add(l, CU_JIT_INPUT_FATBINARY, b.data, b.size));
    cr_expect_eq(result(l), 22);
    buf_free(&b);
}

Test(linker, image_is_whole_and_can_be_linked_again)
{
    char path[] = "/tmp/heddle-linked-XXXXXX";
    CUlinkState l = new_link(), again = new_link();
    CUmodule m;
    void *image, *same;
    size_t size = 0;
    OK(add_text(l, kernel));
    OK(add_text(l, twice));
    OK(add_text(l, number));
    OK(cuLinkComplete(l, &image, &size));
    OK(cuLinkComplete(l, &same, NULL));
    cr_expect_eq(same, image);
    IS(add_text(l, thrice), CUDA_ERROR_INVALID_VALUE);
    char *copy = malloc(size);
    memcpy(copy, image, size);
    OK(cuLinkDestroy(l));
    IS(cuLinkDestroy(l), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleLoadData(&m, copy));
    cr_expect_eq(driver_stored_by(m, "k"), 17);
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, copy, size) == (ssize_t)size && close(file) == 0);
    OK(cuModuleLoad(&m, path));
    cr_expect_eq(driver_stored_by(m, "k"), 17);
    OK(cuLinkAddFile(again, CU_JIT_INPUT_CUBIN, path, 0, NULL, NULL));
    cr_expect_eq(result(again), 17);
    /* cut off and damaged: an answer, and nothing read outside */
    for (size_t n = 1; n < size; n += 7) {
        CUlinkState cut = new_link();
        char *part = malloc(n);
        memcpy(part, copy, n);
        cr_expect(add(cut, CU_JIT_INPUT_CUBIN, part, n) != CUDA_SUCCESS, "%zu of %zu", n, size);
        OK(cuLinkDestroy(cut));
        free(part);
    }
    for (size_t at = 0; at < 200; at++) {
        CUlinkState bad = new_link();
        copy[at] = (char)(copy[at] ^ 0x41);
        (void)add(bad, CU_JIT_INPUT_CUBIN, copy, size);
        copy[at] = (char)(copy[at] ^ 0x41);
        OK(cuLinkDestroy(bad));
    }
    unlink(path);
    free(copy);
}

/* ---- objects and libraries ------------------------------------------------------------------------- */

/* An object with one section of fat binaries. */
static void object(struct buf *out, const char *text, unsigned kind)
{
    static const char names[] = "\0__nv_relfatbin\0.shstrtab";
    struct buf code = {0};
    fatbin_add(&code, kind, 75, text, strlen(text) + 1, ZSTD);
    while (code.size % 8) buf_putc(&code, 0);
    Elf64_Ehdr h = {.e_type = ET_REL,
                    .e_machine = EM_X86_64,
                    .e_version = 1,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 3,
                    .e_shstrndx = 2};
    memcpy(h.e_ident, "\177ELF\2\1\1", 7);
    const size_t at = sizeof h + 3 * sizeof(Elf64_Shdr);
    h.e_shoff = sizeof h;
    const Elf64_Shdr s[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = code.size},
        {.sh_name = 16,
         .sh_type = SHT_STRTAB,
         .sh_offset = at + code.size,
         .sh_size = sizeof names}};
    buf_add(out, (const char *)&h, sizeof h);
    buf_add(out, (const char *)s, sizeof s);
    buf_add(out, code.data, code.size);
    buf_add(out, names, sizeof names);
    buf_free(&code);
}

static void member(struct buf *archive, const char *name, const char *data, size_t size)
{
    if (!archive->size) buf_puts(archive, ARMAG);
    buf_printf(archive, "%-16s%-12d%-6d%-6d%-8o%-10zu%s", name, 0, 0, 0, 0644, size, ARFMAG);
    buf_add(archive, data, size);
    if (size % 2) buf_putc(archive, '\n');
}

static void object_member(struct buf *archive, const char *name, const char *text, unsigned kind)
{
    struct buf o = {0};
    object(&o, text, kind);
    member(archive, name, o.data, o.size);
    buf_free(&o);
}

Test(linker, objects)
{
    struct buf a = {0}, b = {0};
    CUlinkState l = new_link();
    object(&a, twice, FATBIN_PTX);
    OK(add(l, CU_JIT_INPUT_OBJECT, a.data, a.size));
    object(&b, number, FATBIN_PTX);
    OK(add(l, CU_JIT_INPUT_OBJECT, b.data, b.size));
    OK(add_text(l, kernel));
    cr_expect_eq(result(l), 17);
    buf_free(&a);
    buf_free(&b);
}

/* As ld does: a member that nobody wants may define what another defines as well. */
Test(linker, takes_of_libraries_what_is_wanted)
{
    static const char wants[] = HEAD DECLARE("deep") DEFINE(
        "twice", "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), deep, (x);"
                 " ld.param.b32 %r2, [y]; }");
    static const char deep[] = HEAD DEFINE("deep", "shl.b32 %r2, %r1, 1;");
    static const char nobody[] = HEAD DEFINE("unwanted", "mov.b32 %r2, 1;")
        DEFINE("deep", "mov.b32 %r2, 2;");
    struct buf b = {0};
    CUlinkState l;
    char info[300] = "";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {info, (void *)sizeof info};
    OK(cuLinkCreate(2, options, values, &l));
    member(&b, "/", "index", 5);
    member(&b, "//", "a_name_that_is_too_long.o/\n", 27);
    object_member(&b, "/0", deep, FATBIN_PTX);
    object_member(&b, "wants.o/", wants, FATBIN_PTX);
    object_member(&b, "nobody.o/", nobody, FATBIN_PTX);
    object_member(&b, "machine.o/", "\177ELF", FATBIN_CUBIN);
    OK(cuLinkAddData(l, CU_JIT_INPUT_LIBRARY, b.data, b.size, "libx.a", 0, NULL, NULL));
    cr_expect(strstr(info, "libx.a(machine.o) is left out") && strstr(info, "for sm_75"), "%s",
              info);
    OK(add_text(l, kernel));
    OK(add_text(l, number));
    cr_expect_eq(result(l), 17);
    cr_expect(strstr(info, "parts: 4"), "%s", info);
    /* damaged */
    for (size_t n = 0; n < b.size; n += 11) {
        CUlinkState cut = new_link();
        char *part = malloc(n + 1);
        memcpy(part, b.data, n);
        (void)add(cut, CU_JIT_INPUT_LIBRARY, part, n);
        OK(cuLinkDestroy(cut));
        free(part);
    }
    buf_free(&b);
}

/* ---- what is wrong --------------------------------------------------------------------------------- */

struct logged {
    char error[400], info[100];
    CUjit_option options[5];
    void *values[5];
};

static CUlinkState logged_link(struct logged *g)
{
    CUlinkState l = NULL;
    *g = (struct logged){.options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                     CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                     CU_JIT_WALL_TIME}};
    void *values[] = {g->error, (void *)sizeof g->error, g->info, (void *)sizeof g->info, NULL};
    memcpy(g->values, values, sizeof values);
    OK(cuLinkCreate(5, g->options, g->values, &l));
    return l;
}

Test(linker, says_what_is_missing_and_what_is_there_twice)
{
    struct logged g;
    void *image;
    CUlinkState l = logged_link(&g);
    OK(add_text(l, kernel));
    OK(add_text(l, number));
    IS(cuLinkComplete(l, &image, NULL), CUDA_ERROR_UNKNOWN);
    cr_expect(strstr(g.error, "no module defines 'twice'"), "%s", g.error);
    cr_expect_eq((uintptr_t)g.values[1], strlen(g.error));
    IS(cuLinkComplete(l, &image, NULL), CUDA_ERROR_UNKNOWN);
    OK(cuLinkDestroy(l));

    /* nvlink 13: "Undefined reference to 'x'", though nothing names it */
    l = logged_link(&g);
    OK(add_text(l, ".version 7.8\n.target sm_70\n.address_size 64\n.extern .global .u32 x;\n"
                   ".visible .entry k() { ret; }"));
    IS(cuLinkComplete(l, &image, NULL), CUDA_ERROR_UNKNOWN);
    cr_expect(strstr(g.error, "no module defines 'x'"), "%s", g.error);
    OK(cuLinkDestroy(l));

    l = logged_link(&g);
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)twice, sizeof twice, "two", 0, NULL, NULL));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)thrice, sizeof thrice, "three", 0, NULL, NULL));
    IS(cuLinkComplete(l, &image, NULL), CUDA_ERROR_UNKNOWN);
    cr_expect(strstr(g.error, "three:") && strstr(g.error, "'twice' is defined already in two"),
              "%s", g.error);
    OK(cuLinkDestroy(l));

    l = logged_link(&g);
    IS(cuLinkComplete(l, &image, NULL), CUDA_ERROR_UNKNOWN);
    cr_expect(strstr(g.error, "nothing to link"), "%s", g.error);
    OK(cuLinkDestroy(l));
}

/* An input that is refused is no part of the link, and logs have all that was said. */
Test(linker, goes_on_without_an_input_that_was_refused)
{
    struct logged g;
    CUlinkState l = logged_link(&g);
    float ms = -1;
    IS(add_text(l, HEAD KERNEL("k", "nonsense;")), CUDA_ERROR_INVALID_PTX);
    cr_expect(strstr(g.error, "<input 1>:"), "%s", g.error);
    const size_t first = strlen(g.error);
    IS(add(l, CU_JIT_INPUT_CUBIN, "\177ELF\2\1\1 machine", 16), CUDA_ERROR_NO_BINARY_FOR_GPU);
    cr_expect(strstr(g.error + first, "machine code"), "%s", g.error);
    OK(add_text(l, kernel));
    OK(add_text(l, twice));
    OK(add_text(l, number));
    cr_expect_eq(result(l), 17);
    cr_expect_str_eq(g.info, "linked for sm_90, parts: 3\n");
    cr_expect_eq((uintptr_t)g.values[3], strlen(g.info));
    memcpy(&ms, (void *)&g.values[4], sizeof ms);
    cr_expect(ms > 0 && ms < 60000, "%g ms", (double)ms);
}

Test(linker, wrong_calls)
{
    CUlinkState l, none = NULL;
    void *image;
    struct buf b = {0};
    CUjit_option log[] = {CU_JIT_ERROR_LOG_BUFFER}, level[] = {(CUjit_option)7};
    void *value[] = {NULL};
    IS(cuLinkCreate(0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLinkCreate(1, NULL, NULL, &l), CUDA_ERROR_INVALID_VALUE);
    IS(cuLinkDestroy(none), CUDA_ERROR_INVALID_HANDLE);
    IS(cuLinkComplete(none, &image, NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(add_text(none, twice), CUDA_ERROR_INVALID_HANDLE);
    l = new_link();
    IS(add(l, CU_JIT_INPUT_PTX, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    IS(add(l, CU_JIT_INPUT_PTX, twice, 0), CUDA_ERROR_INVALID_VALUE);
    IS(add(l, (CUjitInputType)6, twice, sizeof twice), CUDA_ERROR_INVALID_VALUE);
    IS(add(l, CU_JIT_INPUT_NVVM, "BC", 2), CUDA_ERROR_NOT_SUPPORTED);
    IS(add(l, CU_JIT_INPUT_CUBIN, twice, sizeof twice), CUDA_ERROR_INVALID_IMAGE);
    IS(add(l, CU_JIT_INPUT_FATBINARY, twice, sizeof twice), CUDA_ERROR_INVALID_IMAGE);
    IS(add(l, CU_JIT_INPUT_OBJECT, twice, sizeof twice), CUDA_ERROR_INVALID_IMAGE);
    IS(add(l, CU_JIT_INPUT_LIBRARY, twice, sizeof twice), CUDA_ERROR_INVALID_IMAGE);
    object(&b, "\177ELF", FATBIN_CUBIN);
    IS(add(l, CU_JIT_INPUT_OBJECT, b.data, b.size), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(cuLinkAddFile(l, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, NULL, NULL),
       CUDA_ERROR_FILE_NOT_FOUND);
    IS(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)twice, sizeof twice, NULL, 1, log, value),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)twice, sizeof twice, NULL, 1, level, value));
    IS(cuLinkComplete(l, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    buf_free(&b);
}

/* ---- against nvcc ---------------------------------------------------------------------------------- */

Test(linker, takes_what_nvcc_makes)
{
    if (system("command -v nvcc >/dev/null 2>&1") != 0) cr_skip_test("no nvcc here");
    char folder[] = "/tmp/heddle-link-XXXXXX", command[1000], path[100];
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && echo '__device__ int twice(int a) { return 2 * a; }' >a.cu &&"
             "echo '__device__ int thrice(int a) { return 3 * a; }' >b.cu &&"
             "echo 'extern __device__ int twice(int); extern __device__ int thrice(int);"
             "extern \"C\" __global__ void k(int *p) { *p = twice(5) + thrice(7); }' >k.cu &&"
             "nvcc -dc -gencode arch=compute_75,code=[compute_75,sm_75] a.cu b.cu &&"
             "ar rcs libab.a b.o && nvcc -fatbin -rdc=true -gencode "
             "arch=compute_75,code=compute_75 k.cu",
             folder);
    cr_assert_eq(system(command), 0);
    CUlinkState l = new_link();
    snprintf(path, sizeof path, "%s/k.fatbin", folder);
    OK(cuLinkAddFile(l, CU_JIT_INPUT_FATBINARY, path, 0, NULL, NULL));
    snprintf(path, sizeof path, "%s/a.o", folder);
    OK(cuLinkAddFile(l, CU_JIT_INPUT_OBJECT, path, 0, NULL, NULL));
    snprintf(path, sizeof path, "%s/libab.a", folder);
    OK(cuLinkAddFile(l, CU_JIT_INPUT_LIBRARY, path, 0, NULL, NULL));
    cr_expect_eq(result(l), 31);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}
