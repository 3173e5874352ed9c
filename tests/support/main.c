/* Runs the tests. If all of them were to run, each form that is not refused must have been executed. */
#include "tests/support/executed_forms.h"

#include <criterion/criterion.h>
#include <criterion/options.h>

int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    bool ok = true;
    if (criterion_handle_args(argc, argv, true)) {
        ran_begin();
        ok = criterion_run_all_tests(tests);
        ok &= criterion_options.pattern || ran_end();
    }
    criterion_finalize(tests);
    return !ok;
}
