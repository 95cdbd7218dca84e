#!/usr/bin/env bash
# Installs into a temporary prefix and builds programs outside the tree against it: with the CMake
# package and with pkg-config, shared and static. Every program must run and exit 0.
# usage: run.sh CMAKE BUILD CC
set -euo pipefail

cmake=$1
build=$2
cc=$3
sources=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step() {
    # a quiet step: its output is shown only where it fails
    if ! "$@" >"$scratch/log" 2>&1; then
        cat "$scratch/log"
        echo "failed: $*"
        exit 1
    fi
}

run() {
    # the program answers, and linked against what it should be
    local how=$1 program=$2 wanted=$3 linked=static
    "$program"
    # not `ldd | grep -q`: grep leaves early, ldd meets a closed pipe, and pipefail calls it static
    case $(ldd "$program") in *librattleback*) linked=shared ;; esac
    [ "$linked" = "$wanted" ] || { echo "$how: linked $linked, wanted $wanted"; exit 1; }
    echo "ok: $how, $linked"
}

step "$cmake" --install "$build" --prefix "$scratch/prefix"
mv "$scratch/prefix" "$scratch/moved"    # an installation can be moved
prefix=$scratch/moved
[ -x "$prefix/bin/rattleback" ] || { echo "no command in $prefix/bin"; exit 1; }
"$prefix/bin/rattleback" --version

# find_package
mkdir "$scratch/source"
cp "$sources"/CMakeLists.txt "$sources"/*.c "$scratch/source"
step "$cmake" -S "$scratch/source" -B "$scratch/build" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
step "$cmake" --build "$scratch/build"
for name in core io; do
    run "CMake $name" "$scratch/build/$name" shared
    run "CMake $name" "$scratch/build/${name}_static" static
done

# pkg-config
libdir=$(dirname "$(find "$prefix" -name librattleback.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
declare -A package=([core]=rattleback [io]=rattleback_io)
for name in core io; do
    read -ra cflags <<<"$(pkg-config --cflags "${package[$name]}")"
    read -ra shared <<<"$(pkg-config --libs "${package[$name]}")"
    read -ra static <<<"$(pkg-config --static --libs "${package[$name]}")"
    static=("${static[@]/#-lrattleback_io/-l:librattleback_io.a}")
    static=("${static[@]/%-lrattleback/-l:librattleback.a}")

    step "$cc" -std=c17 "$sources/$name.c" -o "$scratch/$name" \
        "${cflags[@]}" "${shared[@]}" "-Wl,-rpath,$libdir" -lm
    run "pkg-config $name" "$scratch/$name" shared
    step "$cc" -std=c17 "$sources/$name.c" -o "$scratch/$name.static" "${cflags[@]}" "${static[@]}"
    run "pkg-config $name" "$scratch/$name.static" static
done
