/* `heddle run`: its JSON, counts and profiles. */
#define _GNU_SOURCE /* setenv */
#include "tests/support/run.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(run_json, .init = run_set_up, .fini = run_tear_down, .timeout = 240);

static json_t *run_json(const char *args, int status)
{
    struct run_result r = run_heddle(args);
    json_error_t error;
    cr_expect(r.status == status, "heddle run %s: exit status %d", args, r.status);
    json_t *j = json_loads(r.out, 0, &error);
    cr_assert(j, "heddle run %s: line %d: %s\n%s", args, error.line, error.text, r.out);
    cr_expect(json_integer_value(json_object_get(j, "exit_status")) == status);
    run_drop(&r);
    return j;
}

/* The keys of an object in their order. */
static void keys_are(const char *what, json_t *o, const char *want)
{
    char got[512] = "";
    const char *key;
    json_t *v;
    json_object_foreach(o, key, v)
        snprintf(got + strlen(got), sizeof got - strlen(got), " %s", key);
    cr_expect_str_eq(*got ? got + 1 : got, want, "%s", what);
}

static json_t *element(json_t *o, const char *list, size_t i)
{
    return json_array_get(json_object_get(o, list), i);
}

Test(run_json, json)
{
    json_t *j = run_json(
        "k.ptx --kernel twice --block 32 --arg x=buf:u32[4]=iota --arg y=buf:u32[4] --arg 4 "
        "--expect 'y=list(1,3,6,7)' --format=json",
        4);
    keys_are("document", j,
             "version target status exit_status launches fault buffers expectations memory_digest "
             "read_back_digest note printed messages time");
    keys_are("target", json_object_get(j, "target"), "kind name");
    keys_are(
        "launch", element(j, "launches", 0),
        "kernel grid block cluster shared launches warp_instructions thread_instructions execution "
        "findings suppressed");
    keys_are("buffer", element(j, "buffers", 0), "name type count first digest");
    keys_are("expectation", element(j, "expectations", 0), "buffer met compared mismatches first");
    keys_are("mismatch", element(element(j, "expectations", 0), "first", 0),
             "index got expected difference");
    keys_are("time", json_object_get(j, "time"), "seconds kernel_seconds launch_seconds");
    cr_expect(json_integer_value(json_object_get(j, "version")) == 1);
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "differs");
    cr_expect_str_eq(json_string_value(json_object_get(element(j, "buffers", 1), "name")), "y");
    cr_expect(json_integer_value(element(element(j, "buffers", 1), "first", 3)) == 7);
    /* FNV-1a of 00000000 01000000 02000000 03000000, by the lines of Python in docs/run-json.md */
    cr_expect_str_eq(json_string_value(json_object_get(element(j, "buffers", 0), "digest")),
                     "0x30d77e22c5da0365");
    json_decref(j);

    j = run_json("k.ptx --kernel spin --max-instructions 1000 --format=json", 5);
    json_t *f = json_object_get(j, "fault");
    keys_are("fault", f, "kind kernel line text");
    cr_expect_str_eq(json_string_value(json_object_get(f, "kernel")), "spin");
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "no end");
    json_decref(j);

    j = run_json("k.ptx --kernel=limited --arg 1 --format=json", 2);
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "bad call");
    cr_expect(strstr(json_string_value(json_object_get(j, "messages")), "takes 0 arguments"));
    json_decref(j);

    /* what threads append to a queue, in the order in which they come: a seed is an order */
    static const char *const seeds[] = {"append --order random --seed 1",
                                        "append --order random --seed 2",
                                        "append --order random --seed 1"};
    char digest[3][32];
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "suite:%s --format=json", seeds[i]);
        j = run_json(arguments, 0);
        snprintf(digest[i], sizeof digest[i], "%s",
                 json_string_value(json_object_get(j, "read_back_digest")));
        json_decref(j);
    }
    cr_expect_str_neq(digest[0], digest[1]);
    cr_expect_str_eq(digest[0], digest[2]);

    j = run_json("suite:reduce_atomic --format=json", 0);
    cr_expect(json_is_string(json_object_get(j, "note")) &&
              json_is_null(json_object_get(j, "memory_digest")));
    /* of the sum of the 2^20 - 5 numbers, by splitmix64 and those lines of Python */
    cr_expect_str_eq(json_string_value(json_object_get(j, "read_back_digest")),
                     "0x43d18b5ff6747315");
    cr_expect(json_integer_value(
                  json_object_get(element(j, "launches", 0), "thread_instructions")) > 1000000);
    json_decref(j);
}

static json_int_t thread_instructions(const char *arguments)
{
    json_t *j = run_json(arguments, 0);
    const json_int_t n = json_integer_value(
        json_object_get(element(j, "launches", 0), "thread_instructions"));
    json_decref(j);
    return n;
}

/* Also of a launch that begins again, as dab's attempts to do without its order do (nbody's first one). */
Test(run_json, instructions_are_those_of_the_counts)
{
    const json_int_t counted = thread_instructions(
                         "suite:nbody --counts counts.json --format=json"),
                     native = thread_instructions("suite:nbody --format=json"),
                     dab = thread_instructions("suite:nbody --order dab --format=json");
    cr_expect(counted > 5000000 && native == counted && dab == counted, "%lld, %lld, %lld",
              (long long)counted, (long long)native, (long long)dab);
}

/* The only way in which the launches of a run were carried out; 0 if there are several. */
static int executed(const char *arguments, const char *way)
{
    json_t *j = run_json(arguments, 0);
    json_t *o = json_object_get(element(j, "launches", 0), "execution");
    const json_int_t n = json_integer_value(json_object_get(o, way));
    const int only = json_object_size(o) == 1 && n > 0;
    json_decref(j);
    return only;
}

Test(run_json, says_how_launches_were_carried_out)
{
    cr_expect(executed("suite:saxpy --format=json", "native"));
    cr_expect(executed("suite:saxpy --order gpudet --format=json", "conflict-free"));
    cr_expect(executed("suite:sum_atomic --order dab --format=json", "deferred reductions"));
    cr_expect(executed("suite:saxpy --order gpudet --speculate off --format=json", "ordered"));
    cr_expect(executed("suite:sum_atomic --order dab --speculate=off --format=json", "ordered"));
    cr_expect(executed("suite:saxpy --order gpudet --counts counts.json --format=json", "ordered"));
}

/* Every key of a document is in docs/run-json.md. */
static void documented(json_t *j, const char *text)
{
    const char *key;
    size_t i;
    json_t *v;
    json_object_foreach(j, key, v)
    {
        char mark[64];
        snprintf(mark, sizeof mark, "`%s`", key);
        cr_expect(strstr(text, mark), "docs/run-json.md does not say what %s is", mark);
        documented(v, text);
    }
    json_array_foreach(j, i, v) documented(v, text);
}

Test(run_json, json_is_documented)
{
    size_t n;
    char *text = read_file("docs/run-json.md", &n);
    json_t *j = run_json(
        TWICE "--arg y=buf:u32[4] --arg 4 --expect y=zero --expect 'y=digest(1)' --format=json", 4);
    documented(j, text);
    json_decref(j);
    j = run_json("k.ptx --kernel spin --max-instructions 9 --format=json", 5);
    documented(j, text);
    json_decref(j);
    j = run_json("suite:saxpy --profile --format=json", 0);
    documented(j, text);
    json_decref(j);
    free(text);
}

/* All but `time` is the same, bytes and all. */
Test(run_json, json_is_the_same_again)
{
    static const char *const targets[] = {
        "suite:reduce_atomic", "suite:histogram_shared",
        "k.ptx --kernel twice --grid 99 --block 64 --arg buf:u32[9999]=random --arg buf:u32[9999] --arg 9999"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char args[256], *text[2];
        for (int k = 0; k < 2; k++) {
            snprintf(args, sizeof args, "%s --format=json --threads %d", targets[i], k ? 3 : 1);
            json_t *j = run_json(args, 0);
            json_object_del(j, "time");
            text[k] = json_dumps(j, 0);
            json_decref(j);
        }
        cr_expect_str_eq(text[0], text[1], "%s", targets[i]);
        free(text[0]);
        free(text[1]);
    }
}

/* ---- counts ------------------------------------------------------------------------------------- */

static json_t *read_json(const char *name)
{
    char path[128];
    size_t n;
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    char *text = read_file(path, &n);
    json_t *j = json_loads(text, 0, &error);
    cr_assert(j, "%s: line %d: %s", name, error.line, error.text);
    free(text);
    return j;
}

static json_int_t number(json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

Test(run_json, counts)
{
    struct run_result r = run_heddle(
        "k.ptx --kernel twice --grid 3 --block 64 --arg buf:u32[128]=random "
        "--arg buf:u32[128] --arg 128 --counts c.json --gpu a100");
    cr_expect(r.status == 0, "%s", r.err);
    run_drop(&r);
    json_t *j = read_json("c.json"), *l = element(j, "launches", 0), *p = element(l, "phases", 0);
    json_t *c = json_object_get(p, "counts");
    cr_expect_str_eq(json_string_value(json_object_get(j, "schema")), "heddle-counts");
    cr_expect(number(j, "version") == 1 && json_array_size(json_object_get(j, "launches")) == 1);
    cr_expect_str_eq(json_string_value(json_object_get(l, "gpu")), "a100");
    cr_expect(number(l, "sms") == 108 && number(l, "ctas") == 3 && number(l, "waves") == 1);
    cr_expect(number(c, "memory.global.load.sectors") == 128 * 4 / 32 + 4); /* x, and offset */
    cr_expect(number(c, "memory.global.store.bytes") == 128 * 4);
    cr_expect(json_array_size(json_object_get(p, "sms")) == 3);
    json_int_t sum = 0;
    for (size_t i = 0; i < 3; i++) sum += number(element(p, "sms", i), "instructions.warp");
    cr_expect(sum == number(c, "instructions.warp"));
    json_decref(j);
}

/* A file that was there stays as it was if nothing ran; a fault is no reason not to count. */
Test(run_json, counts_of_launches_that_go_wrong)
{
    run_write("c.json", "old");
    static const struct run_call calls[] = {
        {"k.ptx --kernel nope --counts c.json", 2, "", "nope"},
        {"k.ptx --kernel twice --counts no/such/file", 2, "", "cannot write 'no/such/file'"},
        {"suite:saxpy --gpu gtx", 2, "", "there is no GPU 'gtx'"},
        {"suite:saxpy --gpu a10", 2, "", "did you mean 'a100'?"},
    };
    CHECK_CALLS(calls);
    run_file_is("c.json", "old", 3);
    struct run_result r = run_heddle(
        "k.ptx --kernel twice --block 32 --arg buf:u32[4] --arg buf:u32[4] --arg 9 "
        "--counts c.json");
    cr_expect(r.status == 3, "%s", r.err);
    run_drop(&r);
    json_t *j = read_json("c.json");
    cr_expect(json_array_size(json_object_get(j, "launches")) == 1);
    json_decref(j);
}

/* Any number of host threads writes the same bytes, caches and all. */
Test(run_json, counts_are_the_same_again)
{
    static const char *const targets[] = {"suite:bfs_fixed", "suite:spmv_vector",
                                          "suite:hash_probe"};
    for (size_t i = SANITIZED ? 2 : 0; i < sizeof targets / sizeof *targets; i++) {
        char args[128], path[128], *text[2];
        size_t n;
        for (int k = 0; k < 2; k++) {
            snprintf(args, sizeof args, "%s --quiet --counts c.json --threads %d", targets[i],
                     k ? 4 : 1);
            struct run_result r = run_heddle(args);
            cr_expect(r.status == 0, "%s: %s", args, r.err);
            run_drop(&r);
            snprintf(path, sizeof path, "%s/c.json", run_folder);
            text[k] = read_file(path, &n);
        }
        cr_expect(strcmp(text[0], text[1]) == 0, "%s", targets[i]);
        free(text[0]);
        free(text[1]);
    }
}

Test(run_json, profile)
{
    static const struct run_call calls[] = {
        {TWICE "--arg 'buf:u32[4]' --arg 4 --profile", 0, "k.ptx:", ""},
        {"suite:saxpy --profile", 0, "suites/kernels/saxpy.cu:5", ""},
    };
    CHECK_CALLS(calls);
    json_t *j = run_json("suite:bfs_fixed --profile --format=json", 0),
           *lines = json_object_get(j, "profile");
    json_int_t sum = 0, launched = 0, last = INT64_MAX;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        json_int_t n = number(json_array_get(lines, i), "warp_instructions");
        cr_expect(n <= last);
        sum += last = n;
    }
    for (size_t i = 0; i < json_array_size(json_object_get(j, "launches")); i++)
        launched += number(element(j, "launches", i), "warp_instructions");
    cr_expect(sum == launched && sum > 0, "%lld of %lld", (long long)sum, (long long)launched);
    json_decref(j);
}

/* That the race detector condensed its clocks, and so may have missed races, is a note, in text and JSON: no finding. */
Test(run_json, condensed_clocks_are_a_note)
{
    setenv("HEDDLE_RACE_CLOCKS", "4000000", 1);
    json_t *j = run_json("suite:bank --check race --format=json", 0);
    cr_expect(strstr(json_string_value(json_object_get(j, "messages")), "may have been missed"));
    cr_expect_eq(json_integer_value(json_object_get(element(j, "launches", 0), "findings")), 0);
    json_decref(j);
    struct run_result r = run_heddle("suite:bank --check race");
    cr_expect(r.status == 0 && strstr(r.err, "note: so many critical sections"), "%d: %s", r.status,
              r.err);
    run_drop(&r);
    unsetenv("HEDDLE_RACE_CLOCKS");
    j = run_json("suite:bank --check race --format=json", 0);
    cr_expect_str_eq(json_string_value(json_object_get(j, "messages")), "");
    json_decref(j);
}
