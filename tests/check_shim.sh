#!/bin/sh
# Every call of MPI in the library has a wrapper in the shim of the tests, and
# the shim has no other. None is a collective call that can fail on one rank and
# leave the others waiting in it, as making a window does: memory that ranks
# share is made by src/comm/shared.c. (MPI_Comm_f2c() only turns a number into a
# handle, and is a macro in some MPIs.)
#
#   check_shim.sh LIBRARY SHIM_OBJECT
set -eu
wanted=$(nm --undefined-only "$1" | awk '$NF ~ /^MPI_[A-Z][a-z]/ { print $NF }' |
    grep -v '_f2c$' | sort -u)
there=$(nm --defined-only --extern-only "$2" |
    awk '$NF ~ /^MPI_/ { print $NF }' | sort -u)
if [ -z "$wanted" ] || [ "$wanted" != "$there" ]; then
    echo "the library calls:" $wanted
    echo "the shim has:     " $there
    exit 1
fi
risky=$(echo "$wanted" | grep -E '^MPI_(Win|File)_' || true)
if [ -n "$risky" ]; then
    echo "the library calls, and must not:" $risky
    exit 1
fi
