#!/bin/sh
# Makes the pictures of `heddle report` in docs/guide.md with headless Chromium (Debian: chromium); without it nothing is
# done. A picture shows some sections of a page: a copy of the page hides the others.
#     tools/screenshots.sh [FOLDER]        docs/guide
# The pictures depend on the browser and its fonts: they are not compared.
set -eu
cd "$(dirname "$0")/.."
to=${1:-docs/guide}
command -v chromium >/dev/null || { echo "screenshots: skipped: there is no chromium"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

shot() { # NAME PAGE "SECTIONS" WIDTH HEIGHT light|dark [STATE]
    hide=
    for section in runs verdicts compare launches time roofline occupancy communication advice source; do
        case " $3 " in *" $section "*) ;; *) hide="$hide#$section," ;; esac
    done
    sed "s|</head>|<style>$hide#contents{display:none}</style></head>|" "$work/$2.html" >"$work/part.html"
    scheme=1
    [ "$6" = light ] || scheme=0
    chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" --hide-scrollbars \
        --virtual-time-budget=10000 --blink-settings=preferredColorScheme=$scheme --window-size="$4,$5" \
        --screenshot="$work/$1.png" "file://$work/part.html${7:-}" 2>/dev/null
    size=$(wc -c <"$work/$1.png")
    [ "$size" -lt 300000 ] || { echo "screenshots: $1.png has $size bytes, more than 300,000" >&2; exit 1; }
    cp "$work/$1.png" "$to/$1.png"
    echo "$to/$1.png: $size bytes"
}

heddle=$PWD/heddle
ln -s "$PWD/suites" "$work/suites" # for the source of kernels; the page shows the command as it was typed
(cd "$work" && "$heddle" report suite:transpose_naive --gpu gv100 --output transpose.html 2>/dev/null)
(cd "$work" && "$heddle" report suite:bfs_racy --gpu gv100 --order gpudet,dab --output bfs.html 2>/dev/null)
shot report-time transpose "runs launches time" 1280 1230 light
shot report-advice transpose "advice source" 1280 700 light
shot report-orders bfs "compare time" 1280 1440 dark '#launch=3'
