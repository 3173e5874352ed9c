#!/bin/sh
# Fits the clock's numbers again: compiles and runs the programs of calibrate/data/detailed-sim, keeps their traces, and
# writes model/clocks/NAME.yaml for each GPU whose cycles calibrate/data/detailed-sim.csv has. Needs nvcc, and ten
# minutes of one core. Usage: tools/clocks.sh HEDDLE
set -eu
heddle=$1
if ! command -v nvcc >/dev/null; then
    echo "clocks: nvcc is not there: skipped" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=calibrate/data/detailed-sim.csv
tools/detailed-sim.sh "$work" >"$work/runs"
while IFS=, read -r program args; do
    # shellcheck disable=SC2086
    "$heddle" estimate --gpu titanv,gtx480 --threads=1 --traces "$work/traces" "$work/$program" $args >/dev/null 2>&1
done <"$work/runs"
for of in titanv=SM7_TITANV gtx480=SM2_GTX480; do
    gpu=${of%=*}
    "$heddle" calibrate "$data" --where "config=${of#*=}" --gpu "$gpu" --start "calibrate/data/$gpu-start.yaml" \
        --traces "$work/traces" --allow-undetermined --output "model/clocks/$gpu.yaml"
done
