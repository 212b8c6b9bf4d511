#!/bin/sh
# Every call of MPI in the library has a wrapper in the shim of the tests, and
# the shim has no other.
#
#   check_shim.sh LIBRARY SHIM_OBJECT
set -eu
wanted=$(nm --undefined-only "$1" | awk '$NF ~ /^MPI_[A-Z][a-z]/ { print $NF }' |
    sort -u)
there=$(nm --defined-only --extern-only "$2" |
    awk '$NF ~ /^MPI_/ { print $NF }' | sort -u)
if [ -z "$wanted" ] || [ "$wanted" != "$there" ]; then
    echo "the library calls:" $wanted
    echo "the shim has:     " $there
    exit 1
fi
