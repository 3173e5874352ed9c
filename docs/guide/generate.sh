#!/bin/bash
# Makes docs/guide/*.ptx from docs/guide/*.cu (nvcc 13), and their digests.
# --check: were they left as they are since? Needs no nvcc. --compare: are they what nvcc makes today?
# nvcc puts a hash of the source's folder into a name of the debug information: zeros take its place.
# Without nvcc 13 it does nothing. suites/generate.sh says why the options are these.
set -u
cd "$(dirname "$0")" || exit 2
digests() { # of what is generated: increment.ptx is handwritten
    # shellcheck disable=SC2046
    ../../tools/digests.sh "$1" ptx.digests generate.sh ./*.cu $(printf '%s\n' ./*.cu | sed 's/cu$/ptx/')
}
if [ "${1:-}" = --check ]; then
    digests --check
    exit
fi
: "${NVCC:=nvcc}"
"$NVCC" --version 2>/dev/null | grep -q 'release 13\.0' || { echo "skipped: nvcc 13.0 was not found"; exit 0; }
new=$(mktemp) || exit 2
trap 'rm -f "$new" "$new.raw"' EXIT
bad=0
for source in *.cu; do
    "$NVCC" -ptx -I../../include -arch=compute_75 -O3 -lineinfo "$source" -o "$new.raw" || exit 1
    sed -E '/^[[:space:]]*\.file[[:space:]]/{
        s|"[^"]*/([^"/]*\.cu)"|"docs/guide/\1"|; s|"/[^"]*/([^"/]*)"|"\1"|; s|, [0-9]+, [0-9]+$||
    }
    s/(95,73,78,84,69,82,78,65,76,95,)([0-9]+,){8}/\148,48,48,48,48,48,48,48,/' "$new.raw" >"$new"
    if [ "${1:-}" != --compare ]; then
        cp "$new" "${source%.cu}.ptx"
    elif ! cmp -s "$new" "${source%.cu}.ptx"; then
        echo "stale: docs/guide/${source%.cu}.ptx"
        bad=1
    fi
done
[ $bad = 1 ] || [ "${1:-}" = --compare ] || digests --write
exit $bad
