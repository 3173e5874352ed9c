#!/bin/sh
# Checks that generated files are current without the compiler that generated them: their generator writes a list of
# digests of sources and results, and whoever changes one of both has to run the generator again.
#     digests.sh --write LIST FILE...    writes the SHA-256 of all files into LIST
#     digests.sh --check LIST FILE...    fails and names the files that are not as they were then, are new, or are gone
# Names are relative to the current folder and stand in the order of the C locale.
set -eu
LC_ALL=C
export LC_ALL
what=${1:-} list=${2:-}
[ $# -ge 3 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
shift 2
now=$(sha256sum -- "$@" | sort -k 2) || exit 1
case $what in
--write) printf '%s\n' "$now" >"$list" ;;
--check)
    different=$(printf '%s\n' "$now" | diff "$list" - | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u)
    [ -z "$different" ] || { printf '%s\n' "$different" | sed "s|^|not as when $list was written: |" >&2; exit 1; }
    ;;
*) echo "digests.sh: unknown option $what" >&2; exit 2 ;;
esac
