#include "cli/gpu_file.h"

#include "base/buf.h"
#include "cli/cli.h"
#include "model/gpu_file.h"

#include <stdio.h>

const struct emu_gpu *gpu_named(const char *command, const char *name, struct arena *a, int *status)
{
    struct buf why = {0};
    const struct emu_gpu *g = gpu_find(name, a, &why);
    const bool of_file = gpu_is_file(name) && can_read(name);
    if (!g) *status = of_file ? EXIT_INPUT : EXIT_USAGE;
    if (!g && !of_file) {
        why.data[why.size - 1] = '\0'; /* its line's end */
        (void)usage_error(command, "%s", why.data);
    } else if (why.data) fputs(why.data, stderr);
    buf_free(&why);
    return g;
}
