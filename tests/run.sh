#!/bin/bash
# Runs tests, and if some fail says again at the end, behind what others have printed since, why and which.
#     tests/run.sh PROGRAM ARGUMENTS...
set -u -o pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=$?
[ $status != 0 ] || exit 0
names=$(grep -a '^\[FAIL\]' "$log")
echo "== $1 fails: what was said"
grep -aE '^\[----\]|runtime error: |(ERROR|SUMMARY): [A-Za-z]*Sanitizer|^== ' "$log" | cut -c1-300 | head -60
if [ "$names" ]; then
    echo "== $1 fails: $(wc -l <<<"$names") tests"
    tail -15 <<<"$names"
else # not a test's own fault: a form that none executes, a leak
    echo "== $1 fails, and no test does"
    tail -15 "$log"
fi
exit $status
