#!/bin/bash
# The tables of litmus tests in docs/orders.md: outcomes that PTX's memory model allows, those that `random` showed.
#     tools/litmus-doc.sh [--check]      writes the tables; --check: fails if a row of theirs is not current
# HEDDLE names the program (default ./heddle).
set -eu
cd "$(dirname "$0")/.."
heddle=${HEDDLE:-./heddle}
page=docs/orders.md
seeds=2000
columns='weak rlx fence.cta fence.gpu fence.sc.gpu rel+acq.cta rel+acq atom'

# PLACEMENT SHAPES: the rows of one table. A cell: outcomes seen/allowed, and the first seed with a weak one.
rows() {
    for shape in $2; do
        for how in $columns; do
            "$heddle" run "suite:litmus:$shape+$how@$1" --table --seeds $seeds --quiet 2>/dev/null
        done | awk -v shape="$shape" '
            $1 == "Test" { verdict = $3; first = -1; seen = allowed = 0 }
            $1 == "Histogram" { seen = substr($2, 2); allowed = $5 }
            $2 == "*>" && $1 > 0 {
                for (i = 3; i < NF; i++) if ($i == "seed" && (first < 0 || $(i + 1) < first)) first = $(i + 1)
            }
            $1 == "Observation" {
                cell = verdict == "Unknown" ? seen "/?" : seen "/" allowed
                if (verdict == "Allowed") cell = cell (first < 0 ? ", –" : ", " first)
                cells = cells " " cell " |"
            }
            END { print "| " shape " |" cells }'
    done
}
table() { # PLACEMENT SHAPES
    echo "| test | $(echo $columns | sed 's/ / | /g') |"
    echo "|---|$(for c in $columns; do printf -- '---|'; done)"
    rows "$1" "$2"
}
shapes="MP SB LB R S 2+2W CoRR CoWW CoWR CoRW WRC RWC WWC ISA2 Z6.0 Z6.3 3.SB 3.LB IRIW W+RWC LB+data MP+add MP+chain SB+exch INC"

if [ "${1:-}" = --check ]; then # a quick row, in which a change of any draw shows
    for where in grid; do
        rows $where MP | while IFS= read -r row; do
            sed -n "/<!-- litmus $where begins -->/,/<!-- litmus $where ends -->/p" "$page" | grep -qxF -- "$row" || {
                echo "$page: a row of the litmus tests is not current: make litmus" >&2
                echo "$row" >&2
                exit 1
            }
        done
    done
    exit
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
cp "$page" "$new"
for where in grid block; do
    {
        sed "/<!-- litmus $where begins -->/q" "$page"
        table $where "$shapes"
        sed -n "/<!-- litmus $where ends -->/,\$p" "$page"
    } > "$new"
    cat "$new" > "$page"
done
