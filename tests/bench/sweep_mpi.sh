#!/bin/sh
# How well heddle-mpi keeps its workers busy. The cells sleep (tests/bench/sweep_sleep.c), so that a host of few cores can
# have many workers.
#     tests/bench/sweep_mpi.sh SWEEP-SLEEP [RANKS [CELLS [MILLISECONDS]]]
# Prints the time from the first cell to the last, without the start of MPI, and beside it that of perfect sharing.
set -eu
program=$(realpath "$1") ranks=${2:-17} cells=${3:-10000} ms=${4:-50}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{sweep: p, targets: [suite:saxpy], orders: [random], seeds: 1-$cells}" >plan.yaml
BENCH_MS=$ms mpirun --oversubscribe --allow-run-as-root -n "$ranks" "$program" sweep plan.yaml --output out >log 2>&1 ||
    { cat log; exit 1; }
lines=$(wc -l <out/journal.ndjson)
seconds=$(sed -n 's/.*: took \([0-9.]*\) s$/\1/p' log | tail -1)
awk -v n="$cells" -v lines="$lines" -v w=$((ranks - 1)) -v ms="$ms" -v s="$seconds" 'BEGIN {
    ideal = n * ms / 1000 / w
    printf "%d cells of %d ms on %d workers: %.2f s, %.0f cells/s; shared perfectly %.2f s: %.3f of it\n",
        lines, ms, w, s, n / s, ideal, ideal / s }'
