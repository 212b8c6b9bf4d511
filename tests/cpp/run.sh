#!/usr/bin/env bash
# run.sh BUILD COMPILER [STANDARD] -- bouma.hpp with one compiler: its tests and its
# example, without warnings; what must not compile; and without exceptions.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
compiler=$2
command -v "$compiler" >/dev/null || {
    echo "skipped: there is no $compiler"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
flags=(-std="${3:-c++17}" -O0 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
    -Werror -I"$source/include")
link=(-L"$build" -lbouma -Wl,-rpath,"$build")

"$compiler" "${flags[@]}" "$source/examples/cpp/quickstart.cpp" "${link[@]}" -o quickstart
./quickstart quickstart.bouma | grep '^the same$'
mkdir files
for test in test_cpp test_cpp_budgets test_cpp_files; do
    "$compiler" "${flags[@]}" -Wno-old-style-cast -Wno-conversion "$source/tests/cpp/$test.cpp" "${link[@]}" -o $test
    ./$test files
done

# What must not compile.
refused() {
    printf '#include <bouma.hpp>\nvoid f(bouma::variable v, bouma::columns &c) { (void)v; (void)c; %s }\n' \
        "$1" >refused.cpp
    if "$compiler" "${flags[@]}" -fsyntax-only refused.cpp 2>/dev/null; then
        echo "this should not compile: $1"
        exit 1
    fi
}
refused 'bouma::dataset a; bouma::dataset b = a;'
refused 'c.add(v, std::vector<double>(3));'
refused 'bouma::pieces().add(std::vector<double>(3), 0);'
refused 'std::vector<std::string> t; bouma::pieces().add(t, 0);'
refused 'bool b[3]; c.add(v, bouma::span<bool>(b));'
refused 'double d = 0; v.put_borrow(d);'

"$compiler" "${flags[@]}" -fno-exceptions "$source/tests/cpp/no_exceptions.cpp" "${link[@]}" -o no_exceptions
./no_exceptions | grep '^told$'
if ./no_exceptions abort 2>said; then exit 1; fi
grep 'bouma: .*not there.bouma' said
