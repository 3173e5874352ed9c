#!/bin/sh
# Writes the tables of docs/counts.md from emu/counts.def and model/gpus; --check: compares only.
set -eu
cd "$(dirname "$0")/.."
doc=docs/counts.md
rows() { # KIND PREFIX: "| `name` | text |" of the lines KIND(field, ["name",] "text")
    sed -n "s/^$1(\([a-z0-9_]*\), \(\"\([^\"]*\)\", \)\{0,1\}\"\([^\"]*\)\")\$/\3|\1|\4/p" emu/counts.def |
        while IFS='|' read -r name field text; do printf '| `%s` | %s |\n' "${name:-$field}" "$text"; done
}
table() {
    case $1 in
    events) rows EVENT ;;
    access) rows ACCESS ;;
    caches) rows CACHE ;;
    gpus)
        for f in model/gpus/*.yaml; do
            sed -n 's/^name: //p; s/^title: //p; s/^  capability: *\([0-9.]*\).*/\1/p; s/^  sms: *\([0-9]*\).*/\1/p' "$f" |
                paste -sd'|'
        done | sort -t'|' -k3,3V -k1,1 | sed 's/\(.*\)|\(.*\)|\(.*\)|\(.*\)/| `\1` | \2 | \3 | \4 |/'
        ;;
    esac
}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
skip=
while IFS= read -r line; do
    case $line in
    '<!-- end -->') skip= ;;
    esac
    [ "$skip" ] || printf '%s\n' "$line"
    case $line in
    '<!-- table '*' -->')
        name=${line#<!-- table }
        name=${name% -->}
        [ "$name" = gpus ] && printf '| Name | GPU | Compute capability | SMs |\n|---|---|---|---|\n'
        [ "$name" = gpus ] || printf '| Name | What it counts |\n|---|---|\n'
        table "$name"
        skip=1
        ;;
    esac
done <"$doc" >"$new"
if [ "${1:-}" = --check ]; then
    diff -u "$doc" "$new" || { echo "$doc is not current: tools/counts-doc.sh" >&2; exit 1; }
else
    cp "$new" "$doc"
fi
