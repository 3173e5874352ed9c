#!/bin/sh
# Fits the clock's numbers again: compiles and runs the programs of calibrate/data/detailed-sim and gv100-programs, keeps
# their traces, and writes model/clocks/NAME.yaml for each GPU whose cycles their CSV files have. Needs nvcc, and four
# minutes of one core. Usage: tools/clocks.sh HEDDLE
set -eu
heddle=$1
if ! command -v nvcc >/dev/null; then
    echo "clocks: nvcc is not there: skipped" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# trace NAME GPUS: the runs of calibrate/data/NAME.csv, to $work/NAME/traces
trace() {
    mkdir "$work/$1"
    tools/measured.sh "$1" "$work/$1" >"$work/$1/runs"
    while IFS=, read -r program args; do
        # shellcheck disable=SC2086
        "$heddle" estimate --gpu "$2" --threads=1 --traces "$work/$1/traces" "$work/$1/$program" $args >/dev/null 2>&1
    done <"$work/$1/runs"
}

# fit NAME GPU [OPTIONS]
fit() {
    name=$1 gpu=$2
    shift 2
    "$heddle" calibrate "calibrate/data/$name.csv" --gpu "$gpu" --start "calibrate/data/$gpu-start.yaml" "$@" \
        --traces "$work/$name/traces" --allow-undetermined --output "model/clocks/$gpu.yaml"
}

trace detailed-sim titanv,gtx480
fit detailed-sim titanv --where config=SM7_TITANV
fit detailed-sim gtx480 --where config=SM2_GTX480
trace gv100-programs gv100
fit gv100-programs gv100
