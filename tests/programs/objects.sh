#!/bin/sh
# The objects of the programs, for those who have no nvcc: host code for x86-64, and PTX.
#     objects.sh --checked-in     makes objects.tar.gz (nvcc 13)
#     objects.sh --check          was it made of these sources?
# Programs that nvcc has to link (-rdc), or that want libraries of NVIDIA's, have none.
set -eu
cd "$(dirname "$0")"
linked_by_nvcc='FLAGS:.*-(rdc|lnvrtc)'
sources() { sha256sum self.cuh build.sh $(grep -LE "$linked_by_nvcc" ./*.cu); }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "${1:-}" = --checked-in ]; then
    for f in $(grep -LE "$linked_by_nvcc" ./*.cu); do
        o=$scratch/$(basename "$f" .cu).o
        ./build.sh "${NVCC:-nvcc}" "$f" "$o" -c -Xcompiler -Os
        strip --strip-debug "$o"
    done
    sources >"$scratch/sources"
    tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - . | gzip -9n >objects.tar.gz
elif [ "${1:-}" = --check ]; then
    tar -xzf objects.tar.gz -C "$scratch" ./sources
    sources >"$scratch/now"
    diff "$scratch/sources" "$scratch/now" >/dev/null || {
        echo "objects.sh: objects.tar.gz is not of these sources: run $0 --checked-in (nvcc 13)" >&2
        exit 1
    }
else
    sed -n '2,5s/^# \?//p' "$0"
    exit 2
fi
