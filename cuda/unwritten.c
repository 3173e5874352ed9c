/* Findings about copies of uninitialised memory to the host (cuda/unwritten.h). */
#include "cuda/unwritten.h"

#include "cuda/caller.h"
#include "cuda/driver.h"
#include "session/run_log.h"

#include <inttypes.h>
#include <stdio.h>

void unwritten_add(struct unwritten *u, uint64_t address, size_t size)
{
    uint64_t first;
    if (!(driver.config.checks & EMU_CHECK_INIT)) return;
    const uint64_t n = emu_unwritten(driver.emu, address, size, &first);
    if (n && !u->bytes) u->first = first;
    u->bytes += n;
    u->copied += size;
}

void unwritten_say(const struct unwritten *u)
{
    char where[1024], text[4096];
    if (!u->bytes) return;
    emu_describe(driver.emu, u->first, where, sizeof where);
    snprintf(text, sizeof text,
             "%s: copy of %" PRIu64 " bytes to the host, of which nothing wrote %" PRIu64
             ", the first at 0x%" PRIx64 "\n%s%s",
             emu_fault_name(EMU_UNINITIALISED), u->copied, u->bytes, u->first, where,
             caller_noted(driver.site));
    driver_find("heddle: %s", text);
    if (driver.reports.run_log)
        run_log_host_finding(driver.reports.run_log, EMU_UNINITIALISED, text);
}
