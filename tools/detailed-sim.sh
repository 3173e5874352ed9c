#!/bin/sh
# Compiles the programs of calibrate/data/detailed-sim into a folder, and prints how each was run for
# calibrate/data/detailed-sim.csv: "program,arguments". Needs nvcc. Usage: tools/detailed-sim.sh FOLDER
set -eu
for f in calibrate/data/detailed-sim/*.cu; do
    nvcc -O3 -arch=compute_75 -cudart shared -o "$1/$(basename "$f" .cu)" "$f" 2>/dev/null
done
grep -v '^#' calibrate/data/detailed-sim.csv | tail -n +2 | awk -F, '{print $1 "," $2}' | sort -u
