#!/bin/sh
# Installs the Debian packages that a purpose needs and that are missing.
#     tools/deps.sh build test check
# Where there is no apt-get it only says what would be needed.
set -eu

packages=
for purpose in "$@"; do
    case $purpose in
    build) packages="$packages gcc libc6-dev libpcre2-dev libjansson-dev libfyaml-dev zlib1g-dev \
        liblz4-dev libzstd-dev libgsl-dev libsqlite3-dev" ;;
    test) packages="$packages libcriterion-dev pkg-config" ;;
    check) packages="$packages clang clang-format clang-tidy libclang-rt-14-dev chromium pmccabe" ;;
    mpi) packages="$packages libopenmpi-dev openmpi-bin" ;;
    *) echo "deps.sh: unknown purpose '$purpose'" >&2; exit 2 ;;
    esac
done

command -v dpkg-query >/dev/null 2>&1 || exit 0 # not Debian: the build says what it misses
missing=
for p in $packages; do
    case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true) in
    *'install ok installed') ;;
    *) missing="$missing $p" ;;
    esac
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
run=
[ "$(id -u)" = 0 ] || run=sudo
export DEBIAN_FRONTEND=noninteractive
if ! $run apt-get update -qq || ! $run apt-get install -y -qq --no-install-recommends $missing >/dev/null
then
    echo "deps.sh: could not install these packages; install them yourself:$missing" >&2
    exit 1
fi
