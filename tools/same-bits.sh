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

run() { # HEDDLE THREADS WORKLOAD NAME: leaves NAME.json and NAME.counts
    "$1" run "suite:$3" --threads "$2" --format=json --counts "$4.counts" >"$4.all" || {
        echo "same-bits: $1 --threads $2: $3 does not pass" >&2
        cat "$4.all" >&2
        return 1
    }
    sed '/^  "time": {$/,$d' "$4.all" >"$4.json" # the last key
}

# Each build with one workload; prints what differs, and leaves the number of comparisons where none does.
compare() { # WORKLOAD HEDDLE...
    local workload=$1 first=$2 ran=0 failed=0 heddle threads what
    local at=$scratch/$workload
    mkdir "$at"
    run "$first" 1 "$workload" "$at/first" || return
    grep -q '"read_back_digest": "0x' "$at/first.json" || return # there is something to compare
    for heddle in "${@:3}"; do
        for threads in 1 4; do
            [ $threads = 1 ] || ! grep -q "^$workload " <<<"$racing" || continue
            run "$heddle" $threads "$workload" "$at/other" || return
            for what in json counts; do
                cmp -s "$at/first.$what" "$at/other.$what" && continue
                failed=1
                echo "same-bits: $workload: $what of $heddle --threads $threads, not as $first --threads 1:" >&2
                diff "$at/first.$what" "$at/other.$what" | head -8 >&2 || true
            done
            ran=$((ran + 1))
        done
    done
    [ $failed = 1 ] || echo $ran >"$scratch/$workload.ran"
    rm -r "$at"
}

count=0
for workload in $("$1" suite list | cut -d' ' -f1); do # two at a time
    count=$((count + 1))
    compare "$workload" "$@" &
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n || true
done
wait
[ $count -gt 0 ] && [ "$(find "$scratch" -name '*.ran' | wc -l)" = $count ] || exit 1
ran=$(($(cat "$scratch"/*.ran | paste -sd+)))
echo "same-bits: $ran runs by $# builds, each equal to the first build's with 1 thread"
