#!/bin/bash
# The table of docs/bench.md: how many instructions Heddle and GPGPU-Sim count of the same PTX.
#     tools/accuracy.sh         writes the table (needs nvcc, a minute). HEDDLE names the program (default ./heddle).
# GPGPU-Sim's numbers are those of calibrate/data/detailed-sim.csv, of the TITAN V; launches beyond the ten it has are left out.
set -eu
cd "$(dirname "$0")/.."
heddle=${HEDDLE:-./heddle}
page=docs/bench.md
. tools/measured.sh

# "PROGRAM,ARGUMENTS,LAUNCH,THREAD,WARP" of each launch of a run. With one host thread, as CTAs of bfs_levels race. GPGPU-Sim does not count
# lanes that a guard (@p) switches off, nor lanes that do not take a branch; of these Heddle has no count.
count() {
    # shellcheck disable=SC2086
    "$heddle" run --gpu titanv --threads 1 --counts "$work/counts" "$work/detailed-sim/$1" $2 >/dev/null 2>&1
    awk -F'[:,]' -v run="$1,$2" '
        function put() { if (thread != "") printf "%s,%d,%.0f,%.0f\n", run, n++, thread - off, warp; thread = "" }
        /^ *"kernel": / { put(); off = 0 }
        /^ *"instructions.warp": [0-9]+,$/ { warp = $2 + 0 }
        /^ *"instructions.thread": [0-9]+,$/ { thread = $2 + 0 }
        /^ *"instructions.guarded_off": [0-9]+,$/ { off = $2 + 0 }
        END { put() }' "$work/counts"
}
each_run detailed-sim count >"$work/heddle"
grep -v '^#' calibrate/data/detailed-sim.csv | awk -F, '$3 == "SM7_TITANV" { print $1 "," $2 "," $4 "," $11 "," $12 }' >"$work/gpgpu-sim"
{
    sed '/<!-- accuracy begins -->/q' "$page"
    echo "| program | launches | GPGPU-Sim: thread instructions | Heddle, difference % | GPGPU-Sim: warp instructions | Heddle, difference % |"
    echo "|---|---|---|---|---|---|"
    awk -F, '
        NR == FNR { thread[$1 "," $2 "," $3] = $4; warp[$1 "," $2 "," $3] = $5; next }
        ($1 "," $2 "," $3) in thread {
            k = $1 "," $2 "," $3; n[$1]++; all++
            a[$1] += $4; b[$1] += thread[k]; c[$1] += $5; d[$1] += warp[k]
            same += $4 == thread[k]; same_warps += $5 == warp[k]
        }
        END {
            for (p in n) {
                x = 100 * (b[p] / a[p] - 1); y = 100 * (d[p] / c[p] - 1)
                printf "| %s | %d | %.0f | %s | %.0f | %s |\n", p, n[p], a[p], x ? sprintf("%+.3f", x) : "0", c[p],
                    y ? sprintf("%+.3f", y) : "0" | "sort"
            }
            close("sort")
            printf "\nOf %d launches %d have equal numbers of thread instructions, %d of warp instructions.\n", all, same, same_warps
        }' "$work/heddle" "$work/gpgpu-sim"
    sed -n '/<!-- accuracy ends -->/,$p' "$page"
} >"$work/page"
cat "$work/page" >"$page"
