#!/bin/sh
# Runs clang-tidy on the C files that git knows, but for tests and emu/*/simd_*.c (vector code made from
# tables), two at a time, large ones first. Names each file that does not pass, with all that clang-tidy
# says about it; of the others nothing is printed. With arguments: on these files, one after the other.
#
# The static analyzer follows paths of a function until it has seen NODES program states: 5,000, which take less than half the
# time of 40,000 (`make tidy`), and less than a tenth of the time of clang-tidy's own limit (NODES=225000 tools/tidy.sh).
set -u
[ $# -gt 0 ] || {
    cd "$(dirname "$0")/.." || exit 1
    without='^tests/|/simd_'
    command -v mpicc >/dev/null || {
        echo 'tidy: cli/mpi is left out: there is no mpicc (tools/deps.sh mpi)' >&2
        without="$without|^cli/mpi/"
    }
    git ls-files '*.c' | grep -vE "$without" | xargs ls -S |
        xargs -P2 -n1 tools/tidy.sh
    exit
}
failed=0
mpi=$(mpicc --showme:compile 2>/dev/null | sed 's/-I/-isystem /g')
for file; do
    said=$(clang-tidy --quiet --warnings-as-errors='*' "$file" -- -std=c11 -I. -Iinclude \
        -Wreserved-identifier -DHEDDLE_VERSION='""' $mpi -Xclang -analyzer-config -Xclang max-nodes="${NODES:-5000}" 2>&1) && continue
    failed=1
    printf 'clang-tidy does not pass %s:\n%s\n' "$file" "$said" |
        grep -vE '^[0-9]+ (warnings?|errors?)( and [0-9]+ errors?)? (generated|treated as errors?)\.?$'
done
exit $failed
