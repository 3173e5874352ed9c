#!/bin/bash
# Runs the workloads, in small, with several builds of heddle and with 1 and 4 host threads; with the first, which may be a
# slow one, with 1 thread alone. What they read back, what they tell in JSON but for times, and all counts must be the same
# bytes as those of the first.
#     tools/same-bits.sh HEDDLE...
set -euo pipefail

# These run with one thread only.
racing='
bfs_racy      CTAs see costs that others store in the same launch
bfs_sparse    likewise
bfs_parent    of the CTAs that store a parent, the last one wins
scatter_last  likewise, an element
racey_global  every store is seen by CTAs at some time
racey_warps   likewise
'

[ $# -gt 0 ] || { echo 'usage: same-bits.sh HEDDLE...' >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
ran=0

run() { # HEDDLE THREADS WORKLOAD NAME: leaves NAME.json and NAME.counts
    "$1" run "suite:$3" --threads "$2" --format=json --counts "$scratch/$4.counts" >"$scratch/all" || {
        echo "same-bits: $1 --threads $2: $3 does not pass" >&2
        cat "$scratch/all" >&2
        exit 1
    }
    sed '/^  "time": {$/,$d' "$scratch/all" >"$scratch/$4.json" # the last key
}

for workload in $("$1" suite list | cut -d' ' -f1); do
    run "$1" 1 "$workload" first
    grep -q '"read_back_digest": "0x' "$scratch/first.json" # there is something to compare
    for heddle; do
        for threads in 1 4; do
            [ $threads = 1 ] || ! grep -q "^$workload " <<<"$racing" || continue
            [ "$heddle" != "$1" ] || continue
            run "$heddle" $threads "$workload" other
            for what in json counts; do
                cmp -s "$scratch/first.$what" "$scratch/other.$what" && continue
                failed=1
                echo "same-bits: $workload: $what of $heddle --threads $threads, not as $1 --threads 1:" >&2
                diff "$scratch/first.$what" "$scratch/other.$what" | head -8 >&2 || true
            done
            ran=$((ran + 1))
        done
    done
done
[ $failed = 1 ] || echo "same-bits: $ran runs by $# builds, each equal to the first build's with 1 thread"
exit $failed
