#!/bin/sh
# Estimates the programs of calibrate/data/detailed-sim.cu and gv100-programs.cu, and compares with the cycles that a detailed
# simulator and a GPU took. Needs nvcc. Prints the mean error, the worst and the rank correlation for each; fails if they
# are worse than 15 %, 60 % and 0.97. And counts requests and sectors of global memory: as many requests as on the GPU, and
# sectors within 2 % (which lines two warps of one store share depends on where allocations lie). Usage: tests/measured.sh [HEDDLE]
set -eu
heddle=${1:-./heddle}
. tools/measured.sh

# A run's lines of "program,arguments,gpu,launch,cycles". With one host thread, as CTAs of bfs_levels race.
estimate() {
    # shellcheck disable=SC2086
    "$heddle" estimate --gpu "$gpus" --threads=1 --format=csv "$work/$name/$1" $2 2>/dev/null |
        awk -F, -v p="$1" -v a="$2" 'NR > 1 { print p "," a "," $1 "," $2 "," $10 }'
}
{
    name=detailed-sim gpus=titanv,gtx480
    each_run $name estimate
    name=gv100-programs gpus=gv100
    each_run $name estimate
} >"$work/estimates"
counts=memory.global.load.warp,memory.global.load.sectors,memory.global.store.warp,memory.global.store.sectors
grep -v '^#' calibrate/data/gv100-programs.csv | tail -n +2 | while IFS=, read -r program args _ _ _ expected; do
    "$heddle" run --gpu gv100 --counts "$work/counts" "$work/gv100-programs/$program" "$args" >/dev/null 2>&1
    tr ',{}' '\n' <"$work/counts" | awk -F: -v names="$counts" -v expected="$expected" -v run="$program $args" '
        { gsub(/[" ]/, "", $1); if (!($1 in count)) count[$1] = $2 }
        END {
            split(names, name, ","); split(expected, e, ",")
            for (i = 1; i <= 4; i++) {
                c = count[name[i]] + 0; d = c > e[i] ? c - e[i] : e[i] - c
                if (d > (name[i] ~ /sectors/ ? 0.02 * e[i] : 0)) {
                    print run ": " name[i] " are " c ", on the GPU " e[i]; exit 1
                }
            }
        }'
done
echo "gv100: requests of global memory as counted on the GPU, sectors within 2 %"
{
    awk -F, '!/^#/ && $1 != "program" {
        print $1 "," $2 "," ($3 == "SM7_TITANV" ? "titanv" : "gtx480") "," $4 "," $10 }' calibrate/data/detailed-sim.csv
    awk -F, '!/^#/ && $1 != "program" { print $1 "," $2 ",gv100," $3 "," $5 }' calibrate/data/gv100-programs.csv
} >"$work/measured"
awk -F, '
    NR == FNR { estimate[$1 "," $2 "," $3 "," $4] = $5; next }
    ($1 "," $2 "," $3 "," $4) in estimate {
        e = estimate[$1 "," $2 "," $3 "," $4]; c = $3; n[c]++
        x[c, n[c]] = e; y[c, n[c]] = $5
        d = e > $5 ? e - $5 : $5 - e; d /= $5; sum[c] += d
        if (d > worst[c]) { worst[c] = d; name[c] = $1 " " $2 }
    }
    function rank(v, c, i,    j, r) { r = 1; for (j = 1; j <= n[c]; j++) r += v[c, j] < v[c, i]; return r }
    END {
        bad = measured = 0
        for (c in n) {
            measured++
            mx = 0; sxy = sxx = syy = 0
            for (i = 1; i <= n[c]; i++) { a[i] = rank(x, c, i); b[i] = rank(y, c, i); ma[c] += a[i]; mb[c] += b[i] }
            for (i = 1; i <= n[c]; i++) {
                p = a[i] - ma[c] / n[c]; q = b[i] - mb[c] / n[c]
                sxy += p * q; sxx += p * p; syy += q * q
            }
            r = sxy / sqrt(sxx * syy)
            printf "%s: %d launches, mean error %.1f %%, worst %.0f %% (%s), rank correlation %.3f\n", c, n[c],
                   100 * sum[c] / n[c], 100 * worst[c], name[c], r
            bad += sum[c] / n[c] > 0.15 || worst[c] > 0.6 || r < 0.97 || n[c] < (c == "gv100" ? 26 : 267)
        }
        exit bad > 0 || measured < 3
    }' "$work/estimates" "$work/measured"
