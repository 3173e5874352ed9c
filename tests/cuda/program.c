/* CUDA programs under `heddle run`: what their files say, and how they run. Those that want nvcc are in
 * tests/programs/, each checks itself. */
#define _GNU_SOURCE
#include "cuda/program.h"
#include "tests/support/fatbins.h"
#include "tests/support/programs.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what files say ------------------------------------------------------------------------------------ */

static struct program program_of(const char *name)
{
    char path[200], *why = NULL;
    struct program p;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(program_read(path, &p, &why), "%s", why);
    return p;
}

static void write_fatbin(const char *name, unsigned kind)
{
    char path[200];
    struct buf b = {0};
    fatbin_add(&b, kind, 75, "code", 4, STORED);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
    buf_free(&b);
}

/* A program of an empty container and one of this kind, against a library of this name. */
static struct program linked(unsigned kind, const char *library)
{
    write_fatbin("code", kind);
    cr_assert_eq(
        sh("printf '.section .nv_fatbin,\"a\"\n.long 0xba55ed50\n.short 1,16\n.quad 0\n.incbin \"code\"\n' "
           ">code.s; echo 'int main(void) { return 0; }' >main.c; echo >lib.c; "
           "cc -shared -Wl,-soname,%s -o lib.so lib.c && "
           "cc -o program main.c %s -Wl,--no-as-needed ./lib.so",
           library, kind ? "code.s" : ""),
        0, "%s", said.data);
    return program_of("program");
}

Test(program, is_served_with_ptx_and_a_shared_runtime, .init = program_start, .fini = program_stop)
{
    struct program p = linked(FATBIN_PTX, "libcudart.so.13");
    cr_expect_eq(p.kind, PROGRAM_SERVED);
    cr_expect_str_eq(p.runtime, "libcudart.so.13");
    p = linked(0, "libcuda.so.1");
    cr_expect(p.kind == PROGRAM_SERVED && p.driver && !*p.runtime);
    p = linked(0, "libother.so");
    cr_expect_eq(p.kind, PROGRAM_PLAIN);
}

Test(program, is_to_be_built_again_otherwise, .init = program_start, .fini = program_stop)
{
    struct program p = linked(FATBIN_PTX, "libother.so");
    cr_expect_eq(p.kind, PROGRAM_STATIC);
    cr_expect_str_eq(program_flags(&p), "-cudart shared");
    p = linked(FATBIN_CUBIN, "libother.so");
    cr_expect_eq(p.kind, PROGRAM_STATIC);
    cr_expect_str_eq(program_flags(&p), "-gencode arch=compute_75,code=compute_75 -cudart shared");
    p = linked(FATBIN_CUBIN, "libcudart.so.13");
    cr_expect_eq(p.kind, PROGRAM_SASS);
    cr_expect_str_eq(program_flags(&p), "-gencode arch=compute_75,code=compute_75");
}

Test(program, may_be_anything, .init = program_start, .fini = program_stop)
{
    char path[200], *why = NULL;
    struct program p;
    cr_assert_eq(sh("echo '#!/bin/sh' >script; : >empty; head -c 3000 /proc/self/exe >cut"), 0);
    cr_expect_eq(program_of("script").kind, PROGRAM_FOREIGN);
    cr_expect_eq(program_of("cut").kind, PROGRAM_PLAIN);
    snprintf(path, sizeof path, "%s/empty", folder);
    cr_expect(!program_read(path, &p, &why) && strstr(why, "empty"));
    free(why);
    cr_expect(!program_read("/no/such/file", &p, &why) && strstr(why, "No such file"));
    free(why);
}

/* ---- run ----------------------------------------------------------------------------------------------- */

static const char kernels[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry fill(.param .u64 out, .param .u32 n)\n{\n"
    " .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    " mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p, %r5, %r1; @%p ret;\n"
    " mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5; ret;\n}\n"
    ".visible .entry sum(.param .u64 out)\n{\n"
    " .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    " mad.lo.u32 %r1, %r2, %r3, %r4; cvt.rn.f32.u32 %f1, %r1; mul.f32 %f2, %f1, 0f3DCCCCCD;\n"
    " red.global.add.f32 [%rd1], %f2; ret;\n}\n"
    ".visible .entry last(.param .u64 out)\n{\n"
    " .reg .b32 %r1; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry astray()\n{\n .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry spin(.param .u64 out)\n{\n .reg .b64 %rd1; .reg .pred %p; mov.u64 %rd1, 0;\n"
    " again: add.u64 %rd1, %rd1, 1; setp.ne.u64 %p, %rd1, 0; @%p bra again;\n ret;\n}\n"
    ".visible .global .align 4 .u32 latest[2];\n"
    ".visible .entry mark(.param .u64 out)\n{\n .reg .pred %p; .reg .b32 %r<3>;\n"
    " mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p ret;\n"
    " mov.u32 %r2, %ctaid.x; st.global.u32 [latest+4], %r2; ret;\n}\n";

static void write_container(const char *name, const char *ptx, size_t size)
{
    char path[200];
    struct buf b = {0};
    fatbin_add(&b, FATBIN_PTX, 75, ptx, size, ZSTD);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
    buf_free(&b);
}

static void build_registered_on(const char *library)
{
    write_container("code", kernels, sizeof kernels);
    cr_assert_eq(sh("cc -g -I'%s' -DFATBIN='\"%s/code\"' -o app '%s/tests/programs/registered.c' "
                    "-Wl,-rpath-link,'%s' '%s/%s'",
                    here, folder, here, libraries, libraries, library),
                 0, "%s", said.data);
}

static void build_registered(void)
{
    build_registered_on("libcudart.so.13");
}

Test(program, runs_with_its_arguments_and_exit_status, .init = program_start_runs,
     .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run ./app", heddle), 0);
    cr_expect(strstr(said.data, "cudaSuccess 4950\nheddle: 2 launches, "), "%s", said.data);
    cr_expect(strstr(said.data, "0 faults, 0 findings\n"), "%s", said.data);
    cr_expect_eq(sh("'%s' run --quiet --order=gpudet ./app 7", heddle), 7);
    cr_expect_str_eq(said.data, "cudaSuccess 4950\n");
    cr_expect_eq(sh("LD_LIBRARY_PATH='%s' HEDDLE_ORDER=dab ./app 8", libraries), 8);
    cr_expect_str_eq(said.data, "cudaSuccess 4950\n");
}

/* nvcc names libcudart_static.a unless an option says otherwise; with -L it is Heddle's. */
Test(program, linked_with_the_static_runtime_runs, .init = program_start_runs, .fini = program_stop)
{
    build_registered_on("static-13/libcudart_static.a");
    cr_expect_eq(program_of("app").kind, PROGRAM_SERVED);
    cr_expect_eq(sh("'%s' run --quiet ./app 7", heddle), 7);
    cr_expect_str_eq(said.data, "cudaSuccess 4950\n");
}

/* With 'h' something of the host is where memory of devices begins, with 'b' at the other place for it, too; the copies
 * are between memory of the device and a buffer of the host that is there, or on its heap. Prints the device's address. */
static const char low_buffers[] =
    "#include <sys/mman.h>\n"
    "int main(int argc, char **argv)\n{\n"
    "    const char how = argv[1][0];\n"
    "    char *p = malloc(64), *pinned;\n"
    "    CUcontext c; CUdeviceptr d; int wrong = 0;\n"
    "    if (how != 'p') p = mmap((void *)0x30000000, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);\n"
    "    if (how == 'b') mmap((void *)0x90000000, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);\n"
    "    wrong += p == MAP_FAILED || cuInit(0) || cuCtxCreate(&c, NULL, 0, 0) || cuMemAlloc(&d, 1 << 30);\n"
    "    strcpy(p, \"copied\");\n"
    "    wrong += cuMemcpyHtoD(d + 16, p, 7) || cuMemcpyDtoD(d + 32, d + 16, 7);\n"
    "    memset(p, 0, 7);\n"
    "    wrong += cuMemcpyDtoH(p, d + 32, 7) || strcmp(p, \"copied\");\n"
    "    wrong += cuMemHostAlloc((void **)&pinned, 64, 0) || cuMemcpyDtoH(pinned, d + 16, 7) || strcmp(pinned, \"copied\");\n"
    "    if (how == 'b') goto end;\n"
    "    memset(p, 0, 7);\n"
    "    wrong += cuMemcpy((CUdeviceptr)(size_t)p, d + 32, 7) || strcmp(p, \"copied\");\n"
    "    wrong += cuMemcpyHtoD(d, (void *)(size_t)(d + 16), 7) != CUDA_ERROR_INVALID_VALUE;\n"
    "end:\n"
    "    printf(\"0x%llx wrong %d\\n\", (unsigned long long)d, wrong);\n"
    "    return wrong;\n}\n";

/* The heap of a program that is not position-independent begins anywhere below 0x41000000 + its size. */
Test(program, memory_of_the_host_at_low_addresses_is_not_the_devices, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("pie", low_buffers);
    cr_assert_eq(sh("cc -I'%s' -fPIE -pie -o pie pie.c '%s/libcuda.so.1' && "
                    "cc -I'%s' -fno-pie -no-pie -o fixed pie.c '%s/libcuda.so.1'",
                    here, libraries, here, libraries),
                 0, "%s", said.data);
    for (int i = 0; i < 8; i++) {
        cr_expect_eq(sh("'%s' run --quiet ./fixed p", heddle), 0, "%s", said.data);
        cr_expect_str_eq(said.data, "0x80000000 wrong 0\n");
    }
    cr_expect_eq(sh("'%s' run --quiet ./pie p", heddle), 0, "%s", said.data);
    cr_expect_str_eq(said.data, "0x20000000 wrong 0\n");
    cr_expect_eq(sh("'%s' run --quiet ./pie h", heddle), 0, "%s", said.data);
    cr_expect_str_eq(said.data, "0x80000000 wrong 0\n");
    cr_expect_eq(sh("'%s' run --quiet ./pie b", heddle), 0, "%s", said.data);
    cr_expect_str_eq(said.data, "0x20000000 wrong 0\n");
}

/* As cuBLAS and its like do, which hold it. NVRTC goes on without. */
Test(program, a_library_with_the_runtime_of_NVIDIA_is_named, .init = program_start_runs,
     .fini = program_stop)
{
    cr_assert_eq(
        sh("echo 'int cuInit(int), cuGetExportTable(const void **, const char *);"
           "int ask(void) { const void *t; cuInit(0);"
           "return cuGetExportTable(&t, \"0123456789abcde\") == 801 && !t ? 0 : 1; }' > l.c; "
           "echo 'int ask(void); int main(void) { return ask(); }' > main.c; "
           "for l in libmath.so.3 libnvrtc.so.13; do "
           "cc -shared -fPIC -Wl,-soname,$l -o $l l.c '%s/libcuda.so.1' && "
           "cc -o app-$l main.c ./$l -Wl,-rpath-link,'%s' || exit 1; done",
           libraries, libraries),
        0, "%s", said.data);
    cr_expect_eq(sh("LD_LIBRARY_PATH=. '%s' run ./app-libmath.so.3", heddle), 0, "%s", said.data);
    cr_expect(strstr(said.data, "heddle: libmath.so.3 holds NVIDIA's own runtime, which wants"),
              "%s", said.data);
    cr_expect_eq(sh("LD_LIBRARY_PATH=. '%s' run ./app-libnvrtc.so.13", heddle), 0);
    cr_expect(!strstr(said.data, "holds"), "%s", said.data);
}

Test(program, that_faults_exits_with_3, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run ./app 0 astray", heddle), 3);
    cr_expect(strstr(said.data, "out of bounds: write of 4 bytes at 0x8"), "%s", said.data);
    cr_expect(strstr(said.data, "  at <PTX in app>:"), "%s", said.data);
    cr_expect(strstr(said.data, "cudaErrorIllegalAddress 0\n"), "%s", said.data);
    cr_expect(strstr(said.data, "1 faults, 0 findings\n"), "%s", said.data);
}

Test(program, that_calls_wrongly_gets_the_place, .init = program_start_runs, .fini = program_stop)
{
    static const char *const calls[] = {
        "cudaMemcpy failed: cudaErrorInvalidValue",
        "cudaStreamSynchronize failed: cudaErrorInvalidResourceHandle",
        "cudaLaunchKernel failed: cudaErrorInvalidConfiguration",
        "cudaMalloc failed: cudaErrorInvalidValue"};
    build_registered();
    cr_expect_eq(sh("'%s' run ./app 0 wrong", heddle), 0);
    cr_expect(!strstr(said.data, "failed"), "%s", said.data);
    cr_expect_eq(sh("'%s' run --check api ./app 0 wrong", heddle), 3);
    cr_expect(strstr(said.data, "0 faults, 4 findings\n"), "%s", said.data);
    const char *at = said.data;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        at = strstr(at, calls[i]);
        cr_assert(at, "no '%s' in %s", calls[i], said.data);
        const char *stack = strchr(at, '\n') + 1;
        cr_expect(strncmp(stack, "  called by wrong_calls at ", 27) == 0, "%s", stack);
        cr_expect(strncmp(strchr(stack, '\n') + 1, "  called by main at ", 20) == 0, "%s", stack);
    }
}

/* 40 CTAs write to a variable, one thread to an element of an allocation. */
Test(program, writes_are_watched, .init = program_start_runs, .fini = program_stop)
{
    static const char *const orders[] = {"native", "random:uninitialised=zero --seed 3", "gpudet",
                                         "dab"};
    static const char fill[] =
        "heddle: cuMemAlloc #1[99]: 0 -> 99, store by thread (3,0,0) of CTA (3,0,0), launch 1 of "
        "kernel 'fill', PTX line 10\n";
    build_registered();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        cr_expect_eq(sh("'%s' run --order %s --watch 'latest[1]:s32' --watch 'cuMemAlloc #1[99]' "
                        "--watch 'latest[0]' ./app 0 mark",
                        heddle, orders[i]),
                     0);
        /* Of what is written in one quantum gpudet shows the last. random may put a store before a newer one of another
         * CTA into the coherence order: such a store never changes memory. */
        const bool all = strcmp(orders[i], "native") == 0 || strcmp(orders[i], "dab") == 0;
        const size_t shown = times("heddle: latest[1]: ");
        cr_expect(all ? shown == 40 : shown >= 1 && shown <= 40, "%s: %s", orders[i], said.data);
        cr_expect_eq(times(" of kernel 'mark', PTX line "), shown, "%s: %s", orders[i], said.data);
        cr_expect_eq(times(fill), 1, "%s: %s", orders[i], said.data);
        cr_expect_eq(times("heddle: latest[0]: no write\n"), 1, "%s: %s", orders[i], said.data);
        const size_t of_17 = times("-> 17, store by thread (0,0,0) of CTA (17,0,0), ");
        cr_expect(all ? of_17 == 1 : of_17 <= 1, "%s: %s", orders[i], said.data);
    }
    cr_expect_eq(
        sh("HEDDLE_WATCH='latest,cuMemAlloc #1[99]' LD_LIBRARY_PATH='%s' ./app 0 mark", libraries),
        0);
    cr_expect(times("heddle: latest[1]: 38 -> 39, store") == 1 && times(fill) == 1, "%s",
              said.data);
}

Test(program, writes_are_in_json, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run --format json --watch 'latest[1]' --watch 'cuMemAlloc #1[99]:f32' "
                    "./app 0 mark",
                    heddle),
                 0);
    json_t *o = json_loads(said.data, 0, NULL), *list = json_object_get(o, "writes");
    cr_assert(o, "%s", said.data);
    cr_expect_eq(json_array_size(list), 41);
    cr_expect_eq(json_integer_value(json_object_get(o, "writes_left_out")), 0);
    const char *where, *kind, *kernel, *function;
    int before, after, launch, cta, thread, line;
    cr_expect(json_unpack(json_array_get(list, 40),
                          "{s:s,s:i,s:i,s:s,s:s,s:i,s:[i,*],s:[i,*],s:s,"
                          "s:i}",
                          "where", &where, "before", &before, "after", &after, "kind", &kind,
                          "kernel", &kernel, "launch", &launch, "cta", &cta, "thread", &thread,
                          "function", &function, "line", &line) == 0);
    cr_expect_str_eq(where, "latest[1]");
    cr_expect(before == 38 && after == 39 && launch == 2 && cta == 39 && thread == 0 && line > 30);
    cr_expect(!strcmp(kind, "store") && !strcmp(kernel, "mark") && !strcmp(function, "mark"));
    json_decref(o);
}

/* Which is a wrong call, known before the program starts or when it has ended. */
Test(program, what_is_not_there_is_not_watched, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run --watch 'lates[1]' ./app 0 mark", heddle), 2);
    cr_expect(strstr(said.data, "nothing to watch is called 'lates'"), "%s", said.data);
    cr_expect(strstr(said.data, "did you mean 'latest'?"), "%s", said.data);
    cr_expect_eq(sh("'%s' run --watch 'latest[2]' ./app 7 mark", heddle), 2);
    cr_expect(strstr(said.data, "element 2 is not in 'latest', which has 2 of type u32"), "%s",
              said.data);
    cr_expect_eq(sh("'%s' run --watch 'latest[1]:u33' ./app", heddle), 2);
    cr_expect(strstr(said.data, "'u33' is not a type") && !strstr(said.data, "cudaSuccess"), "%s",
              said.data);
    cr_expect_eq(sh("HEDDLE_WATCH='latest[1' LD_LIBRARY_PATH='%s' ./app 0 mark", libraries), 0);
    cr_expect(strstr(said.data, "nothing to watch is called 'latest[1'"), "%s", said.data);
    cr_expect_eq(sh("HEDDLE_WATCH='latest,x:u' LD_LIBRARY_PATH='%s' ./app", libraries), 100);
    cr_expect(strstr(said.data, "HEDDLE_WATCH:1:10: error: 'u' is not a type"), "%s", said.data);
}

/* Whoever misuses memory is named, and who allocated and freed it, under an order that puts operations off, too. */
Test(program, that_misuses_memory_gets_the_place, .init = program_start_runs, .fini = program_stop)
{
    static const char *const orders[] = {"native", "random"};
    static const char *const parts[] = {"out of bounds: write of 401 bytes at ",
                                        "by the host\n",
                                        "'cuMemAlloc #2'",
                                        "  called by misuse_memory at ",
                                        "  called by main at ",
                                        "  cuMemAlloc #2:\n  called by misuse_memory at ",
                                        "invalid free: cuMemFree #2 of ",
                                        "  called by misuse_memory at ",
                                        "use after free",
                                        "  called by misuse_memory at ",
                                        "  cuMemAlloc #3:\n  called by misuse_memory at ",
                                        "  cuMemFree #1:\n  called by misuse_memory at ",
                                        "kernel 'fill': out of bounds",
                                        "  called by misuse_memory at ",
                                        "  cuMemAlloc #2:\n  called by misuse_memory at "};
    build_registered();
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        cr_expect_eq(sh("'%s' run --order %s --check memory ./app 0 misuse", heddle, orders[k]), 3);
        const char *at = said.data;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            at = strstr(at, parts[i]);
            cr_assert(at, "%s: no '%s' in %s", orders[k], parts[i], said.data);
            at += strlen(parts[i]);
        }
    }
    cr_expect_eq(sh("'%s' run --check memory ./app", heddle), 3);
    cr_expect(strstr(said.data, "leak: 'cuMemAlloc #1', 400 bytes at "), "%s", said.data);
    cr_expect(strstr(said.data, "  cuMemAlloc #1:\n  called by main at "), "%s", said.data);
}

Test(program, counts_go_to_a_file, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run --counts counts.json ./app && cat counts.json", heddle), 0);
    cr_expect(strstr(said.data, "\"kernel\": \"fill\"") || strstr(said.data, "\"fill\""), "%s",
              said.data);
}

/* One document, in which what the program prints is, too. */
Test(program, is_reported_as_json, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run --format json ./app 7", heddle), 7);
    cr_expect_eq(strncmp(said.data, "{\n", 2), 0, "%s", said.data);
    expect_output("\"kind\": \"program\"");
    expect_output("\"status\": \"program failed\"");
    expect_output("\"exit_status\": 7");
    expect_output("\"kernel\": \"fill\"");
    expect_output("\"launches\": 2");
    expect_output("\"printed\": \"cudaSuccess 4950\\n\"");
    expect_output("\"fault\": null");
    cr_expect_eq(sh("'%s' run --format json --check api ./app 0 astray 2>/dev/null", heddle), 3);
    expect_output("\"status\": \"fault\"");
    expect_output("\"kind\": \"out of bounds\"");
    expect_output("\"kernel\": \"astray\"");
    expect_output("\"text\": \"out of bounds: write of 4 bytes at 0x8");
    expect_output("\"messages\": \"heddle: kernel 'astray': out of bounds");
    cr_expect_eq(sh("'%s' run --format json ./app 0 abort 2>/dev/null", heddle), 134);
    expect_output("\"exit_status\": 134");
    cr_expect_eq(sh("'%s' run --format xml ./app", heddle), 2);
}

Test(program, is_profiled, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run --profile ./app", heddle), 0);
    expect_output("cudaSuccess 4950\nshare %");
    expect_output("<PTX in app>:10");
    cr_expect_eq(sh("'%s' run --profile --format json ./app", heddle), 0);
    expect_output("\"profile\": [");
    expect_output("\"file\": \"<PTX in app>\"");
    expect_output("\"warp_instructions\": 8");
    /* A program's process sends what it counted. */
    cr_expect_eq(sh("'%s' run --fidelity ./app", heddle), 0);
    expect_output(" thread instructions have one right result (");
}

/* A setting means the same to a program as to a kernel file: one table reads it in both processes. */
Test(program, takes_settings_as_kernel_files_do, .init = program_start_runs, .fini = program_stop)
{
    static const char *const settings[] = {"--memory 1T", "--order random --seed 0x10",
                                           "--max-instructions 0x100000", "--threads 0x2"};
    build_registered();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cr_expect_eq(sh("'%s' run %s ./app", heddle, settings[i]), 0, "%s: %s", settings[i],
                     said.data);
        cr_expect(strstr(said.data, "cudaSuccess 4950\nheddle: 2 launches, "), "%s: %s",
                  settings[i], said.data);
    }
    cr_expect_eq(sh("'%s' run --format json --memory 1T ./app", heddle), 0, "%s", said.data);
    expect_output("\"launches\": 2");
    cr_expect_eq(sh("LD_LIBRARY_PATH='%s' HEDDLE_MEMORY=1T HEDDLE_SEED=0x10 ./app 7", libraries), 7,
                 "%s", said.data);
}

/* The program looks at no error and exits with 0. */
Test(program, without_a_device_has_not_passed, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("HEDDLE_MEMORY=8X '%s' run ./app 0 careless", heddle), 2, "%s", said.data);
    expect_output("environment:1:15: error: memory wants bytes up to 16T, as in 512M or 8G, not "
                  "'8X'\n    1 | HEDDLE_MEMORY=8X\n");
    expect_output("the device could not be created");
    cr_expect_eq(sh("HEDDLE_MEMORY=8X '%s' run --format json ./app 0 careless 2>/dev/null", heddle),
                 2, "%s", said.data);
    expect_output("\"status\": \"bad call\"");
    expect_output("\"exit_status\": 2");
    expect_output("environment:1:15: error: memory wants bytes");
    cr_expect_eq(sh("HEDDLE_MEMORY=8X '%s' check ./app 0 careless", heddle), 2, "%s", said.data);
    expect_output("environment:1:15: error: memory wants bytes");
    cr_expect_eq(sh("HEDDLE_MEMORY=8X '%s' check --format json ./app 0 careless", heddle), 2);
    cr_expect_eq(sh("LD_LIBRARY_PATH='%s' HEDDLE_MEMORY=8X ./app 0", libraries), 100);
    expect_output("environment:1:15: error: memory wants bytes");
}

/* What the program itself puts into its environment is seen by its own process alone. */
Test(program, that_spoils_its_environment_has_not_passed, .init = program_start_runs,
     .fini = program_stop)
{
    build_registered();
    cr_expect_eq(sh("'%s' run ./app 0 careless-by-itself", heddle), 2, "%s", said.data);
    expect_output("the device could not be created");
    cr_expect_eq(sh("'%s' run --format json ./app 0 careless-by-itself 2>/dev/null", heddle), 2);
    expect_output("\"status\": \"bad call\"");
    expect_output("\"launches\": []");
    expect_output("environment:1:15: error: memory wants bytes");
    cr_expect_eq(sh("'%s' check --runs 2 ./app 0 careless-by-itself", heddle), 2, "%s", said.data);
    expect_output("the device could not be created");
    cr_expect_eq(sh("'%s' check --runs 2 --format json ./app 0 careless-by-itself", heddle), 2);
    expect_output("the device could not be created");
}

/* What `sum` comes to depends on the order; with another program what differs is reported. */
Test(program, is_recorded_and_replayed, .init = program_start_runs, .fini = program_stop)
{
    char first[400];
    build_registered();
    cr_expect_eq(sh("'%s' run --order random --seed 5 --record a.rec ./app 0 sum", heddle), 0);
    snprintf(first, sizeof first, "%s", said.data);
    cr_expect_eq(sh("test ! -e a.rec.new && '%s' run --replay a.rec ./app 0 sum", heddle), 0, "%s",
                 said.data);
    cr_expect_eq(strncmp(said.data, first, strcspn(first, "\n")), 0, "%s%s", first, said.data);
    cr_expect_eq(sh("'%s' run --replay a.rec ./app 0 last", heddle), 3);
    expect_output("its kernel is 'last', not 'sum'");
    cr_expect_eq(sh("'%s' run --replay a.rec ./app 0 nothing", heddle), 1);
    expect_output("nothing was done for --replay");
    cr_expect_eq(sh("'%s' run --order random --record b.rec ./app", heddle), 0);
    cr_expect_eq(sh("'%s' run --replay a.rec ./app 0 misuse", heddle), 3);
    cr_expect_eq(sh("'%s' run --replay code ./app", heddle), 1);
    expect_output("this is no recording");
    cr_expect_eq(sh("'%s' run --record a.rec ./app", heddle), 2);
    expect_output("add --order random");
    cr_expect_eq(sh("'%s' run --order random --record no/a.rec ./app", heddle), 2);
    expect_output("cannot write 'no/a.rec'");
    cr_expect_eq(sh("'%s' run --replay a.rec --order random ./app", heddle), 2);
}

Test(program, that_cannot_be_served_is_refused, .init = program_start_runs, .fini = program_stop)
{
    (void)linked(FATBIN_CUBIN, "libother.so");
    cr_expect_eq(sh("'%s' run ./program", heddle), 1);
    cr_expect(strstr(said.data, "NVCC_APPEND_FLAGS=\"-gencode arch=compute_75,code=compute_75 "
                                "-cudart shared\""),
              "%s", said.data);
    (void)linked(FATBIN_PTX, "libcudart.so.10");
    cr_expect_eq(sh("'%s' run ./program", heddle), 1);
    cr_expect(strstr(said.data, "needs libcudart.so.10"), "%s", said.data);
    build_registered();
    cr_expect_eq(sh("'%s' run --grid 4 ./app", heddle), 2);
    cr_expect(strstr(said.data, "--grid cannot be used with a program"), "%s", said.data);
    cr_expect_eq(sh("'%s' run --order none ./app", heddle), 2);
    cr_expect_eq(sh("cp app closed; chmod -x closed; '%s' run ./closed", heddle), 2);
    cr_expect(strstr(said.data, "cannot run './closed': Permission denied"), "%s", said.data);
}

/* ---- check --------------------------------------------------------------------------------------------- */

static void expect_check(const char *arguments, int status, const char *text)
{
    cr_expect_eq(sh("'%s' check %s", heddle, arguments), status, "%s: %s", arguments, said.data);
    cr_expect(strstr(said.data, text), "%s: not '%s': %s", arguments, text, said.data);
}

Test(program, is_checked, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    expect_check("--runs 3 ./app", 0,
                 "./app: deterministic (one result under every order tried)\n");
    expect_check("--runs 3 ./app", 0, "\nnative       2        1           1       0\n");
    expect_check("--runs 9 ./app 0 sum", 6, "./app: deterministic under gpudet, dab only\n");
    expect_check("--runs 9 ./app 0 sum", 6, "  launch 2 (sum)\n");
    expect_check("--runs 9 ./app 0 sum", 6, "last written by atomic add.f32, thread (");
    expect_check("--runs 3 ./app 0 last", 7, "./app: racy, nondeterministic\n");
    expect_check("--runs 3 --no-race ./app 0 last", 6, "./app: nondeterministic\n");
    expect_check("--runs 3 ./app 7", 4,
                 "the program ended with exit status 7; its last lines:\n"
                 "  cudaSuccess 4950\n");
    expect_check("--runs 3 ./app 0 astray", 3, "out of bounds: write of 4 bytes at 0x8");
    expect_check("--runs 3 ./app 0 abort", 3, "the program was ended by a signal: Aborted");
    expect_check("./app 7 nothing", 1, "ended with exit status 7 and has launched no kernel");
    expect_check("./program", 2, "cannot read");
}

/* Neither of the two processes is left; a hang of the host is distinguished from one of a kernel. */
Test(program, that_hangs_is_ended, .init = program_start_runs, .fini = program_stop)
{
    int first, second;
    build_registered();
    expect_check(
        "--run-timeout 0.7 --runs 1 --order native --no-race ./app 0 hangs", 5,
        "the run was ended after 0.7 s (--run-timeout): no kernel was running; 1 launch had ended, the "
        "last of 'fill'\n  its last lines:\n  waits ");
    cr_expect(strstr(said.data, "\nnative       2        0           0       2\n"), "%s",
              said.data);
    cr_expect(strstr(said.data, "\n./app: failed\n"), "%s", said.data);
    const char *waits = strstr(said.data, "  waits ");
    cr_assert(waits && sscanf(waits, " waits %d %d", &first, &second) == 2, "%s", said.data);
    cr_expect(kill(first, 0) != 0 && errno == ESRCH);
    for (int tries = 0; tries < 500 && kill(second, 0) == 0; tries++)
        usleep(10000); /* init reaps it */
    cr_expect(kill(second, 0) != 0 && errno == ESRCH);
    expect_check(
        "--run-timeout 0.7 --runs 1 --order native --no-race ./app 0 spin", 5,
        "(--run-timeout): kernel 'spin' was running; 1 launch had ended, the last of 'fill'\n");
    expect_check("--run-timeout 60 --runs 1 --order native ./app", 0, "./app: deterministic");
    /* what was not looked for to the end is not known to have no races */
    expect_check(
        "--run-timeout 3 --runs 1 --order native ./app 0 hangs-when-checked", 5,
        "\nthe run that looks for races failed\n  heddle run --check race,atomicity --order native "
        "--threads 1 ./app 0 hangs-when-checked\n  the run was ended after 3 s (--run-timeout)");
    cr_expect(strstr(said.data, "\n./app: failed\n"), "%s", said.data);
}

/* Programs copy addresses of the host, in structures, and what they hold is no result. */
Test(program, has_the_same_addresses_in_all_runs, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    expect_check("--runs 12 --order random,gpudet:quantum=300 ./app 0 pointer", 0,
                 "deterministic (");
}

/* What Heddle allocates for an order is not the program's. */
Test(program, has_a_heap_of_its_own, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    expect_check("--runs 8 --order random,gpudet:quantum=300,dab --no-race ./app 0 heap", 0,
                 "deterministic (");
}

/* Under random a launch may be done after the host has asked for more memory, which is no result of it. */
Test(program, allocates_beside_launches, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    expect_check("--runs 8 --order random ./app 0 allocates", 0, "deterministic (");
}

Test(program, that_varies_by_itself_is_recognised, .init = program_start_runs, .fini = program_stop)
{
    build_registered();
    expect_check("--runs 3 ./app 0 process", 6, "./app: varies by itself\n");
    expect_check("--runs 3 --format json ./app 0 process", 6, "\"verdict\": \"varies by itself\"");
}

/* A compiler that knows four architectures, says what it is asked for, and makes a copy of the program. */
static void make_compiler(void)
{
    build_registered();
    cr_assert_eq(
        sh("cat >compiler <<'end'\n#!/bin/sh\n"
           "[ \"$1\" = --list-gpu-arch ] && printf 'compute_%%s\\n' 75 80 90 100 && exit\n"
           "for last; do :; done; grep -q wrong \"$last\" && echo 'not so' && exit 2\n"
           "echo \"$@\" >words; while [ \"$1\" != -o ]; do shift; done; cp app \"$2\"\nend\n"
           "chmod +x compiler; echo right >sum.cu; echo wrong >bad.cu; mkdir temporary"),
        0, "%s", said.data);
    cr_assert_eq(setenv("NVCC", "./compiler", 1), 0);
}

Test(program, is_compiled_from_its_source, .init = program_start_runs, .fini = program_stop)
{
    make_compiler();
    cr_expect_eq(sh("TMPDIR=temporary '%s' run sum.cu 7", heddle), 7, "%s", said.data);
    cr_expect(strstr(said.data, "cudaSuccess 4950\n"), "%s", said.data);
    cr_expect_eq(sh("cat words"), 0);
    cr_expect(strstr(said.data, "-cudart shared "), "%s", said.data);
    cr_expect(strstr(said.data, "--extended-lambda "), "%s", said.data);
    cr_expect(strstr(said.data, "arch=compute_90,code=compute_90 "), "%s", said.data);
    cr_expect_eq(sh("TMPDIR=temporary '%s' run --gpu a100 sum.cu; cat words", heddle), 0);
    cr_expect(strstr(said.data, "arch=compute_80,code=compute_80 "), "%s", said.data);
    cr_expect_eq(sh("TMPDIR=temporary '%s' check --runs 2 --order random sum.cu 0 sum", heddle), 6);
    cr_expect(strstr(said.data, "1 x  heddle run --order random --seed 1 sum.cu 0 sum\n"), "%s",
              said.data);
    cr_expect_eq(sh("TMPDIR=temporary '%s' run bad.cu", heddle), 1);
    cr_expect(strstr(said.data, "heddle run: NVCC_APPEND_FLAGS holds more flags, as -rdc=true\n"),
              "%s", said.data);
    cr_expect(strstr(said.data, "not so\n"), "%s", said.data);
    cr_expect_eq(sh("TMPDIR=temporary '%s' run --gpu k40 sum.cu; cat words", heddle), 0);
    cr_expect(strstr(said.data, "arch=compute_75,code=compute_75 "), "%s", said.data);
    cr_expect_eq(sh("'%s' gpus rtx4090 >own.yaml", heddle), 0);
    cr_expect_eq(sh("TMPDIR=temporary '%s' run --gpu own.yaml sum.cu; cat words", heddle), 0);
    cr_expect(strstr(said.data, "arch=compute_80,code=compute_80 "), "%s", said.data);
    cr_expect_eq(sh("sed -i 's/ 75 80 90/ 90/' compiler; '%s' run --gpu a100 sum.cu", heddle), 2);
    cr_expect(strstr(said.data, "makes no PTX for compute capability 8.0 or below"), "%s",
              said.data);
    cr_expect_eq(sh("'%s' run there-is-none.cu", heddle), 2);
    cr_expect(strstr(said.data, "'there-is-none.cu': No such file"), "%s", said.data);
    cr_expect_eq(sh("rmdir temporary"), 0, "something was left behind: %s", said.data);
    cr_expect_eq(sh("NVCC=./no-compiler '%s' run sum.cu", heddle), 2);
    cr_expect(strstr(said.data, "cannot run './no-compiler': No such file"), "%s", said.data);
    cr_expect_eq(sh("NVCC=/usr/bin/clang++-19 '%s' run sum.cu", heddle), 2);
    cr_expect(strstr(said.data, "cannot replace nvcc"), "%s", said.data);
}

Test(program, is_run_again_by_what_a_check_prints, .init = program_start_runs, .fini = program_stop)
{
    char command[200], first[300];
    build_registered();
    expect_check("--runs 3 --order random ./app 0 sum", 6,
                 "  1 x  heddle run --order random --seed ");
    const char *from = strstr(said.data, "1 x  heddle run") + strlen("1 x  heddle ");
    snprintf(command, sizeof command, "%.*s", (int)strcspn(from, "\n"), from);
    cr_assert_eq(sh("'%s' %s", heddle, command), 0, "%s", said.data);
    snprintf(first, sizeof first, "%s", said.data);
    cr_assert_eq(sh("'%s' %s", heddle, command), 0, "%s", said.data);
    cr_expect_eq(strncmp(said.data, first, strcspn(first, "\n")), 0);
}

/* ---- those of older versions ------------------------------------------------------------------------------ */

Test(program, of_cuda_11_and_12_finds_their_structures, .init = program_start_runs,
     .fini = program_stop)
{
    static const struct {
        const char *library;
        int version;
    } older[] = {{"libcudart.so.12", 12090}, {"libcudart.so.11.0", 11080}};
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        cr_assert_eq(sh("cc -I'%s' -DCUDART_VERSION=%d -o app '%s/tests/programs/properties.c' "
                        "-Wl,-rpath-link,'%s' '%s/%s' && readelf -V app",
                        here, older[i].version, here, libraries, libraries, older[i].library),
                     0, "%s", said.data);
        cr_expect(strstr(said.data, older[i].library), "%s", said.data); /* as its version, too */
        cr_expect_eq(sh("'%s' run --quiet ./app", heddle), 0, "%s: %s", older[i].library,
                     said.data);
    }
}

Test(program, structures_are_laid_out_as_each_version_has_them, .init = program_start_runs,
     .fini = program_stop)
{
    static const int versions[] = {11080, 12040, 13000};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        cr_expect_eq(sh("cc -std=c11 -fsyntax-only -I'%s' -DCUDART_VERSION=%d "
                        "'%s/tests/programs/layouts.c'",
                        here, versions[i], here),
                     0, "%s", said.data);
}

/* out[i] = lin[i] + img[1][i], and lin[i] to the surface's second row. */
static const char references[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".global .texref space_lin;\n.global .texref img;\n.global .surfref surf;\n"
    ".visible .entry look(.param .u64 out)\n{\n"
    " .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r6, 1;\n"
    " tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [space_lin, {%r1}];\n"
    " cvt.rn.f32.u32 %f5, %r1; add.f32 %f5, %f5, 0f3F000000; mov.f32 %f6, 0f3FC00000;\n"
    " tex.2d.v4.u32.f32 {%r2, %r3, %r4, %r5}, [img, {%f5, %f6}]; mov.b32 %f7, %r2;\n"
    " add.f32 %f8, %f1, %f7; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " st.global.f32 [%rd3], %f8; shl.b32 %r7, %r1, 2; mov.b32 %r8, %f1;\n"
    " sust.b.2d.b32.trap [surf, {%r7, %r6}], {%r8}; ret;\n}\n";

Test(program, of_cuda_11_binds_texture_references, .init = program_start_runs, .fini = program_stop)
{
    static const char *const orders[] = {"native", "random", "gpudet", "dab"};
    write_container("code", references, sizeof references);
    cr_assert_eq(sh("cc -I'%s' -DCUDART_VERSION=11080 -DFATBIN='\"%s/code\"' -o app "
                    "'%s/tests/programs/references.c' -Wl,-rpath-link,'%s' '%s/libcudart.so.11.0'",
                    here, folder, here, libraries, libraries),
                 0, "%s", said.data);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        sh("'%s' run --quiet --order %s ./app", heddle, orders[i]);
        cr_expect(strstr(said.data, "\n0 wrong\n"), "%s: %s", orders[i], said.data);
        cr_expect(strstr(said.data, "nothing is bound to texture reference 'space_lin'"), "%s",
                  said.data);
    }
}

/* ---- what nvcc makes ------------------------------------------------------------------------------------- */

static void nvcc_program(const char *name, const char *flags)
{
    static const char *const orders[] = {"native", "gpudet", "dab", "random"};
    if (sh("command -v nvcc") != 0) cr_skip_test("no nvcc here");
    cr_assert_eq(sh("nvcc -cudart shared %s -o app '%s/tests/programs/%s.cu'", flags, here, name),
                 0, "%s", said.data);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        cr_expect_eq(sh("'%s' run --order %s ./app", heddle, orders[i]), 0, "%s: %s", orders[i],
                     said.data);
}

Test(program, of_nvcc_basics, .init = program_start_runs, .fini = program_stop)
{
    nvcc_program("basics", "-rdc=true");
    nvcc_program("basics", "-default-stream per-thread");
    nvcc_program("managed", "-rdc=true");
}

/* ---- those that check themselves ------------------------------------------------------------------------- */

struct built {
    char name[64];
};

static int executable(const struct dirent *e)
{
    return *e->d_name != '.' && !strchr(e->d_name, '.') && strlen(e->d_name) < sizeof(struct built);
}

/* What `make programs` has built; one without a name: nothing. */
ParameterizedTestParameters(program, finds_no_error_under_any_order)
{
    static struct built all[200];
    struct dirent **list = NULL;
    const int found = scandir("build/programs", &list, executable, alphasort);
    size_t count = 0;
    for (int i = 0; i < found; i++) {
        if (count < sizeof all / sizeof *all)
            memcpy(all[count++].name, list[i]->d_name, strlen(list[i]->d_name) + 1);
        free(list[i]);
    }
    free(list);
    return cr_make_param_array(struct built, all, count ? count : 1);
}

/* And all print the same. */
ParameterizedTest(struct built *p, program, finds_no_error_under_any_order,
                  .init = program_start_runs, .fini = program_stop)
{
    static const char *const orders[] = {"random --seed 1", "random --seed 2", "gpudet", "dab"};
    if (!*p->name) cr_skip_test("no programs: `make programs` builds them");
    cr_expect_eq(sh("'%s' run --quiet '%s/build/programs/%s' >native", heddle, here, p->name), 0,
                 "%s natively: %s", p->name, said.data);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        cr_expect_eq(
            sh("'%s' run --quiet --order %s '%s/build/programs/%s' >other && cmp native other",
               heddle, orders[i], here, p->name),
            0, "%s under %s: %s", p->name, orders[i], said.data);
}

/* On GPUs whose SMs hold blocks by other rules. */
Test(program, fits_blocks_as_cuda_s_calculator, .init = program_start_runs, .fini = program_stop)
{
    static const char *const gpus[] = {"gtx680", "titanx",    "p100",    "gtx1080", "v100",
                                       "a100",   "rtx2080ti", "rtx3070", "rtx4090", "b200"};
    if (sh("test -x '%s/build/programs/occupancy'", here) != 0)
        cr_skip_test("no programs: `make programs` builds them");
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        cr_expect_eq(
            sh("'%s' run --quiet --gpu %s '%s/build/programs/occupancy'", heddle, gpus[i], here), 0,
            "%s: %s", gpus[i], said.data);
}

Test(program, of_nvcc_graphs, .init = program_start_runs, .fini = program_stop)
{
    nvcc_program("captures", "");
    nvcc_program("captures", "-default-stream per-thread");
}

/* Two streams without an event between them: chance shows what may come out; with one it is the same. */
Test(program, streams_come_as_chance_has_it, .init = program_start_runs, .fini = program_stop)
{
    char first[64] = "";
    bool differ = false;
    if (sh("command -v nvcc") != 0) cr_skip_test("no nvcc here");
    cr_assert_eq(sh("nvcc -cudart shared -o app '%s/tests/programs/racy/stream_race.cu'", here), 0);
    for (unsigned seed = 1; seed <= 12; seed++) {
        cr_expect_eq(sh("'%s' run --quiet --order random --seed %u ./app", heddle, seed), 0);
        if (seed == 1) snprintf(first, sizeof first, "%.60s", said.data);
        differ |= strncmp(first, said.data, 60) != 0;
        cr_expect_eq(sh("'%s' run --quiet --order random --seed %u ./app ordered", heddle, seed),
                     0);
        cr_expect_str_eq(said.data, "23244 cudaSuccess\n");
    }
    cr_expect(differ);
}

Test(program, is_checked_with_its_streams, .init = program_start_runs, .fini = program_stop)
{
    if (sh("command -v nvcc") != 0) cr_skip_test("no nvcc here");
    cr_assert_eq(sh("nvcc -cudart shared -o app '%s/tests/programs/racy/stream_race.cu'", here), 0);
    cr_expect_eq(sh("'%s' check --runs 8 ./app ordered", heddle), 0, "%s", said.data);
    cr_expect_eq(sh("'%s' check --runs 8 ./app apart", heddle), 0, "%s", said.data);
    cr_expect(sh("'%s' check --runs 8 ./app", heddle) != 0, "%s", said.data);
    cr_expect(strstr(said.data, "race of streams"), "%s", said.data);
}

/* Of the program's kernels, each with a line when it is over, those whose name says so race, and no other: `line` with the
 * name in it is what is said then. */
static void expect_races_by_name(const char *source, const char *format, unsigned least_racy,
                                 unsigned least_others)
{
    if (sh("command -v nvcc") != 0) cr_skip_test("no nvcc here");
    cr_assert_eq(sh("sh '%s/tests/programs/build.sh' nvcc '%s/tests/programs/racy/%s' app", here,
                    here, source),
                 0, "%s", said.data);
    cr_expect_eq(sh("'%s' run --check race ./app", heddle), 3, "%s", said.data);
    unsigned racy = 0, count = 0;
    for (const char *at = said.data, *end; (end = strstr(at, ": cudaSuccess\n")); at = end + 1) {
        char kernel[64], line[128];
        const char *name = end;
        while (name > said.data && name[-1] != '\n') name--;
        snprintf(kernel, sizeof kernel, "%.*s", (int)(end - name), name);
        snprintf(line, sizeof line, format, kernel);
        const bool races = strlen(kernel) > 5 && !strcmp(kernel + strlen(kernel) - 5, "_racy");
        cr_expect_eq(strstr(said.data, line) != NULL, races, "%s", kernel);
        racy += races;
        count++;
    }
    cr_expect(racy >= least_racy && count >= racy + least_others, "%u of %u", racy, count);
}

/* With what CUDA C++ has for order. */
Test(program, has_the_races_that_its_kernels_names_say, .init = program_start_runs,
     .fini = program_stop)
{
    expect_races_by_name("syncs.cu", "kernel '%s': race: ", 31, 28);
}

/* Textures and surfaces. */
Test(program, fetches_what_it_has_written_and_gets_a_warning, .init = program_start_runs,
     .fini = program_stop)
{
    expect_races_by_name("fetches.cu", "kernel '%s': race: ", 13, 13);
}

/* Programmatic dependent launches. */
Test(program, begun_early_races_with_the_kernel_before, .init = program_start_runs,
     .fini = program_stop)
{
    expect_races_by_name("dependents.cu",
                         "in kernel '%s' would, which was launched to begin early\n", 12, 12);
}
