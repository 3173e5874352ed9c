/* How often one bug of a CUDA program is reported, and what the report says. */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The kernel of a program: lines 7 and 8 of k.cu race, in two copies as an unrolled loop has them. `line` is that of the
 * second copy's accesses. */
#define COPIES(line)                                                                                 \
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"             \
    "    \".visible .entry k(.param .u64 out)\\n{\\n .reg .b32 %r<9>; .reg .b64 %rd1;\\n\"\n"        \
    "    \" ld.param.u64 %rd1, [out];\\n .loc 1 7 0\\n ld.global.u32 %r1, [%rd1];\\n\"\n"            \
    "    \" add.u32 %r1, %r1, 1;\\n st.global.u32 [%rd1], %r1;\\n .loc 1 " line " 0\\n\"\n"          \
    "    \" ld.global.u32 %r2, [%rd1];\\n add.u32 %r2, %r2, 1;\\n st.global.u32 [%rd1], %r2;\\n\"\n" \
    "    \" ret;\\n}\\n.file 1 \\\"k.cu\\\"\\n\";\n"                                                 \
    "int main(void)\n{\n"                                                                            \
    "    CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p;\n"                                    \
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx); cuMemAlloc(&p, 4);\n"    \
    "    cuModuleGetFunction(&f, m, \"k\"); cuMemsetD32(p, 0, 1);\n"                                 \
    "    for (int i = 0; i < 3; i++)\n"                                                              \
    "        cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p}, NULL);\n"                 \
    "    cuCtxSynchronize(); return 0;\n}\n"

Test(program_findings, races_of_one_line_are_one_report, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", COPIES("7"));
    cr_expect_eq(sh("'%s' run --check race ./app", heddle), 3, "%s", said.data);
    cr_expect_eq(times("heddle: kernel 'k': race: two unordered accesses"), 1, "%s", said.data);
    expect_output("more pairs of instructions at these lines: counted here\n");
    expect_output("heddle: kernel 'k': race at k.cu:7 and k.cu:7: again in 2 later launches, ");
    expect_output("0 faults, 1 findings\n");
    cr_expect_eq(sh("'%s' check --runs 2 ./app", heddle), 7, "%s", said.data);
    expect_output("races: 1, ");
}

Test(program_findings, races_of_two_lines_are_not, .init = program_start_runs, .fini = program_stop)
{
    build_on_driver("app", COPIES("8"));
    cr_expect_eq(sh("'%s' run --check race ./app", heddle), 3, "%s", said.data);
    cr_expect_eq(times("heddle: kernel 'k': race: two unordered accesses"), 3, "%s", said.data);
    expect_output("0 faults, 3 findings\n"); /* 7 and 7, 7 and 8, 8 and 8 */
}

/* Of h[x[i]] += 1: the two sides of a race are never one thread. */
Test(program_findings, a_race_is_of_two_threads, .init = program_start_runs, .fini = program_stop)
{
    build_on_driver("app", COPIES("8"));
    cr_expect_eq(sh("'%s' run --check race ./app", heddle), 3, "%s", said.data);
    size_t races = 0;
    for (const char *at = said.data; (at = strstr(at, "race: two unordered")); races++) {
        const char *one = strstr(at, "  by thread "),
                   *other = one ? strstr(one + 1, "  by thread ") : NULL;
        cr_assert(one && other, "%s", at);
        const size_t length = strcspn(one, "\n");
        cr_expect(strncmp(one, other, length) != 0, "%.*s", (int)(other + length - at), at);
        at = other;
    }
    cr_expect_eq(races, 3);
}

Test(program_findings, leaks_of_one_place_are_one_report, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", "int main(void)\n{\n"
                           "    CUcontext c; CUdeviceptr p;\n"
                           "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0);\n"
                           "    for (int i = 0; i < 300; i++) cuMemAlloc(&p, 40);\n"
                           "    cuMemAlloc(&p, 7);\n"
                           "    return 0;\n}\n");
    cr_expect_eq(sh("'%s' run --check memory ./app", heddle), 3, "%s", said.data);
    cr_expect_eq(times("leak: "), 2, "%s", said.data);
    expect_output("leak: 'cuMemAlloc #1', 40 bytes at ");
    expect_output("  ... and 299 more from there, 12000 bytes in all\n");
    expect_output("leak: 'cuMemAlloc #301', 7 bytes at ");
    expect_output("0 faults, 2 findings\n");
}

/* ---- what the program prints ------------------------------------------------------------------------------- */

/* The kernel writes 5 to managed memory; the host reads it before or after it has waited, and tells a time. */
#define READS(early)                                                                               \
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"           \
    "    \".visible .entry k(.param .u64 out)\\n{\\n .reg .b64 %rd1;\\n\"\n"                       \
    "    \" ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 5; ret;\\n}\\n\";\n"                   \
    "int main(void)\n{\n"                                                                          \
    "    CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p;\n"                                  \
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx);\n"                     \
    "    cuMemAllocManaged(&p, 4, CU_MEM_ATTACH_GLOBAL);\n"                                        \
    "    volatile unsigned *const host = (volatile unsigned *)p;\n"                                \
    "    *host = 0;\n"                                                                             \
    "    cuModuleGetFunction(&f, m, \"k\");\n"                                                     \
    "    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL);\n"                    \
    "    if (!" early ") cuCtxSynchronize();\n"                                                    \
    "    printf(\"value %u\\n\", *host);\n"                                                        \
    "    printf(\"took %d ms\\n\", (int)getpid());\n"                                              \
    "    cuCtxSynchronize(); return 0;\n}\n"

Test(program_findings, a_host_that_reads_too_early_is_not_deterministic, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", READS("1"));
    cr_expect_eq(sh("'%s' check --no-race --runs 6 ./app", heddle), 6, "%s", said.data);
    expect_output("output: what the program prints differs between runs\n");
    expect_output("    native: value 5\n    random seed ");
    expect_output(": value 0\n");
    expect_output("./app: nondeterministic\n");
    cr_expect_eq(sh("'%s' check --no-race --runs 2 --ignore-output '^value' ./app", heddle), 0,
                 "%s", said.data);
    cr_expect_eq(sh("'%s' check --ignore-output '(' ./app", heddle), 2, "%s", said.data);
    build_on_driver("app", READS("0"));
    cr_expect_eq(sh("'%s' check --no-race --runs 6 ./app", heddle), 0, "%s", said.data);
    cr_expect_eq(times("output: "), 0, "%s", said.data);
}

Test(program_findings, output_that_varies_by_itself_is_not_compared, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", READS("printf(\"%d\\n\", (int)getpid())"));
    cr_expect_eq(sh("'%s' check --no-race --runs 2 ./app", heddle), 0, "%s", said.data);
    expect_output("output: not compared, native runs print different lines 1 (--ignore-output ");
    cr_expect_eq(sh("'%s' check --no-race --runs 6 --ignore-output '^[0-9]+$' ./app", heddle), 6,
                 "%s", said.data);
}

/* ---- memory that nothing wrote ----------------------------------------------------------------------------- */

/* 100 bytes are written of 400; the second copy has rows of 100 bytes, of which the first is written. */
static const char copies[] =
    "int main(int argc, char **argv)\n{\n"
    "    static char host[400]; CUcontext c; CUdeviceptr p;\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuMemAlloc(&p, 400); cuMemsetD8(p, 1, 100);\n"
    "    cuMemcpyDtoH(host, p, 100);\n"
    "    if (argc > 1) cuMemcpyDtoH(host, p, atoi(argv[1]));\n"
    "    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = 100,\n"
    "        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 100,\n"
    "        .WidthInBytes = 50, .Height = 3};\n"
    "    if (argc > 2) cuMemcpy2D(&box);\n"
    "    cuMemFree(p); return 0;\n}\n";

Test(program_findings, copies_of_what_nothing_wrote, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", copies);
    cr_expect_eq(sh("'%s' run --check init ./app", heddle), 0, "%s", said.data);
    cr_expect_eq(sh("'%s' run ./app 104 2", heddle), 0, "%s", said.data);
    cr_expect_eq(sh("'%s' run --check init ./app 104 2", heddle), 3, "%s", said.data);
    expect_output(": copy of 104 bytes to the host, of which nothing wrote 4, the first at 0x");
    expect_output("  100 bytes into 'cuMemAlloc #1' (400 bytes at ");
    expect_output("  called by main at ");
    expect_output(": copy of 150 bytes to the host, of which nothing wrote 100, the first at 0x");
    cr_expect_eq(times("  100 bytes into 'cuMemAlloc #1' (400 bytes at "), 2, "%s", said.data);
    expect_output("0 faults, 2 findings\n");
    cr_expect_eq(sh("'%s' run --check init --order random ./app 104 2", heddle), 3, "%s",
                 said.data);
    expect_output("0 faults, 2 findings\n");
}

/* A host that does not wait: the argument says for what. The kernel k writes 16 words of its first buffer, and reads as many
 * of its second. */
static const char early[] =
    "#include <setjmp.h>\n#include <signal.h>\n#include <fcntl.h>\n"
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
    "    \".visible .entry k(.param .u64 out, .param .u64 in)\\n{\\n .reg .b32 %r<4>; .reg .b64 %d<5>;\\n\"\n"
    "    \" ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];\\n mov.u32 %r1, %tid.x;\\n\"\n"
    "    \" mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\\n\"\n"
    "    \" ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; ret;\\n}\\n\";\n"
    "static sigjmp_buf back;\n"
    "static void caught(int s) { (void)s; siglongjmp(back, 1); }\n"
    "static void look(void *p) { printf(\"%d\\n\", *(volatile int *)p); }\n"
    "int main(int argc, char **argv)\n{\n"
    "    const char *what = argc > 1 ? argv[1] : \"\";\n"
    "    CUcontext c; CUmodule m; CUfunction f; CUstream s; CUdeviceptr out, in, device;\n"
    "    volatile int *h, *i; int *pinned;\n"
    "    signal(SIGSEGV, caught);\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx);\n"
    "    cuModuleGetFunction(&f, m, \"k\"); cuStreamCreate(&s, 0); cuMemAlloc(&device, 64);\n"
    "    cuMemAllocManaged(&out, 1 << 23, CU_MEM_ATTACH_GLOBAL); h = (volatile int *)out;\n"
    "    cuMemAllocManaged(&in, 8192, CU_MEM_ATTACH_GLOBAL); i = (volatile int *)in;\n"
    "    cuMemAllocHost((void **)&pinned, 64);\n"
    "    cuMemsetD32(device, 7, 16); i[0] = 4; i[20] = 1;\n"
    "    cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, s, (void *[]){&out, &in}, NULL);\n"
    "    if (!strcmp(what, \"read\")) printf(\"%d\\n\", h[3]); // read\n"
    "    if (!strcmp(what, \"write\")) i[5] = 9; // write\n"
    "    if (!strcmp(what, \"beside\")) printf(\"%d %d %d\\n\", h[16], i[5], i[20] = 3);\n"
    "    if (!strcmp(what, \"callback\")) cuLaunchHostFunc(s, look, (void *)h);\n"
    "    cuStreamSynchronize(s);\n"
    "    printf(\"%d %d\\n\", h[3], i[0] = 5);\n"
    "    if (!strcmp(what, \"freed\")) {\n"
    "        cuMemFree(out);\n"
    "        if (sigsetjmp(back, 1) == 0) printf(\"%d\\n\", h[3]);\n"
    "        else puts(\"caught\");\n"
    "        return 0;\n    }\n"
    "    cuMemcpyDtoHAsync(pinned, device, 64, s);\n"
    "    if (!strcmp(what, \"copy\")) printf(\"%d\\n\", pinned[15]); // copy\n"
    "    while (cuStreamQuery(s) != CUDA_SUCCESS) { }\n"
    "    printf(\"%d\\n\", pinned[15]);\n"
    "    if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;\n"
    "    else puts(\"caught\");\n"
    "    cuMemFree(out); cuMemFree(in); cuMemFreeHost(pinned); cuMemFree(device); return 0;\n}\n";

Test(program_findings, the_host_waits_before_it_looks, .init = program_start_runs,
     .fini = program_stop)
{
    static const struct {
        const char *what, *device, *host;
    } cases[] = {
        {"read", "  kernel 'k' in stream 2 writes it\n", "  and the host reads it\n"},
        {"write", "  kernel 'k' in stream 2 reads it\n", "  and the host writes it\n"},
        {"copy", "  copy of 64 bytes in stream 2 writes it\n", "  and the host reads it\n"},
    };
    build_on_driver("app", early);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(sh("'%s' run --check sync ./app %s", heddle, cases[i].what), 3, "%s",
                     said.data);
        cr_expect_eq(times("race of the host: it has not waited for an operation on 0x"), 1, "%s",
                     said.data);
        expect_output(cases[i].device);
        expect_output(cases[i].host);
        cr_expect_eq(times("called by main at "), 2, "%s", said.data);
        cr_expect_eq(times("caught\n"), 1, "%s", said.data);
        cr_expect_eq(sh("'%s' check --runs 1 --order gpudet ./app %s", heddle, cases[i].what), 7,
                     "%s", said.data);
        expect_output("races: 1, ");
        cr_expect_eq(sh("'%s' run --check race ./app %s", heddle, cases[i].what), 0, "%s",
                     said.data);
    }
    static const char *const good[] = {"", "beside", "callback", "freed"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_expect_eq(sh("'%s' run --check sync ./app %s", heddle, good[i]), 0, "%s: %s", good[i],
                     said.data);
        cr_expect_eq(times("caught\n"), 1, "%s", said.data);
    }
}

/* The kernel writes data and then a flag, for which the host waits: it does not wait for the kernel, and need not. With
 * plain stores of the flag it would have to. */
#define POLLS(store)                                                                               \
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"           \
    "    \".visible .entry k(.param .u64 out)\\n{\\n .reg .b64 %rd1;\\n\"\n"                       \
    "    \" ld.param.u64 %rd1, [out]; st.global.u32 [%rd1+4], 5; " store                           \
    " [%rd1], 1; ret;\\n}\\n\";\n"                                                                 \
    "int main(void)\n{\n"                                                                          \
    "    CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p;\n"                                  \
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx);\n"                     \
    "    cuMemAllocManaged(&p, 8, CU_MEM_ATTACH_GLOBAL);\n"                                        \
    "    volatile unsigned *const host = (volatile unsigned *)p;\n"                                \
    "    cuModuleGetFunction(&f, m, \"k\");\n"                                                     \
    "    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL);\n"                    \
    "    while (!host[0]) cuStreamQuery(NULL);\n"                                                  \
    "    const unsigned value = host[1];\n"                                                        \
    "    cuCtxSynchronize(); cuMemFree(p); return value != 5;\n}\n"

Test(program_findings, a_host_may_poll, .init = program_start_runs, .fini = program_stop)
{
    build_on_driver("app", POLLS("st.release.sys.global.u32"));
    cr_expect_eq(sh("'%s' run --check sync ./app", heddle), 0, "%s", said.data);
    build_on_driver("app", POLLS("st.global.u32"));
    cr_expect_eq(sh("'%s' run --check sync ./app", heddle), 3, "%s", said.data);
}

/* A host that does not wait makes system calls on the memory of the kernel k, which writes 16 words of each of the first
 * two pages of `out` and reads as many of `in`. Each prints its result; a wrong one would be -1. */
static const char calls[] =
    "#include <fcntl.h>\n#include <sys/socket.h>\n#include <sys/uio.h>\n"
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
    "    \".visible .entry k(.param .u64 out, .param .u64 in)\\n{\\n .reg .b32 %r<4>; .reg .b64 %d<5>;\\n\"\n"
    "    \" ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];\\n mov.u32 %r1, %tid.x;\\n\"\n"
    "    \" mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\\n\"\n"
    "    \" ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;\\n\"\n"
    "    \" st.global.u32 [%d1+4096], %r2; ret;\\n}\\n\";\n"
    "int main(int argc, char **argv)\n{\n"
    "    const char *what = argc > 1 ? argv[1] : \"\";\n"
    "    CUcontext c; CUmodule m; CUfunction f; CUdeviceptr out, in; int s[2]; long n = 0;\n"
    "    static char file[100]; char *h, *i;\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx);\n"
    "    cuModuleGetFunction(&f, m, \"k\");\n"
    "    cuMemAllocManaged(&out, 8192, CU_MEM_ATTACH_GLOBAL); h = (char *)out;\n"
    "    cuMemAllocManaged(&in, 4096, CU_MEM_ATTACH_GLOBAL); i = (char *)in;\n"
    "    memset(i, 1, 64);\n"
    "    char name[] = \"file.XXXXXX\"; /* each process its own: check runs several at a time */\n"
    "    const int d = mkstemp(name);\n"
    "    FILE *o = fopen(name, \"r+\");\n"
    "    unlink(name);\n"
    "    if (write(d, file, 100) != 100 || lseek(d, 0, SEEK_SET) != 0) return 1;\n"
    "    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0 || write(s[1], file, 64) != 64) return 1;\n"
    "    const struct iovec two[] = {{file, 36}, {h, 64}};\n"
    "    struct msghdr message = {.msg_iov = (struct iovec *)two, .msg_iovlen = 2};\n"
    "    cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, NULL, (void *[]){&out, &in}, NULL);\n"
    "    if (!strcmp(what, \"read\")) n = read(d, h, 64);\n"
    "    if (!strcmp(what, \"pread\")) n = pread(d, h, 64, 0);\n"
    "    if (!strcmp(what, \"readv\")) n = readv(d, two, 2);\n"
    "    if (!strcmp(what, \"preadv\")) n = preadv(d, two, 2, 0);\n"
    "    if (!strcmp(what, \"recv\")) n = recv(s[0], h, 64, 0);\n"
    "    if (!strcmp(what, \"recvmsg\")) n = recvmsg(s[0], &message, 0);\n"
    "    if (!strcmp(what, \"fread\")) n = fread(h, 4, 16, o);\n"
    "    if (!strcmp(what, \"write\")) n = write(d, h, 64);\n"
    "    if (!strcmp(what, \"pwrite\")) n = pwrite(d, h, 64, 0);\n"
    "    if (!strcmp(what, \"writev\")) n = writev(d, two, 2);\n"
    "    if (!strcmp(what, \"pwritev\")) n = pwritev(d, two, 2, 0);\n"
    "    if (!strcmp(what, \"send\")) n = send(s[0], h, 64, 0);\n"
    "    if (!strcmp(what, \"sendmsg\")) n = sendmsg(s[0], &message, 0);\n"
    "    if (!strcmp(what, \"fwrite\")) n = fwrite(h, 4, 16, o);\n"
    "    if (!strcmp(what, \"both\")) n = pread(d, h + 64, 100, 0) + pread(d, h + 4096, 4, 0);\n"
    "    if (!strcmp(what, \"input\")) n = read(d, i, 4);\n"
    "    if (!strcmp(what, \"across\")) n = pread(d, h + 4032, 68, 0);\n"
    "    const struct iovec parts[] = {{h + 64, 60}, {h + 4096, 64}};\n"
    "    if (!strcmp(what, \"short\")) n = preadv(d, parts, 2, 40);\n"
    "    if (!strcmp(what, \"same, then write\")) n = write(d, i, 64), n += i[0] = 1;\n"
    "    if (!strcmp(what, \"same\")) n = write(d, i, 64);\n"
    "    if (!strcmp(what, \"beside\")) n = read(d, h + 64, 4000);\n"
    "    if (!strcmp(what, \"later\")) n = read(d, h + 64, 8000), n += *(volatile char *)(h + 4096);\n"
    "    printf(\"result %ld\\n\", n);\n"
    "    if (getenv(\"LD_PRELOAD\")) puts(\"LD_PRELOAD is left\");\n"
    "    cuCtxSynchronize(); fclose(o);\n"
    "    cuMemFree(out); cuMemFree(in); return 0;\n}\n";

Test(program_findings, system_calls_do_not_fail_on_memory_in_use, .init = program_start_runs,
     .fini = program_stop)
{
    static const struct {
        const char *what;
        int result;
        const char *device, *host; /* NULL: no finding */
    } cases[] = {
        {"read", 64, "writes", "writes"},
        {"pread", 64, "writes", "writes"},
        {"readv", 100, "writes", "writes"},
        {"preadv", 100, "writes", "writes"},
        {"recv", 64, "writes", "writes"},
        {"recvmsg", 64, "writes", "writes"},
        {"fread", 16, "writes", "writes"},
        {"write", 64, "writes", "reads"},
        {"pwrite", 64, "writes", "reads"},
        {"writev", 100, "writes", "reads"},
        {"pwritev", 100, "writes", "reads"},
        {"send", 64, "writes", "reads"},
        {"sendmsg", 100, "writes", "reads"},
        {"fwrite", 16, "writes", "reads"},
        {"both", 104, "writes", "writes"},
        {"input", 4, "reads", "writes"},
        {"across", 68, "writes", "writes"},
        {"short", 60, NULL, NULL},
        {"same, then write", 65, "reads", "writes"},
        {"same", 64, NULL, NULL},
        {"beside", 100, NULL, NULL},
        {"later", 102, "writes",
         "reads"}, /* the first page was read into, the second is protected again */
    };
    char text[100];
    build_on_driver("app", calls);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool found = cases[i].device;
        cr_expect_eq(sh("'%s' run --check sync ./app '%s'", heddle, cases[i].what), found ? 3 : 0,
                     "%s: %s", cases[i].what, said.data);
        snprintf(text, sizeof text, "result %d\n", cases[i].result);
        expect_output(text);
        cr_expect_eq(times("LD_PRELOAD"), 0);
        cr_expect_eq(times("race of the host: it has not waited"), found, "%s: %s", cases[i].what,
                     said.data);
        if (!found) continue;
        snprintf(text, sizeof text, "  kernel 'k' in the default stream %s it\n", cases[i].device);
        expect_output(text);
        snprintf(text, sizeof text, "  and the host %s it\n  called by main at ", cases[i].host);
        expect_output(text);
    }
    /* As programs on the runtime, it has libc in front of libcuda.so.1. */
    cr_assert_eq(sh("cc -I'%s' -o app app.c -lc '%s/libcuda.so.1'", here, libraries), 0, "%s",
                 said.data);
    cr_expect_eq(sh("'%s' run --check sync ./app read", heddle), 3, "%s", said.data);
    expect_output("result 64\n");
    cr_expect_eq(sh("'%s' run --check all ./app read", heddle), 3, "%s", said.data);
    expect_output("result 64\n");
    cr_expect_eq(sh("'%s' check --runs 1 --order gpudet ./app read", heddle), 7, "%s", said.data);
    expect_output("races: 1, ");
}
