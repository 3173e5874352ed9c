#!/bin/sh
# The inputs that fuzzing found worth keeping: one archive, tests/fuzz/corpus.tar.gz.
#     tools/fuzz-corpus.sh extract DIR     copies them into DIR
#     tools/fuzz-corpus.sh add FILE...     adds files (by the hash of their bytes) and writes the archive again
# The same inputs give the same archive.
set -eu
LC_ALL=C
export LC_ALL
archive=$(cd "$(dirname "$0")/.." && pwd)/tests/fuzz/corpus.tar.gz
usage() { sed -n '2,4s/^# \?//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
what=$1
shift
case $what in
extract)
    mkdir -p "$1"
    tar -xzf "$archive" -C "$1"
    ;;
add)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    tar -xzf "$archive" -C "$scratch"
    for f; do
        cp "$f" "$scratch/$(sha1sum <"$f" | cut -c1-40)"
    done
    tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf - \
        $(ls "$scratch") | gzip -9n >"$archive.new"
    mv "$archive.new" "$archive"
    echo "$(tar -tzf "$archive" | wc -l) inputs in $archive"
    ;;
*) usage ;;
esac
