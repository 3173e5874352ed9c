/* `heddle run`: job files, good and bad, and memory maps. */
#define _GNU_SOURCE /* strndup */
#include "tests/support/run.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(run_jobs, .init = run_set_up, .fini = run_tear_down, .timeout = 240);

/* What stands between ``` marks of a language in a document. */
static char *block_of(const char *document, const char *mark)
{
    size_t n;
    char *text = read_file(document, &n), *from = strstr(text, mark);
    cr_assert(from, "%s has no %s", document, mark);
    from += strlen(mark);
    char *to = strstr(from, "```");
    cr_assert(to);
    char *block = strndup(from, (size_t)(to - from));
    free(text);
    return block;
}

/* The example of the documentation does what it says there. */
Test(run_jobs, the_documented_job)
{
    char *ptx = block_of("docs/job-files.md", "```ptx\n"),
         *job = block_of("docs/job-files.md", "```yaml\n");
    run_write("halve.ptx", ptx);
    run_write("job.yaml", job);
    struct run_result r = run_heddle("job.yaml");
    cr_expect(r.status == 0 && !*r.err, "%s", r.err);
    cr_expect(strstr(r.out, "halve: 10 launches of 4x1x1 CTAs of 256x1x1 threads, "), "%s", r.out);
    cr_expect(
        strstr(r.out, "  numbers: 1 1 1 1 1 1 1 1 ...\n  before: 1 2 3 4 5 6 7 8 ...\n  flag: 0\n"),
        "%s", r.out);
    cr_expect(strstr(r.out, "3 of 3 expectations met\n"), "%s", r.out);
    run_drop(&r);
    uint32_t ones[1000];
    for (size_t i = 0; i < 1000; i++) ones[i] = 1;
    run_file_is("ones.bin", ones, sizeof ones);
    free(ptx);
    free(job);
}

#define HEAD "heddle: 1\nmodules: k.ptx\n"
#define XY "buffers: {x: {type: u32, count: 4, fill: iota}, y: {type: u32, count: 4}}\n"
#define TWICE_XY "{launch: twice, block: 32, args: [x, y, 4]}"

/* Jobs, what they print and report. */
static const struct {
    const char *text;
    int status;
    const char *out, *err; /* parts; "": nothing comes; NULL: anything */
} jobs[] = {
    {HEAD "steps: []\n", 0, "digest", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: 'iota(1,2)', x: [0, 1, 2, 3]}\n", 0, "2 of 2", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: {is: [1, 3, 6, 8], tolerance: {abs: 1}}}\n", 0,
     "1 of 1", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: {is: [1, 3, 6, 9], tolerance: {abs: 1}}}\n", 4,
     "0 of 1", "y: 1 of 4 elements is not as expected\n  y[3] is 7, expected 9 (difference -2)\n"},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: file(four.bin)}\n", 0, "1 of 1", ""},
    {HEAD XY "steps: []\nexpect: {x: {digest: 0x30d77e22c5da0365}}\n", 0, "1 of 1", ""},
    {HEAD XY "steps: []\nexpect: {x: {digest: 7}}\n", 4, NULL,
     "x: digest is 0x30d77e22c5da0365, expected 0x00"},
    {HEAD XY "steps:\n- repeat: 2\n  steps:\n  - " TWICE_XY
             "\n  - {copy: y, to: x}\nexpect: {x: 'iota(3,4)'}\n",
     0, "twice: 2 launches", ""},
    {HEAD XY "steps:\n- {set: y, at: 1, fill: [7, 8]}\n- {set: x, at: 3, fill: const(5)}\n"
             "- {set: x, count: 2, fill: random(1)}\n- {set: x, count: 2, fill: zero}\n"
             "expect: {y: [0, 7, 8, 0], x: [0, 0, 2, 5]}\n",
     0, "2 of 2", ""},
    {HEAD
     "buffers: {o: {type: u32, variable: offset, fill: [10]}, x: {type: u32, fill: [1]}, y: {type: u32, count: 1}}\n"
     "steps: [{launch: twice, args: [x, y, 1]}]\nexpect: {y: [12]}\n",
     0, "1 of 1", ""},
    {HEAD "buffers: {o: {type: u8, variable: offset}}\nsteps: []\nexpect: {o: [1, 0, 0, 0]}\n", 0,
     "1 of 1", ""},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 9\n  until: {buffer: f, equals: 2}\n"
     "  steps: [{launch: count_down, args: [f]}]\nexpect: {f: [2]}\n",
     0, "count_down: 3 launches", ""},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 2\n  until: {buffer: f, equals: 2}\n"
     "  steps: [{launch: count_down, args: [f]}]\n",
     5, NULL,
     "job.yaml:5:11: error: 'f' did not get the value that ends this loop within 2 iterations\n    5 | - repeat: 2\n"},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 2\n  until: {buffer: f, index: 1, equals: 2}\n"
     "  steps: []\n",
     1, NULL, "there is no element 1 in 'f', which has 1"},
    {HEAD "steps:\n- repeat: 4000000000\n  steps: [{repeat: 4000000000, steps: []}]\n", 5, NULL,
     "a job ends after 10000000 steps"},
    {HEAD "options: {max-instructions: 1000}\nsteps:\n- launch: spin\n", 5, "",
     "job.yaml:5:11: note: launched here\n    5 | - launch: spin\n      |           ^~~~\n"},
    {HEAD
     "options: {check: [init, sync], divergence: its, threads: 2, timeout: 60, memory: 64M}\nsteps: []\n",
     0, NULL, ""},
    {HEAD "buffers: {x: {type: u32, count: 3}, y: {type: u32, count: 4}}\nsteps: [" TWICE_XY
          "]\nexpect: {y: zero}\n",
     3, "", "0 bytes behind the end of 'x'"},
    {"heddle: 1\nmodules: [k.ptx, k2.ptx]\nsteps: [{launch: other}]\n", 0, "other: 1x1x1", ""},

    {"", 1, "", "job.yaml:1:1: error: there is nothing in this file"},
    {"[1", 1, "", "error: no YAML"},
    {"%he=~\xd1", 1, "", "job.yaml:1:1: error: job files have no directives"},
    {"a: b\n%x\n", 1, "", "job.yaml:2:1: error: job files have no directives"},
    {"heddle: 1 # \xc3\xa4 \xe2\x82\xac\nmodules: k.ptx\nsteps: []\n", 0, NULL, ""},
    {"heddle: 1 # \xed\xa0\x80\n", 1, "", "job.yaml:1:13: error: this is no UTF-8"},
    {"heddle: \x01\n", 1, "", "job.yaml:1:9: error: a control character"},
    {"- 1\n", 1, "", "a job is a map, not a list"},
    {"heddle: 2\nmodules: k.ptx\nsteps: []\n", 1, "",
     "job.yaml:1:9: error: this heddle reads job files of version 1"},
    {"modules: k.ptx\nsteps: []\n", 1, "", "a job has no 'heddle'"},
    {HEAD "step: []\n", 1, "",
     "job.yaml:3:1: error: a job has no key 'step'\n    3 | step: []\n      | ^~~~\n"
     "job.yaml:3:1: note: did you mean 'steps'?"},
    {HEAD "steps: []\nsteps: []\n", 1, "", "'steps' is here twice"},
    {HEAD "steps: []\n---\nsteps: []\n", 1, "", "a job file is one"},
    {HEAD "steps: {}\n", 1, "", "steps is a list, not a map"},
    {HEAD "steps: &a [*a]\n", 1, "", "no anchors and aliases"},
    {HEAD "steps: !x []\n", 1, "", "no tags"},
    {HEAD "? [a]\n: 1\nsteps: []\n", 1, "", "a key is a word"},
    {HEAD "steps: [{lunch: twice}]\n", 1, "", "did you mean 'launch'?"},
    {HEAD "steps: [{}]\n", 1, "", "a step is a launch, set, copy or repeat"},
    {HEAD "steps: [3]\n", 1, "", "a step is a map, not a single value"},
    {HEAD "steps: [{launch: twice, repeat: 3}]\n", 1, "", "a launch has no key 'repeat'"},
    {HEAD "steps: [{launch: [twice]}]\n", 1, "", "launch is a single value, not a list"},
    {HEAD "steps: [{repeat: 3}]\n", 1, "", "a loop has no 'steps'"},
    {HEAD "steps: [{repeat: -3, steps: []}]\n", 1, "", "repeat wants a number from 0"},
    {HEAD "steps: [{launch: limited, shared: 4x}]\n", 1, "", "shared wants a number"},
    {HEAD "steps: [{launch: limited, grid: [1, a]}]\n", 1, "", "a size wants a number"},
    {HEAD "steps: [{launch: limited, grid: {x: 1}}]\n", 1, "",
     "a size is X or a list of up to three"},
    {HEAD "steps: [{launch: limited, cooperative: yes}]\n", 1, "",
     "cooperative is true or false, not 'yes'"},
    {HEAD "steps: [{launch: limited, block: 65}]\n", 3, "", "impossible launch"},
    {HEAD "steps: [{launch: limitd}]\n", 1, "", "did you mean 'limited'?"},
    {HEAD "steps: [{launch: limited, args: [1]}]\n", 1, "",
     "kernel 'limited' takes 0 arguments, not 1"},
    {HEAD "steps: [{launch: limited, args: [z]}]\n", 1, "", "there is no buffer 'z'"},
    {HEAD "steps: [{launch: bytes, args: [256, 1]}]\n", 1, "",
     "job.yaml:3:32: error: '256' does not fit parameter 1"},
    {HEAD "steps: [{copy: x, to: y}]\n", 1, "", "there is no buffer 'x'"},
    {HEAD
     "buffers: {x: {type: u32, count: 2}, y: {type: u64, count: 2}}\nsteps: [{copy: x, to: y}]\n",
     1, NULL, "'x' has 8 bytes, 'y' has 16: a copy needs equal sizes"},
    {HEAD "buffers: {x: {type: u32, fill: file(four.bin)}}\nsteps: [{set: x, at: 4, fill: zero}]\n",
     1, NULL, "are not in 'x', which has 4"},
    {HEAD XY "steps: [{set: x, at: 3, fill: [1, 2]}]\n", 1, NULL,
     "elements 3 to 4 are not in 'x', which has 4"},
    {HEAD XY "steps: [{set: x, at: 4, fill: zero}]\n", 1, NULL, "are not in 'x'"},
    {HEAD XY "steps: [{set: x, at: 1, count: 18446744073709551615, fill: zero}]\n", 1, "",
     "count wants a number"},
    {HEAD XY "steps: [{set: x, fill: []}]\n", 1, NULL, "the list has 0 elements"},
    {HEAD "buffers: {x: {count: 4}}\nsteps: []\n", 1, "", "a buffer has no 'type'"},
    {HEAD "buffers: {x: {type: q32, count: 4}}\nsteps: []\n", 1, "", "'q32' is not a type"},
    {HEAD "buffers: {x: {type: u32}}\nsteps: []\n", 1, "",
     "the number of elements is missing: 'x' does not determine it"},
    {HEAD "buffers: {x: {type: u32, count: 0}}\nsteps: []\n", 1, "", "count is at least 1"},
    {HEAD "buffers: {x: {type: u32, count: 4, fill: iota(}}\nsteps: []\n", 1, "",
     "parenthesis of 'iota' is not closed"},
    {HEAD "buffers: {x: {type: u32, count: 4, fill: [1, 2]}}\nsteps: []\n", 1, "",
     "the list has 2 elements, the buffer 4"},
    {HEAD "buffers: {x: {type: u32, fill: [1, b]}}\nsteps: []\n", 1, "",
     "job.yaml:3:36: error: 'b' is not a valid u32"},
    {HEAD "buffers: {x: {type: u32, fill: file(none)}}\nsteps: []\n", 2, "",
     "the file is empty, or not there"},
    {HEAD "buffers: {x: {type: u32, variable: none}}\nsteps: []\n", 1, "",
     "no module has a variable 'none'"},
    {HEAD "buffers: {x: {type: u64, variable: offset}}\nsteps: []\n", 1, "",
     "the variable 'offset' has 4 bytes"},
    {HEAD "buffers: {x: {type: u64, count: 1000000000000000}}\nsteps: []\n", 2, "",
     "out of device memory"},
    {HEAD XY "steps: []\nexpect: {z: zero}\n", 1, "", "there is no buffer 'z'"},
    {HEAD XY "steps: []\nexpect: {x: {tolerance: {abs: 1}}}\n", 1, "",
     "an expectation has either 'is'"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, digest: 1}}\n", 1, "",
     "an expectation has either 'is'"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, tolerance: {abs: -1}}}\n", 1, "",
     "abs wants a number of at least 0"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, tolerance: {apps: 1}}}\n", 1, "",
     "a tolerance is abs, rel or ulp"},
    {HEAD XY "steps: []\ndump: {x: none/x}\n", 2, NULL,
     "job.yaml:5:11: error: cannot write 'none/x'"},
    {HEAD "options: {chek: init}\nsteps: []\n", 1, "", "did you mean 'check'?"},
    {HEAD "options: {check: most}\nsteps: []\n", 1, "",
     "check takes memory, init, sync, bounds, race, atomicity, api and all (the first four), not 'most'"},
    {"heddle: 1\nmodules: none.ptx\nsteps: []\n", 2, "", "none.ptx: error: cannot read"},
    {"heddle: 1\nmodules: bad.ptx\nsteps: []\n", 1, "", "bad.ptx:6:2"},
    {"heddle: 1\nmodules: []\nsteps: []\n", 1, "", "there are no modules"},
    {"heddle: 1\nmodules: [k.ptx, k.ptx]\nsteps: []\n", 1, "", "defined already"},
};

Test(run_jobs, jobs)
{
    run_write("k2.ptx",
              ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }\n");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        run_write("job.yaml", jobs[i].text);
        struct run_result r = run_heddle("job.yaml");
        cr_expect(r.status == jobs[i].status, "%s: exit status %d, not %d\n%s%s", jobs[i].text,
                  r.status, jobs[i].status, r.out, r.err);
        cr_expect(run_fits(r.out, jobs[i].out), "%s: prints\n%s", jobs[i].text, r.out);
        cr_expect(run_fits(r.err, jobs[i].err), "%s: reports\n%s", jobs[i].text, r.err);
        run_drop(&r);
    }
}

/* Job files go with options that add to them, and the command line wins. */
static const struct run_call job_calls[] = {
    {"job.yml", 5, "", "1000"},
    {"job.yml --max-instructions 2000", 5, "", "2000"},
    {"./job.yml --max-instructions=2000", 5, "", "2000"},
    {"good.yaml --expect 'y=list(1,3,5,7)'", 0, "2 of 2", ""},
    {"good.yaml --expect 'y=list(1,3,5,8)'", 4, "1 of 2", "y[3] is 7, expected 8"},
    {"good.yaml --expect 'y=list(1,3,5)'", 2, NULL,
     "command line:1:33: error: the list has 3 elements, the buffer 4\n    1 | heddle run good.yaml --expect y="},
    {"good.yaml --expect z=zero", 2, "", "command line:1:31: error: there is no buffer 'z'"},
    {"good.yaml --dump y=none/y", 2, NULL, "command line:1:29: error: cannot write 'none/y'"},
    {"good.yaml --dump y=/dev/stdout --quiet | od -An -tu4", 0,
     "1          3          5          7", ""},
    {"good.yaml --grid 3", 2, "", "--grid cannot be used with a job file"},
    {"none.yaml", 2, "", "none.yaml: error: cannot read: No such file"},
    {"folder.yaml", 2, "", "cannot read: Is a directory"},
    {"folder.yaml/good.yaml", 0, "1 of 1", ""},
};

Test(run_jobs, job_files_and_options)
{
    char command[256];
    run_write("job.yml", HEAD "options: {max-instructions: 1000}\nsteps: [{launch: spin}]\n");
    run_write("good.yaml", HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: 'iota(1,2)'}\n");
    snprintf(command, sizeof command,
             "mkdir %s/folder.yaml && cp %s/good.yaml %s/k.ptx %s/folder.yaml", run_folder,
             run_folder, run_folder, run_folder);
    cr_assert(system(command) == 0);
    CHECK_CALLS(job_calls);
}

/* Whatever a job file holds, it is read or refused. */
Test(run_jobs, mangled_jobs)
{
    static const char good[] = HEAD XY
        "steps:\n- repeat: 2\n  until: {buffer: x, equals: 1}\n  steps:\n"
        "  - " TWICE_XY "\nexpect: {y: {is: \"iota(1,2)\", tolerance: {abs: 1}}}\n";
    static const char marks[] = "{}[],:-#&*!|>'\"%@`?\n \t\\\0\xff";
    uint64_t seed = 1;
    for (int i = 0; i < 300; i += THINNED) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            text[(seed >> 33) % (sizeof good - 1)] = marks[(seed >> 20) % (sizeof marks - 1)];
        }
        run_write_bytes("job.yaml", text, sizeof good - 1);
        struct run_result r = run_heddle("job.yaml --timeout 5");
        cr_expect(r.status >= 0 && r.status <= 5, "status %d of\n%s\n%s", r.status, text, r.err);
        cr_expect(r.status == 0 || *r.err, "nothing is said of\n%s", text);
        run_drop(&r);
    }
}

/* ---- data distribution -------------------------------------------------------------------------- */

/* 8 CTAs copy 4 sectors each from x to y; CTA c is beside partition c modulo 4. x is in partition 1: local to CTAs 1 and 5, 8
 * sectors. Of y, 16 sectors are in partition 2: local to CTA 2 of 0 to 3; 8, the third of 4 equal parts of the whole, too (CTAs 4 and 5);
 * 8 are in partition 0 (CTAs 6 and 7). So 12 of 64. Sectors by link of the mesh 0 1 / 2 3, rows first, are for 0-1: 8 (x) and 8 (y, 1 to
 * 2); 1-3: 16 (x); 2-3: 8 (x), 4 and 4 (y); 0-2: 8, 8, 4, 4 (y). */
Test(run_jobs, memory_maps_from_a_file)
{
    run_write(
        "copy.ptx",
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry copy(.param .u64 x, .param .u64 y)\n{\n"
        ".reg .b32 %r<5>; .reg .b64 %d<5>;\nld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %ctaid.x;\n"
        "mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3;\n"
        "add.u64 %d2, %d2, %d3; ld.global.u32 %r3, [%d1]; st.global.u32 [%d2], %r3; ret;\n}\n");
    run_write(
        "copy.yaml",
        "heddle: 1\nmodules: [copy.ptx]\nbuffers:\n  x: {type: u32, count: 256}\n  y: {type: u32, count: 256}\n"
        "steps:\n  - {launch: copy, grid: 8, block: 32, args: [x, y]}\n");
#define COPY "copy.yaml --distribute round-robin --memory-map "
    run_write(
        "map.yaml",
        "default: interleave:32\nallocations:\n  x: 1\n  y: {0-511: 2, 512-767: block, 768-1023: 0}\n");
    struct run_result r = run_heddle(COPY "map.yaml --topology mesh");
    cr_expect(strstr(r.out, "map.yaml, CTAs round-robin: 12 sectors local, 52 remote (81.25 %)"),
              "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "4 links carry 2304 bytes; most, 768, the link 0-2"), "%s", r.out);
    run_drop(&r);
    run_write("map.yaml", "default: block\nallocations: {z: 1}\n");
    r = run_heddle(COPY "map.yaml");
    cr_expect(strstr(r.out, "no launch accesses an allocation called 'z'"), "%s", r.out);
    run_drop(&r);
    static const struct {
        const char *map, *why;
    } wrong[] = {
        {"default: block\nallocations:\n  y: {0-511: 2, 480-1023: 3}\n",
         "map.yaml:3:17: error: the bytes overlap with 0-511 of 'y'"},
        {"default: block\nallocations: {x: 4}\n", "a number from 0 to 3, not '4'"},
        {"default: block\nallocations: {x: {3-31: 1}}\n", "begin and end with a sector"},
        {"default: block\nallocations: {x: {-1-31: 1}}\n", "FROM-TO"},
        {"default: block\nallocations: {x: {32-0: 1}}\n", "FROM-TO"},
        {"default: block\nallocations: {x: blocks}\n", "or the number of a partition"},
        {"default: block\nallocations: {x: [1]}\n", "an allocation has a partition"},
        {"default: 1\n", "a memory map is interleave:BYTES"},
        {"allocations: {x: 1}\n", "'default' says where all other bytes are"},
        {"default: block\nother: 1\n", "has the keys 'default', a map, and 'allocations'"},
        {"default: [\n", "no YAML"},
        {"- 1\n", "has the keys 'default' and 'allocations'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run_write("map.yaml", wrong[i].map);
        r = run_heddle(COPY "map.yaml");
        cr_expect(r.status == 2 && strstr(r.err, wrong[i].why), "%s%s", wrong[i].map, r.err);
        run_drop(&r);
    }
    r = run_heddle(COPY "none.yaml");
    cr_expect(r.status == 2 && strstr(r.err, "cannot read 'none.yaml'"), "%s", r.err);
    run_drop(&r);
}
