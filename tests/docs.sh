#!/bin/bash
# Runs every command that a document shows, and compares what it prints with what the document shows.
#     tests/docs.sh [--time] [--update] [DOCUMENT...]     default: README.md, CONTRIBUTING.md and docs/*.md
# HEDDLE names the program under test (default ./heddle). --time prints how long each command takes. --update writes
# the real output into the documents, except where the shown one has a line `...`.
#
# A command is a line that begins with `$ ` in a code block (fenced or indented by four spaces). A backslash at
# its end continues it. The lines up to the next command or the end of the block are its output, standard error
# included. A command without output shown may print anything and must exit with 0. A command with output shown must
# not exit with 2 (a wrong call), unless `$ echo $?` shows that next.
#
# In shown output a line `...` stands for any number of lines, and `...` elsewhere for any text. Durations (1.15 ms, 2 s),
# rates (0.2 billion/s) and dates (2026-11-23) match any other. Runs of spaces match each other.
#
# Commands run in a scratch folder for each document, where the repository's files lie as links: relative paths
# are those of the repository's root, and files that a command writes are gone afterwards. The programs `make`, `git`,
# `sudo` and `ncu` are not run. A line of a program that this host lacks (nvcc) skips the rest of its block.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
heddle=$(realpath "${HEDDLE:-./heddle}")
[ -x "$heddle" ] || { echo "docs: $heddle is not there: build it first" >&2; exit 2; }
time=
update=
[ "${1:-}" = --time ] && time=1 && shift
[ "${1:-}" = --update ] && update=1 && shift
[ $# -gt 0 ] || set -- README.md CONTRIBUTING.md docs/*.md
scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-docs.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# Splits a document into one file for each command, NUMBER.cmd, and one for its output, NUMBER.out. The first line of
# .cmd is the command's line in the document, the second the number of its block. The file .lines has the first and the
# last line of the output and the indentation of the block.
split() { # DOCUMENT FOLDER
    awk -v dir="$2" '
        function block_end() { in_block = 0; out = "" }
        function line(text) {
            if (more) { # a continued command
                print text > cmd
                more = text ~ /\\$/
            } else if (text ~ /^\$ /) {
                n++
                cmd = sprintf("%s/%04d.cmd", dir, n)
                out = sprintf("%s/%04d.out", dir, n)
                print NR "\n" blocks "\n" substr(text, 3) > cmd
                more = text ~ /\\$/
            } else if (out != "") {
                print text > out
                if (!(out in first)) first[out] = NR
                print first[out], NR, fence ? indent : 4 > (lines = out ".lines")
                close(lines)
            }
        }
        /^ *```/ {
            if (fence) { fence = 0; block_end() }
            else { fence = 1; blocks++; indent = match($0, /[^ ]/) - 1; out = "" }
            next
        }
        fence { line(substr($0, indent + 1)); next }
        /^    / {
            if (!in_block) { in_block = 1; blocks++; out = "" }
            line(substr($0, 5))
            next
        }
        { block_end() }' "$1"
}

# Does the output (second file) match what is shown (first file)?
matches() {
    awk '
        function plain(s) {
            s = s " "
            gsub(/[0-9]+(\.[0-9]+)? (ns|us|µs|ms|s|seconds|minutes)[ ,;.)]/, "<time> ", s)
            gsub(/[0-9]+(\.[0-9]+)? billion\/s/, "<rate>", s)
            gsub(/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/, "<date>", s)
            gsub(/[ \t]+/, " ", s)
            sub(/ +$/, "", s)
            return s
        }
        function regex(s) {
            gsub(/[][\\.^$*+?(){}|\/]/, "\\\\&", s)
            gsub(/\\\.\\\.\\\./, ".*", s)
            return "^" s "$"
        }
        NR == FNR { shown[++s] = plain($0); next }
        { real[++r] = plain($0) }
        END {
            while (s > 0 && shown[s] == "") s--
            while (r > 0 && real[r] == "") r--
            i = j = 1; star = 0
            while (j <= r) {
                if (i <= s && shown[i] == "...") { star = ++i; from = j }
                else if (i <= s && (shown[i] == real[j] || real[j] ~ regex(shown[i]))) { i++; j++ }
                else if (star) { i = star; j = ++from }
                else exit 1
            }
            while (i <= s && shown[i] == "...") i++
            exit i <= s
        }' "$1" "$2"
}

# Runs the commands of one document in a scratch folder; prints what does not match.
document() { # DOCUMENT FOLDER
    local name=$1 dir=$2 new first last indent cmd line block skip= status=0 bad=0 count=0 allowed text program began
    mkdir -p "$dir/parts" "$dir/root" || return 2
    split "$name" "$dir/parts"
    (cd "$root" && git ls-files -co --exclude-standard 2>/dev/null || ls) | cut -d/ -f1 | sort -u |
        while read -r entry; do ln -s "$root/$entry" "$dir/root/$entry"; done
    [ -e "$dir/root/build" ] || ln -s "$root/build" "$dir/root/build"
    ln -sfn "$heddle" "$dir/root/heddle"
    cd "$dir/root" || return 2
    for cmd in "$dir"/parts/*.cmd; do
        [ -e "$cmd" ] || continue
        { read -r line; read -r block; text=$(cat); } <"$cmd"
        [ "$skip" != "$block" ] || continue
        program=${text%% *}
        [[ $program != [A-Z]*=* ]] || { program=${text#* }; program=${program%% *}; }
        case $program in
        make | sudo | git | ncu) continue ;;
        esac
        if ! PATH="$dir/root:$PATH" command -v "$program" >/dev/null; then
            case $program in
            nvcc) echo "skipped: $name:$line: $program is not installed" >&2 ;;
            *) echo "$name:$line: there is no program '$program'" && bad=1 ;;
            esac
            skip=$block
            continue
        fi
        count=$((count + 1))
        began=${EPOCHREALTIME/./}
        PATH="$dir/root:$PATH" timeout 60 stdbuf -oL bash -c "(exit $status); $text" \
            >"$dir/real" 2>&1 </dev/null
        status=$?
        [ -z "$time" ] || printf '%6d ms  %s:%s: %s\n' $(((${EPOCHREALTIME/./} - began) / 1000)) "$name" "$line" "$text"
        allowed="${cmd%.cmd}.out"
        if [ -e "$allowed" ] && ! matches "$allowed" "$dir/real"; then
            if [ "$update" ] && ! grep -qx '\.\.\.' "$allowed"; then
                cp "$dir/real" "$allowed.new"
                continue
            fi
            echo "$name:$line: the output is not the one that is shown: $text"
            diff -u --label shown --label printed "$allowed" "$dir/real" | head -60 | sed 's/^/    /'
            bad=1
        elif { [ ! -e "$allowed" ] && [ $status != 0 ]; } || [ $status = 2 ] || [ $status -ge 124 ]; then
            local next
            next=$(printf '%s/parts/%04d.cmd' "$dir" $((10#$(basename "$cmd" .cmd) + 1)))
            if [ "$(sed -n 3p "$next" 2>/dev/null)" != 'echo $?' ]; then
                echo "$name:$line: exit status $status: $text"
                sed 's/^/    /' "$dir/real"
                bad=1
            fi
        fi
    done
    echo $count >"$dir/count"
    for new in $(ls -r "$dir"/parts/*.out.new 2>/dev/null); do # the last one first: line numbers stay true
        read -r first last indent <"${new%.new}.lines"
        {
            head -n $((first - 1)) "$root/$name"
            sed "s/^/$(printf '%*s' "$indent" '')/; s/ *\$//" "$new"
            tail -n +$((last + 1)) "$root/$name"
        } >"$dir/updated" && cp "$dir/updated" "$root/$name"
        echo "$name:$first: updated"
    done
    return $bad
}

# Two documents at a time.
status=0
i=0
for name; do
    i=$((i + 1))
    document "$name" "$scratch/$i" >"$scratch/$i.log" 2>&1 || touch "$scratch/$i.bad" &
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
done
wait
total=0
for ((j = 1; j <= i; j++)); do
    cat "$scratch/$j.log"
    [ ! -e "$scratch/$j.bad" ] || status=1
    total=$((total + $(cat "$scratch/$j/count" 2>/dev/null || echo 0)))
done
if [ $total = 0 ]; then
    echo "docs: no commands were found" >&2
    exit 1
fi
[ $status = 0 ] && echo "docs: $total commands of $i documents do what the documents show"
exit $status
