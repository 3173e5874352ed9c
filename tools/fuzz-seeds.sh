#!/bin/sh
# Fills DIR with the inputs that fuzzing starts from.
#     tools/fuzz-seeds.sh DIR
# These are every 4th module of tests/verdicts, the small files of the corpus, and what earlier runs
# left in tests/fuzz/corpus. The same tree gives the same files.
set -eu
LC_ALL=C
export LC_ALL

[ $# = 1 ] || { echo "usage: tools/fuzz-seeds.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# A case is a line `//// NAME: accept|reject` and the text up to the next such line; the text behind
# `//// prologue` stands in front of each case that follows.
awk -v dir="$dir" '
    function leave() {
        if (out != "") close(out)
        out = ""
    }
    FNR == 1 {
        leave()
        file = FILENAME
        sub(/.*\//, "", file)
        sub(/\.cases$/, "", file)
        prologue = ""
        in_prologue = 0
    }
    /^\/\/\/\/ / {
        leave()
        in_prologue = $2 == "prologue"
        if (in_prologue) prologue = ""
        else if (n++ % 4 == 0) {
            name = $2
            gsub(/[^A-Za-z0-9._-]/, "", name)
            out = dir "/" file "-" name ".ptx"
            printf "%s", prologue >out
        }
        next
    }
    in_prologue { prologue = prologue $0 "\n" }
    !in_prologue && out != "" { print >out }
' tests/verdicts/*.cases

find tests/corpus/ptx tests/corpus/hand -name '*.ptx' -size -12288c -exec cp {} "$dir" \;
[ ! -d tests/fuzz/corpus ] || find tests/fuzz/corpus -type f -exec cp {} "$dir" \;
echo "$(ls "$dir" | wc -l) seeds in $1"
