#!/bin/bash
# Checks that the files and names that CONTRIBUTING.md, docs/architecture.md and docs/glossary.md mention exist.
#     tools/where-is.sh [DOCUMENT...]
#
# What is checked are words between backquotes. A word that begins with a folder of the repository is a path: a file or
# folder must match it (`emu/lower/*.c`). A word with an underscore or with () behind it is a name, also behind `struct`
# or `enum`: it must occur in one of the paths on the same line, or, if the line has none, anywhere in the sources.
# `FILE: NAME` says where a name is defined: `FILE: name()` needs the body of the function (or a macro) in that very file, a
# caller or prototype is not enough; `FILE: name` a row, a variable, a structure or its field.
# Anything else between backquotes is free, and what has NAME in it.
#
# In all documents, each link to a file of the repository must lead to one, and its #anchor to a heading of that page.
#
# In README.md and docs/*.md, a number in front of "workloads" ("63 verified workloads", not "30 of 55 workloads") and the one of "on
# 19 GPUs" are those of suites/workloads.def and model/gpus/.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- CONTRIBUTING.md docs/architecture.md docs/glossary.md

# DOCUMENT:LINE, then each word between backquotes, separated by tabs.
words() {
    awk '/^ *```/ { fence = !fence; next }
         !fence && /`/ {
            n = split($0, part, "`")
            out = FILENAME ":" FNR
            for (i = 2; i <= n; i += 2) out = out "\t" part[i]
            print out
         }' "$@"
}
folders=$(git ls-files | sed -n 's|/.*||p' | sort -u | paste -sd'|')
path_like="^($folders)/[A-Za-z0-9_./*-]*$"
pair_like="^($folders)/[A-Za-z0-9_./-]*: [A-Za-z_][A-Za-z0-9_]*(\\(\\))?\$"
name_like='^((struct|enum) )?[A-Za-z_][A-Za-z0-9_]*(\(\))?$'
status=0
count=0
missing() { echo "where-is: $1: $2" >&2; status=1; }

# Whether the file has the body of the function: its name at the beginning of a line, or behind a type that begins one,
# and `{` before the next `;`.
has_body() {
    awk -v name="$2" '
        { gsub(/__attribute__\(\([a-z_]*\)\)/, "") }
        $0 ~ "^#define " name "\\(" { found = 1; exit }
        !in_head && $0 ~ "^([A-Za-z_][^=;({]*[^A-Za-z0-9_=;({])?" name "\\(" { in_head = 1 }
        in_head && match($0, /[{;]/) {
            if (substr($0, RSTART, 1) == "{") { found = 1; exit }
            in_head = 0
        }
        END { exit !found }' "$1"
}
# Whether the file has a row NAME(name, a variable or structure that begins a line, a field, or a key of a YAML file.
has_row() {
    case $1 in
    *.def) grep -qE "^ *[A-Z_0-9]+\(\"?$2\"?[,)]" "$1" ;;
    *.yaml) grep -qE "^ *$2:" "$1" ;;
    *) grep -qE "^[A-Za-z_][^();]*[^A-Za-z0-9_]$2( =|\[| \{|;|,|\$)|^    [A-Za-z_ *,0-9]*[^A-Za-z0-9_]?$2(\[[^]]*\])?[;,]" "$1" ;;
    esac
}

while IFS=$'\t' read -r -a word; do
    paths=()
    for w in "${word[@]:1}"; do
        [[ $w =~ $pair_like && $w != *NAME* ]] || continue
        count=$((count + 1))
        file=${w%%: *}
        name=${w#*: }
        if [ ! -f "$file" ]; then missing "${word[0]}" "there is no $file"
        elif [[ $name == *'()' ]]; then
            has_body "$file" "${name%()}" || missing "${word[0]}" "$file does not define $name"
        else has_row "$file" "$name" || missing "${word[0]}" "$file has no '$name'"
        fi
    done
    for w in "${word[@]:1}"; do
        [[ $w =~ $path_like && $w != *NAME* ]] || continue
        count=$((count + 1))
        found=($(compgen -G "$w"))
        if [ ${#found[@]} = 0 ]; then missing "${word[0]}" "there is no $w"
        else paths+=("${found[@]}")
        fi
    done
    for w in "${word[@]:1}"; do
        [[ $w =~ $name_like && $w != *NAME* ]] || continue
        [[ $w == *_* || $w == *'()' || $w == *' '* ]] || continue
        count=$((count + 1))
        name=${w%()}
        name=${name##* }
        if [ ${#paths[@]} -gt 0 ]; then
            # A word with () must be defined there, in some file of a folder.
            found=
            if [[ $w == *'()' ]]; then
                while read -r file; do
                    has_body "$file" "$name" && found=$file && break
                done < <(grep -rlE -- "(^|[^A-Za-z0-9_])$name\(" "${paths[@]}")
            else found=$(grep -rlwF -- "$name" "${paths[@]}")
            fi
            [ "$found" ] || missing "${word[0]}" "'$name' is not in ${paths[*]}"
        else
            git grep -qwF -- "$name" -- '*.c' '*.h' '*.def' Makefile ':!tests' ||
                missing "${word[0]}" "'$name' is not in the sources"
        fi
    done
done < <(words "$@")
# DOCUMENT:LINE, then the target of each link, separated by tabs.
links() {
    awk '/^ *```/ { fence = !fence; next }
         !fence {
            out = FILENAME ":" FNR
            text = $0
            while (match(text, /\]\([^)]*\)/)) {
                out = out "\t" substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
            }
            if (out ~ /\t/) print out
         }' "$@"
}
# The anchors of a page: its headings in lower case, blanks as -, without other signs.
anchors() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}
while IFS=$'\t' read -r -a link; do
    page=${link[0]%:*}
    for l in "${link[@]:1}"; do
        case $l in
        http*) continue ;;
        '#'*) file=$page ;;
        *) file=$(dirname "$page")/${l%%#*} ;;
        esac
        count=$((count + 1))
        if [ ! -e "$file" ]; then missing "${link[0]}" "there is no $file"
        elif [[ $l == *#* ]] && ! anchors "$file" | grep -qxF -- "${l#*#}"; then
            missing "${link[0]}" "$file has no heading #${l#*#}"
        fi
    done
done < <(links README.md CONTRIBUTING.md CHANGELOG.md docs/*.md)
# THERE PATTERN: each number that the pattern finds must be THERE. What the pattern says must occur somewhere.
numbers() {
    local line
    while IFS= read -r line; do
        count=$((count + 1))
        [ "$(grep -oE '[0-9]+' <<<"${line##*:}" | tail -1)" = "$1" ] || missing "${line%:*}" "'${line##*:}': there are $1"
    done < <(grep -noE -- "$2" README.md docs/*.md | grep -vE ':of ')
    grep -qE -- "$2" README.md docs/*.md || missing README.md "no page says '$2'"
}
numbers "$(grep -c '^WORKLOAD(' suites/workloads.def)" '(of )?[0-9]+ (verified )?workloads'
gpus=(model/gpus/*.yaml)
numbers ${#gpus[@]} '\bon [0-9]+ GPUs'
[ $count -gt 0 ] || missing "$*" 'no names were found'
[ $status = 0 ] && echo "where-is: $count files and names exist"
exit $status
