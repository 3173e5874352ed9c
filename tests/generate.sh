#!/bin/sh
# Makes the PTX that single tests read from the CUDA source beside it (nvcc 13), and their digests.
#     tests/generate.sh [--check|--compare]
# --check: were they left as they are since? Needs no nvcc. --compare: are they what nvcc makes today?
set -eu
cd "$(dirname "$0")"
modules='broken/broken advise/pairs'
options() { [ "$1" != advise/pairs ] || echo -lineinfo; }

files=
for m in $modules; do files="$files $m.cu $m.ptx"; done
# shellcheck disable=SC2086 # they are several
digests() { ../tools/digests.sh "$1" ptx.digests generate.sh $files; }
if [ "${1:-}" = --check ]; then
    digests --check
    exit
fi
nvcc --version 2>/dev/null | grep -q 'release 13' || { echo "skipped: nvcc 13.0 was not found"; exit 0; }
new=$(mktemp)
trap 'rm -f "$new" "$new.raw"' EXIT
for m in $modules; do
    # shellcheck disable=SC2046
    nvcc -ptx $(options "$m") -arch=compute_75 -o "$new.raw" "$m.cu"
    # nvcc puts the source's folder into .file, and a hash of it into a name of the debug information.
    sed -E '/^\/\/ Cuda compilation tools/d; /Build ID/d; /^\/\/ Based on/d
        s|"[^"]*/([^/"]*\.cu)"|"\1"|
        s/(95,73,78,84,69,82,78,65,76,95,)([0-9]+,){8}/\148,48,48,48,48,48,48,48,/' "$new.raw" >"$new"
    if [ "${1:-}" = --compare ]; then
        cmp -s "$new" "$m.ptx" || { echo "stale: tests/$m.ptx" >&2; exit 1; }
    else
        cp "$new" "$m.ptx"
    fi
done
[ "${1:-}" = --compare ] || digests --write
