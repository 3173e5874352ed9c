#!/bin/bash
# Makes suites/ptx/*.ptx from suites/kernels/*.cu (nvcc 13).
#
#   generate.sh              all of them, and their digests
#   generate.sh --check      were ptx/ and kernels/ left as they are since? Needs no nvcc.
#   generate.sh --compare    are they what nvcc makes today?
#
# NVCC names the compiler. compute_75 is the oldest that it knows, so the PTX runs on any GPU that does
# (bench_units and cycles have instructions of compute_80);
# -fmad=false, so that the only fused operations are those that the kernels ask for, and a host computes
# the same bits; -lineinfo, so that reports name lines of the kernels.

set -u
LC_ALL=C
export LC_ALL
: "${NVCC:=nvcc}"

cd "$(dirname "$0")" || exit 2
digests() { ../tools/digests.sh "$1" ptx.digests generate.sh kernels/* ptx/*.ptx; }
case ${1:-} in
'' | --compare) ;;
--check) digests --check; exit ;;
*) echo "usage: generate.sh [--check|--compare]" >&2; exit 2 ;;
esac

if ! command -v "$NVCC" >/dev/null 2>&1; then
    echo "skipped: nvcc not found"
    exit 0
elif ! "$NVCC" --version 2>/dev/null | grep -q 'release 13\.0'; then
    echo "skipped: nvcc is not release 13.0"
    exit 0
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-suites.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cuda_root=$(dirname "$(dirname "$(readlink -f "$(command -v "$NVCC")")")")

# Paths in .file are of this machine: kernels are named from the root of the repository.
neutral() {
    sed -E "/^[[:space:]]*\.file[[:space:]]/{
        s|\"[^\"]*kernels/([^\"/]*)\"|\"suites/kernels/\1\"|
        s|\"$cuda_root/(targets/[^/]*/)?include/|\"cuda/include/|
        s|\"/[^\"]*/([^\"/]*)\"|\"\1\"|
        s|, [0-9]+, [0-9]+\$||
    }"
}

# nvcc puts a hash of the source's path into names, so sources are compiled from a place with a fixed one,
# by one checkout after the other.
place=/tmp/heddle-suites-source
mkdir -p "$place" && exec 9>"$place/lock" && flock 9 || exit 2
rm -rf "$place/kernels" && cp -r kernels "$place/kernels" || exit 2
bad=0
for source in "$place"/kernels/*.cu; do
    name=${source##*/}
    name=${name%.cu}
    arch=compute_75
    case $name in bench_units | cycles) arch=compute_80 ;; esac
    if ! "$NVCC" -std=c++17 -ptx -arch=$arch -O3 -fmad=false -lineinfo "$source" \
        -o "$scratch/raw" 2>"$scratch/log"; then
        echo "FAILED $source" >&2
        cat "$scratch/log" >&2
        bad=1
        continue
    fi
    neutral <"$scratch/raw" >"$scratch/$name.ptx"
    if grep -nE '"/|/tmp/|/usr/' "$scratch/$name.ptx" >&2; then
        echo "PATH in $name.ptx" >&2
        bad=1
    elif [ "${1:-}" != --compare ]; then
        cp "$scratch/$name.ptx" "ptx/$name.ptx"
    elif ! cmp -s "$scratch/$name.ptx" "ptx/$name.ptx"; then
        echo "stale: suites/ptx/$name.ptx"
        bad=1
    fi
done
for f in ptx/*.ptx; do
    [ -f "kernels/$(basename "$f" .ptx).cu" ] && continue
    echo "no source makes: suites/$f"
    bad=1
done
[ $bad = 1 ] || [ "${1:-}" = --compare ] || digests --write
exit $bad
