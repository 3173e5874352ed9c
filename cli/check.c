/* heddle check TARGET: runs a target under many seeds and orders, and checks whether its results are equal. */
#include "cli/check.h"
#include "cli/check_difference.h"
#include "cli/check_output.h"
#include "cli/check_program.h"
#include "cli/check_search.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/command.h"
#include "cli/run.h"

#include <string.h>

static int bad_call(struct run_options *o)
{
    struct buf text = {0};
    diags_render(&o->diags, &text);
    fprintf(stderr, "%sTry 'heddle check --help'.\n", text.data);
    buf_free(&text);
    return EXIT_USAGE;
}

/* What takes as long in every process, reading the rows of the language above all, is done once before the processes fork. */
static void warm_up(void)
{
    static const char text[] = ".version 8.0\n.target sm_70\n.address_size 64\n";
    heddle_module_free(heddle_module_read("", text, sizeof text - 1, NULL));
}

/* A kernel file is read once for all runs. */
static int find_target(struct check *c)
{
    if (check_of_program(c))
        return program_find(c->request.options, "check", c->request.program.argv, false,
                            &c->request.program);
    if (c->request.options->kind != TARGET_PTX) {
        warm_up();
        return EXIT_FINE;
    }
    struct heddle_module *m = c->request.options->module = heddle_module_read_file(c->request.name,
                                                                                   NULL);
    (void)fputs(heddle_module_messages_text(m), stderr);
    if (heddle_module_ok(m)) return EXIT_FINE;
    return heddle_module_unreadable(m) ? EXIT_USAGE : EXIT_INPUT;
}

static int check(struct check *c)
{
    int status = find_target(c);
    if (status != EXIT_FINE) return status;
    if (c->request.search.wanted) return finish_output("check", check_search(c));
    check_pool(c);
    const struct check_run *bad = check_bad_call(c);
    if (bad) {
        (void)check_calm();
        (void)fputs(bad->messages, stderr);
        return bad->status;
    }
    check_judge(c);
    check_find_differences(c);
    if (check_calm()) {
        c->interrupted = true;
        c->status = EXIT_INTERRUPTED;
    }
    if (c->request.format == CHECK_JSON) check_print_json(c);
    else if (c->request.format == CHECK_GITHUB) check_print_github(c);
    else check_print_text(c);
    bool written = !c->request.junit || check_write_junit(c);
    return finish_output("check", written || c->status ? c->status : EXIT_USAGE);
}

static int check_command_line(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct run_options o = {.arena = arena, .check = true};
    struct check c = {.arena = arena, .request = {.options = &o}};
    bool ok = run_options_read(&o, argc, argv);
    c.request.name = arena_copy(arena, o.target.text ? o.target.text : "", o.target.length);
    c.request.program.argv = argv + o.rest;
    int status = ok && check_options(&c) ? check(&c) : bad_call(&o);
    if (c.row_count) emu_fidelity_free(c.rows[0].runs[0].fidelity);
    check_output_free(&c);
    program_release(&c.request.program);
    heddle_module_free(o.module);
    arena_free(arena);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "run a target under many seeds and orders: is it deterministic?",
    .usage = "check TARGET [options]\ncheck [options] [--] PROGRAM [arguments]",
    .description =
        "Runs the TARGET, as 'heddle run' takes it with its options (but not --dump, --counts, "
        "--profile, --threads, "
        "--watch, --record, --replay), once in the native order and then several times under "
        "other orders with seeds "
        "1, 2, and so on. Compared are: after every launch, all allocations and variables and "
        "what kernels printed; "
        "in the end, what was copied to the host.\n"
        "A PROGRAM runs natively twice, because a program that varies by itself cannot be "
        "judged. A run fails if the "
        "exit status is not 0. What the program itself prints is compared at the end, without lines with a time or a "
        "rate.",
    .options = check_options_table,
    .option_count = CHECK_OPTION_COUNT,
    .also = &command_run,
    .exit_status =
        "  0  one result under every order tried, or under the orders asked for, which all "
        "guarantee it\n"
        "  1  errors in the input\n"
        "  2  a wrong call, or a program whose device could not be created\n"
        "  3, 4, 5  a run failed, as for 'heddle run'\n"
        "  5  also: --exhaustive found one result, but proved nothing\n"
        "  6  results differ\n"
        "  7  there are data races\n"
        "  8  an order that guarantees one result gave several: a bug of Heddle\n"
        "  9  undefined behaviour: memory that nothing wrote is read, or synchronisation is misused",
    .examples = "  heddle check suite:histogram_global --runs 10\n"
                "  heddle check ./app arguments",
    .run = check_command_line,
};
