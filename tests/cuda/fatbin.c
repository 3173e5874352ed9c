/* Fat binaries: what nvcc's tools write, and what is damaged. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "emu/gpu.h"
#include "tests/support/driver_calls.h"
#include "tests/support/fatbins.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL(name, target, value)                                                                \
    ".version 8.0\n.target " target "\n.address_size 64\n"                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n .reg .b64 %rd1; ld.param.u64 %rd1, [out];\n"   \
    " st.global.u32 [%rd1], " value "; ret;\n}\n"

static void add(struct buf *b, unsigned sm, const char *text, enum packing packing)
{
    fatbin_add(b, FATBIN_PTX, sm, text, strlen(text) + 1, packing);
}

static char *text_of(const struct buf *b, unsigned sm, char **why)
{
    struct fatbin f;
    struct fatbin_entry e;
    size_t length = 0;
    *why = NULL;
    if (!fatbin_open(&f, b->data, b->size, why)) return NULL;
    if (!fatbin_choose(&f, sm, &e, why)) return NULL;
    return fatbin_text(&e, &length, why);
}

static void is_text(const struct buf *b, unsigned sm, const char *want)
{
    char *why, *text = text_of(b, sm, &why);
    cr_assert(text, "%s", why);
    cr_expect_str_eq(text, want);
    free(text);
}

static void is_refused(const struct buf *b, const char *because)
{
    char *why, *text = text_of(b, 90, &why);
    cr_assert_null(text);
    cr_assert(why);
    cr_expect(strstr(why, because), "%s", why);
    free(why);
}

Test(fatbin, unpacks_every_packing)
{
    char text[5000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i * i % 26);
    text[sizeof text - 1] = '\0';
    for (enum packing p = STORED; p <= ZSTD; p++) {
        struct buf b = {0};
        fatbin_add(&b, FATBIN_CUBIN, 75, "\177ELF", 4, STORED);
        add(&b, 75, text, p);
        is_text(&b, 90, text);
        buf_free(&b);
    }
}

Test(fatbin, chooses_the_newest_that_the_device_runs)
{
    struct buf b = {0};
    add(&b, 80, "for 80", ZSTD);
    add(&b, 52, "for 52", STORED);
    add(&b, 100, "for 100", LZ4);
    add(&b, 90, "for 90", ZSTD);
    is_text(&b, 90, "for 90");
    is_text(&b, 89, "for 80");
    is_text(&b, 120, "for 100");
    char *why;
    cr_expect(!text_of(&b, 50, &why) &&
              strstr(why, "no PTX for sm_50: PTX for sm_80, PTX for sm_52"));
    free(why);
    fatbin_add(&b, FATBIN_CUBIN, 53, "\177ELF", 4, STORED);
    cr_expect(!text_of(&b, 50, &why));
    free(why);
    /* a device that runs the machine code is given the oldest PTX instead */
    fatbin_add(&b, FATBIN_CUBIN, 50, "\177ELF", 4, STORED);
    is_text(&b, 50, "for 52");
    cr_expect(!text_of(&b, 37, &why));
    free(why);
    buf_free(&b);
}

Test(fatbin, says_what_there_is_instead_of_ptx)
{
    struct buf b = {0};
    fatbin_add(&b, FATBIN_CUBIN, 86, "\177ELF", 4, STORED);
    fatbin_add(&b, FATBIN_LTO, 90, "ir", 2, ZSTD);
    is_refused(&b, "no PTX: machine code for sm_86, LTO-IR for sm_90; compile with -gencode "
                   "arch=compute_75,code=compute_75");
    buf_free(&b);
}

/* Whatever byte is wrong: an answer, and nothing read outside (run under the sanitizers). */
Test(fatbin, survives_damage)
{
    struct buf b = {0};
    add(&b, 75, KERNEL("k", "sm_75", "1"), ZSTD);
    add(&b, 80, KERNEL("k", "sm_80", "2"), LZ4);
    for (size_t n = 0; n < b.size;
         n++) { /* a copy of its own: what is behind it belongs to nobody */
        char *cut = malloc(n ? n : 1);
        memcpy(cut, b.data, n);
        is_refused(&(struct buf){.data = cut, .size = n}, "fat binary");
        free(cut);
    }
    for (size_t at = 0; at < b.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            char *why;
            b.data[at] = (char)(b.data[at] ^ 1 << bit);
            free(text_of(&b, 90, &why));
            free(why);
            b.data[at] = (char)(b.data[at] ^ 1 << bit);
        }
    is_text(&b, 90, KERNEL("k", "sm_80", "2"));
    buf_free(&b);
}

/* ---- loaded ---------------------------------------------------------------------------------------- */

Test(fatbin, is_loaded_as_a_container_a_wrapper_and_a_file, .init = driver_start,
     .fini = cuda_device_reset)
{
    struct buf b = {0};
    CUmodule m;
    char path[] = "/tmp/heddle-fatbin-XXXXXX";
    add(&b, 75, KERNEL("k", "sm_75", "75"), ZSTD);
    add(&b, 90, KERNEL("k", "sm_90", "90"), ZSTD);
    OK(cuModuleLoadData(&m, b.data));
    cr_expect_eq(driver_stored_by(m, "k"), 90);
    OK(cuModuleUnload(m));
    const struct fatbin_wrapper w = {.magic = FATBIN_WRAPPER_MAGIC, .version = 1, .data = b.data};
    OK(cuModuleLoadFatBinary(&m, &w));
    cr_expect_eq(driver_stored_by(m, "k"), 90);
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, b.data, b.size) == (ssize_t)b.size);
    OK(cuModuleLoad(&m, path));
    cr_expect_eq(driver_stored_by(m, "k"), 90);
    cr_assert(ftruncate(file, (off_t)b.size - 1) == 0);
    cr_expect_eq(cuModuleLoad(&m, path), CUDA_ERROR_INVALID_IMAGE);
    close(file);
    unlink(path);
    buf_free(&b);
}

Test(fatbin, is_chosen_for_the_gpu)
{
    static const struct {
        const char *gpu;
        unsigned value; /* 0: there is none for it */
    } rows[] = {{"h100", 90}, {"a100", 75}, {"rtx2080ti", 75}, {"v100", 75}, {"gtx480", 75}};
    struct buf b = {0};
    CUcontext c;
    CUmodule m;
    add(&b, 75, KERNEL("k", "sm_75", "75"), STORED);
    add(&b, 90, KERNEL("k", "sm_90", "90"), STORED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cuda_device_configure(
            &(struct emu_config){.memory = 64 << 20, .gpu = emu_gpu_find(rows[i].gpu)});
        cuda_device_watch(&(struct cuda_watch){.quiet = true});
        OK(cuInit(0));
        OK(cuCtxCreate(&c, NULL, 0, 0));
        const CUresult r = cuModuleLoadData(&m, b.data);
        cr_expect_eq(r, rows[i].value ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU, "%s: %d",
                     rows[i].gpu, r);
        if (rows[i].value) cr_expect_eq(driver_stored_by(m, "k"), rows[i].value);
        cuda_device_reset();
    }
    buf_free(&b);
    /* with none for a current GPU there is none for an older one */
    static const char *const none[] = {"a100", "v100"};
    add(&b, 90, KERNEL("k", "sm_90", "90"), STORED);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cuda_device_configure(
            &(struct emu_config){.memory = 64 << 20, .gpu = emu_gpu_find(none[i])});
        cuda_device_watch(&(struct cuda_watch){.quiet = true});
        OK(cuInit(0));
        OK(cuCtxCreate(&c, NULL, 0, 0));
        cr_expect_eq(cuModuleLoadData(&m, b.data), CUDA_ERROR_NO_BINARY_FOR_GPU);
        cuda_device_reset();
    }
    buf_free(&b);
}

/* As of objects compiled with -rdc=true: one module of them all. */
Test(fatbin, links_the_containers_of_a_list, .init = driver_start, .fini = cuda_device_reset)
{
    struct buf a = {0}, b = {0};
    CUmodule m;
    add(&a, 75,
        ".version 7.0\n.target sm_75\n.address_size 64\n.extern .global .u32 shared_value;\n"
        ".visible .entry k(.param .u64 out)\n{\n .reg .b64 %rd1; .reg .b32 %r1;\n"
        " ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [shared_value];\n"
        " st.global.u32 [%rd1], %r1; ret;\n}\n",
        ZSTD);
    add(&b, 75,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .u32 shared_value = 7;\n",
        LZ4);
    const void *const list[] = {a.data, b.data, NULL};
    const struct fatbin_wrapper w = {.magic = FATBIN_WRAPPER_MAGIC, .version = 2, .objects = list};
    OK(cuModuleLoadData(&m, &w));
    cr_expect_eq(driver_stored_by(m, "k"), 7);
    buf_free(&a);
    buf_free(&b);
}

Test(fatbin, without_ptx_is_no_binary_for_the_device, .init = driver_start,
     .fini = cuda_device_reset)
{
    struct buf b = {0};
    CUmodule m;
    char log[200];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    fatbin_add(&b, FATBIN_CUBIN, 86, "\177ELF", 4, STORED);
    cr_expect_eq(cuModuleLoadDataEx(&m, b.data, 2, options, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
    cr_expect(strstr(log, "machine code for sm_86"), "%s", log);
    buf_free(&b);
}

/* ---- against nvcc ---------------------------------------------------------------------------------- */

static char *output_of(const char *command)
{
    struct buf b = {0};
    char part[4096];
    size_t n;
    FILE *f = popen(command, "r");
    cr_assert(f);
    while ((n = fread(part, 1, sizeof part, f)) > 0) buf_add(&b, part, n);
    cr_assert_eq(pclose(f), 0, "%s", command);
    return b.data;
}

/* Without comments and blanks, which its tools drop or squeeze. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
        if (!*p) break;
        if (!strchr(" \t\n\r", *p)) *to++ = *p;
    }
    *to = '\0';
}

Test(fatbin, gives_the_text_that_nvcc_put_in)
{
    if (system("command -v nvcc >/dev/null 2>&1") != 0) cr_skip_test("no nvcc here");
    static const char *const modes[] = {"default", "speed", "size", "none"};
    char command[400];
    char *want = output_of("nvcc -ptx -arch=compute_80 -o - suites/kernels/histogram.cu");
    squeeze(want);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct buf b = {0};
        char *why, path[] = "/tmp/heddle-nvcc-XXXXXX";
        close(mkstemp(path));
        snprintf(command, sizeof command,
                 "nvcc -fatbin -gencode arch=compute_75,code=compute_75 "
                 "-gencode arch=compute_80,code=[compute_80,sm_80] --compress-mode=%s -o %s "
                 "suites/kernels/histogram.cu",
                 modes[i], path);
        cr_assert_eq(system(command), 0);
        b.data = read_file(path, &b.size);
        char *text = text_of(&b, 86, &why);
        cr_assert(text, "%s: %s", modes[i], why);
        squeeze(text);
        cr_expect_str_eq(text, want, "%s", modes[i]);
        free(text);
        buf_free(&b);
        unlink(path);
    }
    free(want);
}
