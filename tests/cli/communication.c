/* `heddle communication`: its documents, files and errors. The environment's HEDDLE names the program; without it,
 * ./heddle. What is counted is tested in tests/unit/communication.c. */
#define _GNU_SOURCE /* mkdtemp */
#include "base/buf.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What `heddle communication ARGUMENTS` prints, standard error included; its exit status. */
static int run(const char *arguments, struct buf *out)
{
    char command[1024], part[4096];
    const char *name = getenv("HEDDLE");
    snprintf(command, sizeof command, "%s communication %s 2>&1", name ? name : "./heddle",
             arguments);
    FILE *f = popen(command, "r");
    cr_assert(f);
    out->size = 0;
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) buf_add(out, part, n);
    const int status = pclose(f);
    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *document(const char *arguments)
{
    struct buf text = {0};
    cr_assert_eq(run(arguments, &text), 0, "%s", text.data);
    json_t *o = json_loads(text.data, 0, NULL);
    cr_assert(o, "%s", text.data);
    buf_free(&text);
    return o;
}

static json_int_t number(const json_t *o, const char *key)
{
    cr_assert(json_object_get(o, key), "%s", key);
    return json_integer_value(json_object_get(o, key));
}

/* suite:stencil_2d is a 5-point stencil on w x h = 250 x 256 cells, whose border is copied. CTAs have 32 x 8 threads: 8 x 32
 * of them. The 7 vertical boundaries are crossed by the h - 2 inner rows, the 31 horizontal ones by the w - 2 inner
 * columns; each way one cell of 4 bytes. */
Test(cli_communication, stencil)
{
    json_t *o = document("suite:stencil_2d --format=json --partition 1,2 --by=y");
    const json_t *pair = json_array_get(json_object_get(o, "pairs"), 0);
    const json_int_t steps = 4;
    cr_expect_eq(number(o, "version"), 1);
    cr_expect_eq(number(pair, "supersteps"), steps);
    cr_expect_eq(number(pair, "edges"), steps * 2 * (7 * 32 + 31 * 8));
    cr_expect_eq(number(pair, "bytes"), steps * 2 * 4 * (7 * 254 + 31 * 248));
    const json_t *parts = json_object_get(o, "partitions");
    cr_expect_eq(number(json_array_get(parts, 0), "crossing"), 0, "one device");
    cr_expect_eq(number(json_array_get(parts, 1), "crossing"), steps * 2 * 4 * 248,
                 "two devices: one boundary");
    cr_expect_eq(number(json_array_get(parts, 1), "most_of_device"), steps * 2 * 4 * 248);
    json_decref(o);
}

/* Of a recording the same is said as of the run, but for the host's copies: what they wrote is initial there. */
Test(cli_communication, a_trace_says_the_same_as_the_run)
{
    static const char *const names[] = {"stencil_2d", "pathfinder", "sum_tree"};
    char folder[] = "/tmp/heddle-communication-XXXXXX";
    cr_assert(mkdtemp(folder));
    const char *heddle = getenv("HEDDLE");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char words[200];
        size_t k;
        json_t *x, *was;
        const char *const key_same[] = {"loaded",       "stored",       "read",  "communicated",
                                        "stays",        "inside",       "nodes", "written",
                                        "atomic_words", "several_words"};
        snprintf(words, sizeof words,
                 "%s trace record --addresses suite:%s --output %s/a.hdt >/dev/null 2>&1",
                 heddle ? heddle : "./heddle", names[i], folder);
        cr_assert_eq(system(words), 0, "%s", words);
        snprintf(words, sizeof words, "suite:%s --format=json", names[i]);
        json_t *run_of = document(words);
        snprintf(words, sizeof words, "--from %s/a.hdt --format=json", folder);
        json_t *file_of = document(words);
        cr_expect(json_equal(json_object_get(run_of, "pairs"), json_object_get(file_of, "pairs")));
        was = json_object_get(run_of, "launches");
        cr_assert_eq(json_array_size(was), json_array_size(json_object_get(file_of, "launches")));
        json_array_foreach(json_object_get(file_of, "launches"), k, x)
        {
            const json_t *y = json_array_get(was, k);
            for (size_t n = 0; n < sizeof key_same / sizeof *key_same; n++)
                cr_expect_eq(number(x, key_same[n]), number(y, key_same[n]), "%s", key_same[n]);
            cr_expect_eq(number(x, "from_host"), 0);
            cr_expect_eq(number(x, "initial"), number(y, "initial") + number(y, "from_host"));
        }
        json_decref(run_of);
        json_decref(file_of);
    }
    char words[200];
    struct buf said = {0};
    snprintf(words, sizeof words, "%s trace record suite:saxpy --output %s/a.hdt >/dev/null 2>&1",
             heddle ? heddle : "./heddle", folder);
    cr_assert_eq(system(words), 0);
    snprintf(words, sizeof words, "--from %s/a.hdt", folder);
    cr_expect_eq(run(words, &said), 1);
    cr_expect(strstr(said.data, "record it with --addresses") != NULL, "%s", said.data);
    snprintf(words, sizeof words, "--from %s/a.hdt suite:saxpy", folder);
    cr_expect_eq(run(words, &said), 2);
    cr_expect_eq(run("--from /nowhere.hdt", &said), 2);
    buf_free(&said);
    snprintf(words, sizeof words, "rm -r %s", folder);
    cr_assert_eq(system(words), 0);
}

Test(cli_communication, bytes_are_conserved_in_all_workloads)
{
    static const char *const names[] = {"bfs_parent", "scan_blocks", "sum_tree",
                                        "centrality", "stencil_3d",  "pathfinder"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char arguments[80];
        size_t k;
        json_t *l;
        snprintf(arguments, sizeof arguments, "suite:%s --format=json", names[i]);
        json_t *o = document(arguments);
        json_int_t communicated = 0, passed = 0;
        json_array_foreach(json_object_get(o, "launches"), k, l)
        {
            cr_expect_eq(number(l, "read"), number(l, "communicated") + number(l, "stays") +
                                                number(l, "from_host") + number(l, "initial"));
            cr_expect_geq(number(l, "written"), number(l, "never_read"));
            communicated += number(l, "communicated");
        }
        json_array_foreach(json_object_get(o, "pairs"), k, l)
        {
            cr_expect_eq(number(l, "bytes"), number(l, "point_to_point") + number(l, "scatter"));
            passed += number(l, "bytes");
        }
        cr_expect_eq(communicated, passed, "%s", names[i]);
        json_decref(o);
    }
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++) n++;
    return n;
}

static size_t words_in_file(const char *path, const char *word)
{
    struct buf text = {0};
    cr_assert(buf_add_file(&text, path, 1 << 24), "%s", path);
    const size_t n = count_of(text.data, word);
    buf_free(&text);
    return n;
}

Test(cli_communication, files)
{
    char folder[] = "/tmp/heddle-communication-XXXXXX", text[512], path[128];
    struct buf out = {0};
    cr_assert(mkdtemp(folder));
    snprintf(text, sizeof text,
             "suite:stencil_3d --graph %s/g.graphml --matrix %s/m.svg --format=csv", folder,
             folder);
    cr_assert_eq(run(text, &out), 0, "%s", out.data);
    cr_expect_eq(count_of(out.data, "\n"), 1 + 132, "a line above and one for each edge");
    snprintf(path, sizeof path, "%s/g.graphml", folder);
    cr_expect_eq(words_in_file(path, "<edge "), 44, "each of 3 supersteps has the same");
    unlink(path);
    snprintf(path, sizeof path, "%s/m.svg", folder);
    cr_expect_geq(words_in_file(path, "class=\"l"), 10);
    unlink(path);
    snprintf(text, sizeof text, "suite:stencil_3d --graph %s/g.dot", folder);
    cr_assert_eq(run(text, &out), 0, "%s", out.data);
    snprintf(path, sizeof path, "%s/g.dot", folder);
    cr_expect_eq(words_in_file(path, " -> "), 44);
    unlink(path);
    rmdir(folder);
    buf_free(&out);
}

Test(cli_communication, errors)
{
    static const char *const rows[][2] = {
        {"suite:saxpy --partition 0", "from 1 to 4096, not '0'"},
        {"suite:saxpy --partition 1000000", "from 1 to 4096"},
        {"suite:saxpy --partition 2,", "from 1 to 4096"},
        {"suite:saxpy --partition 2 --granularity=warp", "--partition distributes CTAs"},
        {"suite:saxpy --granularity=block", "not 'block'"},
        {"suite:saxpy --link-bandwidth 1GB/s", "needs --partition"},
        {"suite:saxpy --by x", "--by needs --partition"},
        {"suite:saxpy --partition 2 --link-bandwidth 0.5", "not '0.5'"},
        {"suite:saxpy --profile", "--profile is for 'heddle run' alone"},
        {"suite:saxpy --memory-map block", "--memory-map is for 'heddle run' alone"},
        {"suite:saxpy --partition 2 --link-bandwidth fast", "not 'fast'"},
        {"suite:saxpi", "did you mean 'saxpy'?"},
        {"suite:saxpy --graph /nowhere/x.dot", "cannot write '/nowhere/x.dot'"},
    };
    struct buf out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(run(rows[i][0], &out), 2, "%s", rows[i][0]);
        cr_expect(strstr(out.data, rows[i][1]), "%s: %s", rows[i][0], out.data);
    }
    buf_free(&out);
}
