/* tests/support/gpu_rows.h */
#include "tests/support/gpu_rows.h"

#include "cuda/device.h"
#include "suites/suite.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void launched(void *self, const char *kernel, const struct emu_launch *l,
                     const struct emu_report *r)
{
    struct gpu_rows *rows = self;
    (void)kernel;
    (void)l;
    cr_assert(rows->launches < GPU_ROWS_LAUNCHES, "%s", rows->ran);
    rows->see(rows->self, rows->launches++, r);
}

void gpu_rows_open(struct gpu_rows *rows, const char *path, const struct emu_config *config,
                   enum gpu_rows_format format)
{
    rows->file = fopen(path, "r");
    cr_assert(rows->file != NULL, "%s", path);
    rows->format = format;
    rows->launches = 0;
    *rows->ran = '\0';
    cuda_device_configure(config);
    cuda_device_watch(&(struct cuda_watch){.self = rows, .after = launched, .quiet = true});
}

static void cut(struct gpu_rows *rows)
{
    char *at = rows->text;
    at[strcspn(at, "\r\n")] = '\0';
    for (unsigned i = 0; i < GPU_ROWS_COLUMNS; i++) {
        char *const end = at + strcspn(at, ",");
        rows->column[i] = at;
        at = *end ? end + 1 : end;
        *end = '\0';
    }
}

/* "saxpy" of "suite:saxpy:small"; NULL: another target, or none. */
static const char *workload_of(enum gpu_rows_format format, char *target)
{
    if (format == GPU_ROWS_CYCLES) {
        if (strncmp(target, "suite:", 6) != 0) return NULL;
        char *const size = strchr(target += 6, ':');
        if (!size || strcmp(size, ":small") != 0) return NULL;
        *size = '\0';
    }
    return suite_find(target) ? target : NULL;
}

static void run(struct gpu_rows *rows)
{
    const struct suite_options o = {.size = SUITE_SMALL, .seed = 1};
    if (strcmp(rows->workload, rows->ran) == 0) return;
    snprintf(rows->ran, sizeof rows->ran, "%s", rows->workload);
    rows->launches = 0;
    cr_assert(suite_run(suite_find(rows->ran), &o).passed, "%s", rows->ran);
}

bool gpu_rows_next(struct gpu_rows *rows, bool (*is_left_out)(const char *workload))
{
    while (fgets(rows->text, sizeof rows->text, rows->file)) {
        char *end;
        cut(rows);
        rows->workload = workload_of(rows->format, rows->text);
        if (!rows->workload || (is_left_out && is_left_out(rows->workload))) continue;
        const char *number = rows->column[rows->format == GPU_ROWS_CYCLES ? 2 : 1];
        rows->launch = (unsigned)strtoul(number, &end, 10);
        cr_assert(*number && !*end, "%s has no number of a launch", rows->workload);
        run(rows);
        cr_assert(rows->launch < rows->launches, "%s has %u launches", rows->workload,
                  rows->launches);
        return true;
    }
    return false;
}

void gpu_rows_close(struct gpu_rows *rows)
{
    (void)fclose(rows->file);
    cuda_device_watch(NULL);
    cuda_device_reset();
}
