#!/bin/sh
# tests/broken/broken.ptx from broken.cu (nvcc 13), and the PTX of tests/advise.
#     tests/broken/generate.sh [--check]      --check: fails if it is not current; passes where there is no nvcc 13
set -eu
cd "$(dirname "$0")"
nvcc --version 2>/dev/null | grep -q 'release 13' || { [ "${1:-}" = --check ] && exit; echo "nvcc 13 is missing" >&2; exit 2; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
nvcc -ptx -arch=compute_75 -o "$new" broken.cu
if [ "${1:-}" = --check ]; then
    grep -v '^// Cuda compilation tools\|Build ID\|^// Based on' "$new" | cmp -s - broken.ptx || { echo "tests/broken/broken.ptx is not current" >&2; exit 1; }
else
    grep -v '^// Cuda compilation tools\|Build ID\|^// Based on' "$new" > broken.ptx
fi
../advise/generate.sh "$@"
