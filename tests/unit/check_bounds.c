/* --check bounds: an access that stays within shared memory but leaves the variable that its address was made from. */
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(check_bounds, bounds_of_shared_variables)
{
    static const struct {
        const char *body;
        unsigned findings;
        const char *text; /* of the finding */
    } cases[] = {
        {"st.shared.u32 [b+12], %t;", 0, NULL},
        {"st.shared.u32 [b+16], %t;", 1,
         "write of 4 bytes at offset 16 of 16 bytes of the shared variable 'b'"},
        {"ld.shared.u32 %v, [b+-4];", 1, "read of 4 bytes at offset -4 of 16 bytes"},
        {"mov.u32 %a, a; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], %t;", 1, /* lanes 4 .. 7 */
         "write of 4 bytes at offset 16 of 16 bytes of the shared variable 'a'"},
        {"and.b32 %v, %t, 3; mov.u32 %a, a; mad.lo.u32 %a, %v, 4, %a; st.shared.u32 [%a], %t;", 0,
         NULL},
        {"mov.u32 %a, b; mov.u32 %w, a; sub.u32 %v, %a, %w; add.u32 %u, %w, %v; add.u32 %u, %u, 8; "
         "st.shared.u32 [%u+-4], %t;", /* a and a distance of 24 */
         1, "offset 20 of 16 bytes of the shared variable 'a'"},
        {"mov.u32 %a, a; L: st.shared.u32 [%a], %t; add.u32 %a, %a, 4; mov.u32 %v, a+16; "
         "setp.lt.u32 %p, %a, %v; @%p bra L;",
         0, NULL},
        {"mov.u32 %a, a; L: st.shared.u32 [%a], %t; add.u32 %a, %a, 4; mov.u32 %v, a+20; "
         "setp.lt.u32 %p, %a, %v; @%p bra L;",
         1, "'a'"},
        {"mov.u64 %d, b; cvta.shared.u64 %d, %d; st.u32 [%d+20], %t;", 1, "offset 20 of 16 bytes"},
        {"mov.u64 %d, b; cvta.shared.u64 %d, %d; red.add.u32 [%d+16], %t;", 1, "atomic of 4 bytes"},
        {"setp.lt.u32 %p, %t, 4; mov.u32 %a, a; mov.u32 %v, b; selp.u32 %a, %a, %v, %p; "
         "st.shared.u32 [%a+16], %t;", /* of two variables: it is not known which */
         0, NULL},
        {"st.shared.u32 [dynamic+60], %t;", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[700];
        snprintf(
            body, sizeof body,
            ".shared .align 16 .b32 a[4], b[4], c[4]; .reg .b32 %%a, %%v, %%t, %%w, %%u, %%z; .reg .b64 %%d; .reg .pred %%p;\n"
            "mov.u32 %%z, a; mov.u32 %%z, b; mov.u32 %%z, c; mov.u32 %%t, %%tid.x;\n%s\nret;",
            cases[i].body);
        char text[1200];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .b8 dynamic[];\n"
                 ".entry k(.param .u64 x) {\n%s\n}\n",
                 body);
        struct emu_run r = {.ptx = text, .block = 8, .shared = 64, .once = true};
        r.config.checks = EMU_CHECK_BOUNDS;
        cr_assert(emu_run(&r), "%s: %s", cases[i].body, r.fault);
        cr_expect(r.findings == cases[i].findings, "%s: %zu findings: %s", cases[i].body,
                  r.findings, r.finding);
        if (cases[i].findings && r.findings)
            cr_expect(r.finding_kind == EMU_OUT_OF_BOUNDS && strstr(r.finding, cases[i].text),
                      "%s: %s", cases[i].body, r.finding);
    }
}
