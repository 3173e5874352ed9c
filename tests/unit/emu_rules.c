/* Every form that is not refused is executed. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "emu/lower/lower.h"

Test(emu, every_accepted_form_has_a_rule)
{
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++)
        if (!ptx_forms[f].refused)
            cr_expect(lower_knows(f), "%s: '%s%s' has no rule in emu/lower/", ptx_forms[f].id,
                      ptx_forms[f].name, ptx_forms[f].mods);
}
