/* The reports of the library about launches, and at the end of the program (cuda/report.h). */
#include "cuda/report.h"

#include "cuda/caller.h"
#include "cuda/driver.h"
#include "cuda/logs.h"
#include "cuda/recording.h"
#include "cuda/repeats.h"
#include "cuda/watch_points.h"

#include "emu/fidelity.h"
#include "emu/profile.h"
#include "model/estimate_cache.h"
#include "session/event_stream.h"
#include "session/run_log.h"
#include "session/run_observer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------------- */

void driver_found(void)
{
    event_stream_totals(driver.reports.events)->findings++;
}

void driver_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = malloc((size_t)length + 1);
    if (!text) abort();
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    if (event_stream_wants(driver.reports.events, EVENTS_LAUNCHES))
        event_write(driver.reports.events, &(struct event){.kind = EVENT_MESSAGE, .text = text});
    if (driver.reports.run_log) run_log_message(driver.reports.run_log, text);
    else if (driver.watch.say) driver.watch.say(driver.watch.self, text);
    else if (!driver.watch.quiet) fputs(text, stderr);
    free(text);
}

/* "cuMemAlloc #3" at the text's start: which call that is. false: it names none that has a place. */
static bool read_call(const char *text, size_t *call, unsigned long long *number)
{
    for (*call = 0; *call < CALL_COUNT; ++*call) {
        const size_t n = strlen(driver_call_names[*call]);
        if (strncmp(text, driver_call_names[*call], n) != 0 || strncmp(text + n, " #", 2) != 0)
            continue;
        *number = strtoull(text + n + 2, NULL, 10);
        return *number && *number <= driver.calls[*call].count && driver.calls[*call].sites;
    }
    return false;
}

unsigned driver_call_site(const char *name)
{
    size_t call;
    unsigned long long number;
    return read_call(name, &call, &number) ? driver.calls[call].sites[number - 1] : 0;
}

static void say_site_of(const char *text)
{
    size_t call;
    unsigned long long number;
    if (!read_call(text, &call, &number)) return;
    const unsigned site = driver.calls[call].sites[number - 1];
    const char *lines = site == driver.site ? "" : caller_noted(site);
    if (*lines) driver_say("  %s #%llu:\n%s", driver_call_names[call], number, lines);
}

void driver_say_sites(const char *text)
{
    if (!(driver.config.checks & EMU_CHECK_MEMORY)) return;
    if (driver.site) driver_say("%s", caller_noted(driver.site));
    for (const char *at = strstr(text, "cu"); at; at = strstr(at + 1, "cu")) say_site_of(at);
}

void driver_find_memory(const char *text)
{
    driver_find("%s", text);
    driver_say_sites(text);
}

/* ---- launches ---------------------------------------------------------------------------------------- */

/* How long each grid of the launch takes. */
static void report_estimates(const struct emu_counts *c, bool ended)
{
    struct driver_reports *const r = &driver.reports;
    struct event e = {.kind = EVENT_ESTIMATE};
    struct launch_estimate *t = NULL;
    const size_t n = r->estimates ? estimate_cache_get_all(r->estimates, c, &t) : 0;
    for (size_t i = 0; i < n; i++) {
        e.estimate = t[i];
        if (!ended) launch_estimate_cut(&e.estimate);
        event_write(r->events, &e);
        timeline_launch(&r->timeline, launch_seconds_added(&e.estimate));
    }
    free(t);
    for (; c && r->traces.file; c = c->next) (void)trace_file_add(&r->traces, c);
    if (r->traces.file) (void)fflush(r->traces.file);
}

static void say_findings(const struct launch_record *l)
{
    for (size_t i = 0; i < l->finding_count; i++) {
        const struct emu_finding *f = &l->findings[i];
        if (!repeats_add(l->kernel, f)) continue;
        driver_find("heddle: kernel '%s': %s", l->kernel, f->text);
        if (f->count > 1)
            driver_say("  ... and %llu more %s\n", (unsigned long long)f->count - 1,
                       f->line2 ? "of these instructions" : "of this instruction");
        driver_say_sites(f->text);
    }
}

static void say_fault(const struct launch_record *l)
{
    const size_t n = strlen(l->fault_text);
    logs_add("kernel '%s': %s", l->kernel, l->fault_text);
    driver_say("heddle: kernel '%s': %s%s", l->kernel, l->fault_text,
               n && l->fault_text[n - 1] == '\n' ? "" : "\n");
    driver_say_sites(l->fault_text);
}

void driver_report_launch(const struct launch_record *l)
{
    struct driver_reports *const r = &driver.reports;
    r->suppressed += l->suppressed;
    event_totals_add(event_stream_totals(r->events), l);
    if (r->run_log) run_log_report(r->run_log, l);
    if (event_stream_wants(r->events, EVENTS_LAUNCHES))
        event_write(r->events, &(struct event){.kind = EVENT_LAUNCH, .launch = *l});
    if (r->profile) emu_profile_add(r->profile, l->counts);
    if (r->fidelity) emu_fidelity_add(r->fidelity, l->counts);
    if (r->counts_path) emu_counts_add(&r->counts, l->counts);
    if (r->estimates || r->traces.file) report_estimates(l->counts, l->fault == EMU_OK);
    say_findings(l);
    if (l->fault) say_fault(l);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* With HEDDLE_CHECK=memory: what was not freed when the device ends. */
void driver_report_leaks(void)
{
    if (!driver.emu || !(driver.config.checks & EMU_CHECK_MEMORY)) return;
    allocation_leaks(NULL);
    array_leaks(NULL);
    size_t n;
    const struct emu_finding *list = emu_leaks(driver.emu, true, &n);
    for (size_t i = 0; i < n; i++) driver_find("heddle: %s", list[i].text);
}

void driver_write_counts(void)
{
    if (!driver.reports.counts_path) return;
    const bool ok = emu_counts_end(&driver.reports.counts);
    if (!replacement_close(&driver.reports.counts_file, ok)) {
        driver_say("heddle: cannot write '%s': %s\n", driver.reports.counts_path, strerror(errno));
        event_stream_totals(driver.reports.events)->bad_output++;
    }
    free(driver.reports.counts_path);
    driver.reports.counts_path = NULL;
}

static void report_profile(void)
{
    size_t n;
    if (!driver.reports.profile) return;
    const struct emu_profile_line *lines = emu_profile_lines(driver.reports.profile, &n);
    for (size_t i = 0; i < n; i++)
        event_write(driver.reports.events,
                    &(struct event){.kind = EVENT_PROFILE_LINE, .line = lines[i]});
}

static void report_timeline(void)
{
    struct driver_reports *const r = &driver.reports;
    const struct event_timeline *t = &r->timeline.sums;
    if (!r->estimates ||
        !(t->launches || t->copies[TIMELINE_TO_DEVICE] || t->copies[TIMELINE_TO_HOST]))
        return;
    event_write(r->events, &(struct event){.kind = EVENT_TIMELINE, .timeline = *t});
}

/* The last line of the run says so, if there is one (cuda/exit.c). */
static void say_suppressed(void)
{
    if (driver.reports.suppressed && !driver.reports.events && !driver.configured &&
        !driver.config.checks)
        driver_say("heddle: %llu findings suppressed\n",
                   (unsigned long long)driver.reports.suppressed);
}

void driver_report_end(void)
{
    driver_end_recording();
    driver_write_counts();
    repeats_say();
    if (!driver.configured) driver_report_leaks();
    report_profile();
    event_write_fidelity(driver.reports.events, driver.reports.fidelity);
    report_timeline();
    watch_points_end();
    say_suppressed();
    run_observer_end(driver.reports.run_observer, driver.reports.events);
    driver.reports.run_observer = NULL;
    run_log_end(driver.reports.run_log);
    driver.reports.run_log = NULL;
}
