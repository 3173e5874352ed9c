#!/bin/sh
# tests/advise/pairs.ptx from pairs.cu (nvcc 13).
#     tests/advise/generate.sh [--check]      --check: fails if it is not current; passes where there is no nvcc 13
set -eu
cd "$(dirname "$0")"
nvcc --version 2>/dev/null | grep -q 'release 13' || { [ "${1:-}" = --check ] && exit; echo "nvcc 13 is missing" >&2; exit 2; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
nvcc -ptx -lineinfo -arch=compute_75 -o "$new" pairs.cu
sed -i 's|"[^"]*/pairs\.cu"|"pairs.cu"|' "$new"
if [ "${1:-}" = --check ]; then
    grep -v '^// Cuda compilation tools\|Build ID\|^// Based on' "$new" | cmp -s - pairs.ptx || { echo "tests/advise/pairs.ptx is not current" >&2; exit 1; }
else
    grep -v '^// Cuda compilation tools\|Build ID\|^// Based on' "$new" > pairs.ptx
fi
