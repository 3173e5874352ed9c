/* The instruction table: every row can be read, and opcodes find their rows. */
#include "tests/support.h"

#include <criterion/criterion.h>
#include <string.h>

Test(isa, every_row_reads)
{
    struct arena *a = arena_new();
    const char *wrong = ptx_isa_self_check(a);
    cr_expect(!wrong, "%s", wrong);
    arena_free(a);
}
