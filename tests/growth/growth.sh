#!/bin/sh
# growth.sh VALGRIND GROWTH WHAT N [TENTHS] -- what is done to 4 N things takes at
# most 6 times the instructions of N (or so many tenths): it grows no faster than
# n log n. They are counted by valgrind; no clock is looked at.
set -eu
valgrind=$1 growth=$2 what=$3 n=$4 tenths=${5:-60}

# count N -- the instructions of measured().
count() {
    log=$("$valgrind" --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect=measured "$growth" "$what" "$1" 2>&1) || {
        echo "$log" >&2
        return 1
    }
    echo "$log" | sed -n 's/.*Collected : //p'
}

few=$(count "$n")
many=$(count $((4 * n)))
echo "$what: $n take $few instructions, $((4 * n)) take $many"
[ "$few" -gt 0 ] && [ $((10 * many)) -le $((tenths * few)) ]
