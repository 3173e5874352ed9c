#!/bin/sh
# Writes a C table of GPUs from emu/gpu.def (what is said of a GPU) and model/gpus/*.yaml (what their values
# are), the texts of these files, and one of what calibrations found, model/coefficients/*.yaml:
#     tools/gpus.sh > gpus.c
# It knows only the plain form of those files; cli/gpu_file.c reads them strictly, and a test compares.
set -eu
cd "$(dirname "$0")/.."
echo '#include "emu/gpu.h"'
echo '#include "model/coefficients.h"'
echo '#include "model/machine.h"'
echo 'const struct emu_gpu emu_gpus[] = {'
awk '
FILENAME == "emu/gpu.def" {
    if (match($0, /^(COUNT|RATE|FLAG)\(/)) {
        split(substr($0, RLENGTH + 1), part, /, */)
        field[part[1] "." part[2]] = part[3]
    }
    next
}
/^[ \t]*(#|$)/ { next }
{
    value = $0
    sub(/[ \t]*#.*/, "", value)
    key = value
    sub(/^ */, "", key); sub(/:.*/, "", key)
    sub(/^[^:]*:[ \t]*/, "", value)
}
key == "name" { if (open) print "},"; open = 1; printf "{.name = \"%s\",\n", value; next }
key == "title" { printf " .title = \"%s\",\n", value; next }
/^[a-z]/ { section = key; next }
{
    f = field[section "." key]
    if (f == "") { print FILENAME ": unknown " section "." key > "/dev/stderr"; exit 1 }
    if (value == "yes" || value == "no") value = value == "yes"
    if (sub(/ KB$/, "", value)) value = value * 1024
    if (f == "capability") { split(value, v, "."); value = v[1] * 10 + v[2] }
    printf " .%s = %s,\n", f, value
}
END { if (open) print "}," }' emu/gpu.def model/gpus/*.yaml
echo '};'
echo 'const size_t emu_gpu_total = sizeof emu_gpus / sizeof *emu_gpus;'
echo 'const char *const emu_gpu_texts[] = {'
for f in model/gpus/*.yaml; do
    sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/' "$f"
    echo ,
done
echo '};'
echo 'const struct coefficients coefficients_built_in[] = {'
awk '
{ value = $2 }
/^[ \t]*(#|$)/ { next }
/^gpu:/ { if (open) print "},"; open = 1; printf "{.gpu = \"%s\",\n", value; next }
/^[a-z]/ { section = $1; next }
section == "in_sample:" { next }
{
    sub(/:$/, "", $1)
    if (section == "weight:") printf " .weight[WEIGHT_%s] = %s,\n", $1, value
    else if (section == "least:" || section == "most:")
        printf " .%s[FEATURE_%s] = %s,\n", substr(section, 1, length(section) - 1), $1, value
    else printf " .%s = %s,\n", $1, value
}
END { if (open) print "}," }' model/coefficients/*.yaml
echo '};'
echo 'const size_t coefficients_total = sizeof coefficients_built_in / sizeof *coefficients_built_in;'
echo 'const struct timing_fit timing_fits[] = {'
awk '
{ sub(/[ \t]*#.*/, "") }
/^[ \t]*$/ { next }
{
    key = value = $0
    sub(/^ */, "", key); sub(/:.*/, "", key)
    sub(/^[^:]*:[ \t]*/, "", value)
    if (value == "yes" || value == "no") value = value == "yes"
}
/^gpu:/ { if (open) print "},"; open = 1; printf "{.gpu = \"%s\",\n", value; next }
/^measured:/ { printf " .measured = \"%s\",\n", value; next }
/^[a-z]/ { section = key; next }
section == "machine" { printf " .machine.%s = %s,\n", key, value }
section == "latency" || section == "interval" { printf " .machine.%s[CLASS_%s] = %s,\n", section, key, value }
section == "units" { printf " .machine.units[TIMING_UNIT_%s] = %s,\n", key, value }
section == "least" || section == "most" { printf " .%s[LAUNCH_FEATURE_%s] = %s,\n", section, key, value }
section == "error" || section == "interval_80" { printf " .%s = %s,\n", key, value }
END { if (open) print "}," }' model/timing/*.yaml
echo '};'
echo 'const size_t timing_fit_count = sizeof timing_fits / sizeof *timing_fits;'
