#!/bin/sh
# How many runs a second `heddle check` makes of the racy search of the GPUDet thesis (figure 1.1: 65,536 nodes,
# 500 runs for each graph) under each order, on all cores: `make bench`.
#
#     checks.sh HEDDLE [RUNS]
set -eu
runs=${2:-40}
printf '%-20s %10s  %s\n' 'checks of bfs_sparse' 'per second' '500 take'
for order in random gpudet dab; do
    begin=$(date +%s%N)
    "$1" check suite:bfs_sparse --order "$order" --runs "$runs" --stop never --no-race --quiet > /dev/null ||
        [ $? -eq 6 ] # results differ
    end=$(date +%s%N)
    awk -v order="$order" -v runs="$runs" -v ns=$((end - begin)) \
        'BEGIN { s = ns / 1e9; printf "%-20s %10.2f  %.0f s\n", order, runs / s, 500 * s / runs }'
done
