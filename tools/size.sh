#!/bin/sh
# Names product files (not tests) above 1,000 lines, and functions whose cyclomatic complexity (pmccabe) is above 30 and
# that tools/size.known does not list with a reason. An entry of the list that is no longer needed is an error, too.
set -eu
cd "$(dirname "$0")/.."
command -v pmccabe >/dev/null || { echo "size: pmccabe is missing: tools/deps.sh check installs it" >&2; exit 2; }
found=$(mktemp)
trap 'rm -f "$found"' EXIT
git ls-files '*.c' '*.h' | grep -vE '^tests/|/simd_' | xargs -r awk '
    FNR == 1001 { print "size: " FILENAME " has more than 1000 lines"; bad = 1 }
    END { exit bad }'
git ls-files '*.c' | grep -vE '^tests/|/simd_' | xargs pmccabe 2>/dev/null |
    awk '$1 > 30 { sub(/\(.*/, "", $6); print $6, $7, $1 }' >"$found"
awk -v known=tools/size.known '
    FNR == NR { if (/^[^#]/) reason[$1 " " $2] = 1; next }
    ($1 " " $2) in reason { used[$1 " " $2] = 1; next }
    { print "size: " $2 "() in " $1 " has a complexity of " $3 ": split it, or say in " known " why not"; bad = 1 }
    END {
        for (r in reason) if (!(r in used)) { print "size: " known " lists " r " without need"; bad = 1 }
        exit bad
    }' tools/size.known "$found"
echo "size: no file above 1000 lines, no function above 30 but $(grep -c '^[^#]' tools/size.known) with a reason"
