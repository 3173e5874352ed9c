#!/bin/sh
# Fits the timing model's numbers again: compiles and runs the programs of calibrate/data/detailed-sim.cu and gv100-programs.cu, keeps
# their traces, and writes model/timing/NAME.yaml for each GPU whose cycles their CSV files have, and
# calibrate/data/residuals.csv. Needs nvcc, and eight minutes of one core. Usage: tools/timing.sh HEDDLE
set -eu
heddle=$1
. tools/measured.sh

# Adds a run to $work/$name/traces.
trace() {
    # shellcheck disable=SC2086
    "$heddle" estimate --gpu "$gpus" --threads=1 --traces "$work/$name/traces" "$work/$name/$1" $2 >/dev/null 2>&1
}

# fit GPU [OPTIONS]
fit() {
    gpu=$1
    shift
    "$heddle" calibrate "calibrate/data/$name.csv" --gpu "$gpu" --start "calibrate/data/$gpu-start.yaml" "$@" \
        --traces "$work/$name/traces" --allow-undetermined --output "model/timing/$gpu.yaml" \
        --residuals "$work/$gpu.csv"
}

name=detailed-sim gpus=titanv,gtx480
each_run $name trace
fit titanv --where config=SM7_TITANV
fit gtx480 --where config=SM2_GTX480
name=gv100-programs gpus=gv100
each_run $name trace
fit gv100
{
    head -n 1 "$work/titanv.csv"
    tail -q -n +2 "$work/titanv.csv" "$work/gtx480.csv" "$work/gv100.csv"
} >calibrate/data/residuals.csv
