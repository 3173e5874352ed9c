#!/bin/sh
# How long a calibration takes: tests/bench/calibrate.sh HEDDLE
set -eu
heddle=$1
data=calibrate/data/gv100.csv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# 1,000 launches: its 753, then the first 247 of them again
{ cat $data; grep -v '^#' $data | tail -n +2 | head -247; } >"$folder/thousand.csv"
from=$(date +%s%N)
"$heddle" calibrate "$folder/thousand.csv" --gpu gv100 >"$folder/report"
to=$(date +%s%N)
echo "calibrate          1000 launches of 21 applications, 22 fits  $(awk "BEGIN { printf \"%.2f\", ($to - $from) / 1e9 }") s"
