#!/bin/sh
# Writes the table of broken programs into docs/orders.md.
#     tests/broken/table.sh PROGRAM       build/gcc-release/tests/bench/broken
set -eu
new=$(mktemp)
trap 'rm -f "$new"' EXIT
page=docs/orders.md
{
    sed '/<!-- broken begins -->/q' "$page"
    "$1"
    sed -n '/<!-- broken ends -->/,$p' "$page"
} > "$new"
cat "$new" > "$page"
