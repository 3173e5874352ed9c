#!/bin/sh
# Compiles the programs of calibrate/data/NAME into a folder, and prints how each was run for calibrate/data/NAME.csv:
# "program,arguments". NAME: detailed-sim, gv100-programs. Needs nvcc. Usage: tools/measured.sh NAME FOLDER
set -eu
for f in calibrate/data/"$1"/*.cu; do
    nvcc -O3 -arch=compute_75 -cudart shared -o "$2/$(basename "$f" .cu)" "$f" 2>/dev/null
done
grep -v '^#' "calibrate/data/$1.csv" | tail -n +2 | awk -F, '{print $1 "," $2}' | sort -u
