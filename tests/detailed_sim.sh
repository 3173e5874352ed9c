#!/bin/sh
# Estimates the programs of calibrate/data/detailed-sim and compares with the cycles that a detailed simulator
# took. Needs nvcc. Prints the mean error, the worst and the rank correlation for each GPU; fails if they are
# worse than 15 %, 60 % and 0.97. Usage: tests/detailed_sim.sh [HEDDLE]
set -eu
heddle=${1:-./heddle}
if ! command -v nvcc >/dev/null; then
    echo "detailed_sim: nvcc is not there: skipped" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=calibrate/data/detailed-sim.csv
tools/detailed-sim.sh "$work" >"$work/runs"
while IFS=, read -r program args; do
    # shellcheck disable=SC2086
    "$heddle" estimate --gpu titanv,gtx480 --format=csv "$work/$program" $args 2>/dev/null |
        awk -F, -v p="$program" -v a="$args" 'NR > 1 {
            print p "," a "," ($1 == "titanv" ? "SM7_TITANV" : "SM2_GTX480") "," $2 "," $10 }'
done <"$work/runs" >"$work/estimates"
awk -F, '
    NR == FNR { estimate[$1 "," $2 "," $3 "," $4] = $5; next }
    /^#/ || $1 == "program" { next }
    ($1 "," $2 "," $3 "," $4) in estimate {
        e = estimate[$1 "," $2 "," $3 "," $4]; c = $3; n[c]++
        x[c, n[c]] = e; y[c, n[c]] = $10
        d = e > $10 ? e - $10 : $10 - e; d /= $10; sum[c] += d
        if (d > worst[c]) { worst[c] = d; name[c] = $1 " " $2 }
        programs[c, $1] += d; of[c, $1]++
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
            bad += sum[c] / n[c] > 0.15 || worst[c] > 0.6 || r < 0.97 || n[c] < 267
        }
        exit bad > 0 || measured < 2
    }' "$work/estimates" "$data"
