#!/usr/bin/env bash
# check_compiler_flags.sh [COMPILER] -- what a user's compiler flags say stays so:
# configure in several ways, and look at the commands that compile one file.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
compiler=${1:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset CFLAGS CMAKE_BUILD_TYPE
failed=0

complain() {
    echo "$what: $*"
    echo "    $command"
    failed=1
}

# configure OPTION...: $command is how src/base/box.c is compiled.
configure() {
    what="CFLAGS='${CFLAGS:-}' cmake $*"
    rm -rf "$folder/build"
    cmake -S "$root" -B "$folder/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DBOUMA_MPI=OFF -DBOUMA_TOOLS=OFF -DBOUMA_EXAMPLES=OFF -DBOUMA_TESTS=OFF "$@" >"$folder/log" 2>&1 || {
        cat "$folder/log"
        exit 1
    }
    command=$(sed -n 's/^ *"command": "\(.*-c [^ ]*src\/base\/box\.c\)".*/\1/p' "$folder/build/compile_commands.json")
    [ -n "$command" ] || complain "no command compiles src/base/box.c"
}

# wins PATTERN FLAG: of all flags that are like PATTERN, FLAG is the last.
wins() {
    local last
    last=$(tr ' ' '\n' <<<"$command" | grep -xE -- "$1" | tail -1 || true)
    [ "$last" = "$2" ] || complain "'$last' wins, not '$2'"
}

has() { [[ " $command " == *" $1 "* ]] || complain "$1 is missing"; }
lacks() { [[ " $command " != *" $1 "* ]] || complain "$1 is there"; }
level='-O.*' debug='-g[0-9]?' ndebug='-[DU]NDEBUG'

configure
wins "$level" -O3
wins "$debug" -g
wins "$ndebug" -DNDEBUG
has -Wshadow
lacks -Werror

CFLAGS="-O1 -g3" configure
wins "$level" -O1
wins "$debug" -g3
wins "$ndebug" -DNDEBUG
lacks -Werror

CFLAGS="-funroll-loops -D_FORTIFY_SOURCE=1 -UNDEBUG -Wno-shadow" configure
wins "$level" -O3
wins "$ndebug" -UNDEBUG
wins '-[DU]_FORTIFY_SOURCE.*' -D_FORTIFY_SOURCE=1
has -funroll-loops
lacks -Wshadow
has -Wall

configure -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O2 -Werror=vla"
wins "$level" -O2
wins "$debug" -g
wins "$ndebug" ""
has -Werror=vla

configure -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-Ofast -ffast-math" -DCMAKE_C_FLAGS_RELEASE="-Os" \
    -DBOUMA_SANITIZE=address -DBOUMA_WERROR=ON
wins "$level" -Os
wins "$debug" ""
wins '-f(no-)?fast-math' -fno-fast-math
has -fsanitize=address
has -Werror
exit $failed
