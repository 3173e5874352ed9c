#!/bin/sh
# How long `heddle estimate` takes of each workload, as a command, and how many times as long as
# `heddle run --counts` does, on all cores: `make bench`. Of each the fastest of RUNS counts.
#
#     estimates.sh HEDDLE [SIZE [RUNS]]          a line for each workload with VERBOSE=1
set -eu
heddle=$1 size=${2:-small} runs=${3:-2}

# In nanoseconds.
time_of() {
    begin=$(date +%s%N)
    "$@" > /dev/null 2>&1 || { echo "$* fails" >&2; return 1; }
    echo $(($(date +%s%N) - begin))
}
fastest() {
    for n in $(seq "$runs"); do time_of "$@"; done | sort -n | head -1
}

for w in $("$heddle" suite list | cut -d' ' -f1); do
    counts=$(fastest "$heddle" run --counts /dev/null --gpu titanv "suite:$w:$size")
    estimate=$(fastest "$heddle" estimate --gpu titanv "suite:$w:$size")
    [ "$counts" ] && [ "$estimate" ] && echo "$w $counts $estimate"
done | awk -v size="$size" -v wanted="$("$heddle" suite list | wc -l)" -v verbose="${VERBOSE:-0}" '
    {
        r = $3 / $2
        if (verbose) printf "%-20s %10.2f  %.0f ms of estimate\n", $1, r, $3 / 1e6
        sum += log(r); if (r > worst) { worst = r; at = $1 }
    }
    END { if (NR) printf "%-20s %10.2f  %.2f (%s)\n", "estimate, " size, exp(sum / NR), worst, at; exit NR != wanted }'
