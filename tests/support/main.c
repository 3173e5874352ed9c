/* Runs the tests. If all of them were to run, each form that is not refused must have been executed. */
#include "tests/support/executed_forms.h"

#include <criterion/criterion.h>
#include <criterion/options.h>

/* Criterion shows differences of texts by libgit2, which at its start reads the certificates of the system through these:
 * in each test's process, for as long as a short test takes. There are none for it. */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_path(void *chain, const char *path);
int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    (void)chain, (void)path;
    return -1;
}
int mbedtls_x509_crt_parse_path(void *chain, const char *path)
{
    (void)chain, (void)path;
    return -1;
}

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
