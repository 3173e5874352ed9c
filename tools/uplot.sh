#!/bin/sh
# Gets uPlot from the npm registry into third_party/uplot: its minified script, its style and its licence, as they are in
# the package. Without an argument the newest version 1.6.
#     tools/uplot.sh [VERSION]
set -eu
cd "$(dirname "$0")/.."
command -v npm >/dev/null || { echo "uplot: npm is missing" >&2; exit 2; }
to=$PWD/third_party/uplot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "uplot@${1:-~1.6}" | tail -1 >name
tar xzf "$(cat name)"
[ -s package/LICENSE ] || { echo "uplot: the package has no licence" >&2; exit 1; }
! grep -qi '</script' package/dist/uPlot.iife.min.js || { echo "uplot: the script cannot stand in a page" >&2; exit 1; }
install -m 644 package/dist/uPlot.iife.min.js package/dist/uPlot.min.css package/LICENSE "$to"
version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' package/package.json)
sed -i "s/^Version: .*/Version: $version/" "$to/README.md"
(cd "$to" && sha256sum LICENSE uPlot.iife.min.js uPlot.min.css)
echo "uplot: version $version"
