#!/usr/bin/env bash
# Every public header compiles alone, as C17 and as C++17, with all warnings as errors.
# usage: headers.sh ROOT CC
set -euo pipefail

root=$1
cc=$2
cxx=$(command -v g++ || command -v clang++ || true)
if [ -z "$cxx" ]; then
    echo "skipped: no C++ compiler"
    exit 77
fi

flags=(-fsyntax-only -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -I "$root/include")
count=0
for header in "$root"/include/rattleback/*.h; do
    line="#include <rattleback/$(basename "$header")>"
    "$cc" -std=c17 "${flags[@]}" -x c - <<<"$line"
    "$cxx" -std=c++17 "${flags[@]}" -x c++ - <<<"$line"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "no headers in $root/include/rattleback"; exit 1; }
echo "$count headers compile alone, in C17 and in C++17"
