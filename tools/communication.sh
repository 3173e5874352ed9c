#!/bin/bash
# The table of docs/communication.md: what workloads communicate.
#     tools/communication.sh [--check]      writes the table; --check: fails if it is not current
# HEDDLE names the program (default ./heddle).
set -eu
cd "$(dirname "$0")/.."
heddle=${HEDDLE:-./heddle}
page=docs/communication.md
rieber="histogram_shared stencil_2d stencil_3d nbody bfs_parent pathfinder"
others="hotspot scan_blocks scan_lookback sum_tree pagerank centrality spmv_vector sgemm_16 transpose_tiled bfs_fixed histogram_global"
new=$(mktemp)
trap 'rm -f "$new"' EXIT
row() {
    "$heddle" communication "suite:$1" --partition 4 2>/dev/null | awk -v name="$1" '
        /^all  / { bytes = $3; edges = $4; p2p = $5; scatter = $6; gather = $7; atomics = $8; one = $9; density = $11 }
        / launches, / { launches = $1 }
        $1 == 4 && NF == 6 { remote = $4 }
        END {
            if (!bytes) printf "| %s | %d | 0 | | | | | | | | |\n", name, launches
            else printf "| %s | %d | %d | %d | %s | %s | %s | %s | %s | %s | %s |\n", name, launches, bytes, edges, density, p2p, scatter, gather, atomics, one, remote
        }'
}
{
    sed '/<!-- table begins -->/q' "$page"
    echo "| workload | launches | bytes | edges | density | point-to-point % | scatter % | gather % | atomics % | within 1 % | remote on 4 devices % |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    for w in $rieber $others; do row "$w"; done
    sed -n '/<!-- table ends -->/,$p' "$page"
} > "$new"
if [ "${1:-}" = --check ]; then
    cmp -s "$new" "$page" || { echo "$page: the table is not current: make communication" >&2; exit 1; }
else
    cat "$new" > "$page"
fi
