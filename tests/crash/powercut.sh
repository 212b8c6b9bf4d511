#!/bin/bash
# powercut.sh -- power cuts on real file systems: a small ext4 and a small XFS
# image, loop-mounted, shut down in every call that a writer makes.
#
#     powercut.sh BUILD [STRIDE [OPTION=VALUE...]]
#
# BUILD holds powercut_writer and kill_check; only every STRIDE-th call is cut.
# Needs root and loop devices: exit status 77 (skipped) without.
set -u
build=$1
stride=${2:-1}
shift $(($# < 2 ? $# : 2))

skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
[ -e /dev/loop-control ] || skip "no loop devices"

work=$(mktemp -d) || exit 2
mnt=$work/mnt
mkdir "$mnt"
# Only ever our own mount, by its name.
trap 'umount "$mnt" 2>/dev/null; rm -rf "$work"' EXIT

# Make an empty image of a file system; false if we cannot.
make_image() {
    case $1 in
    ext4) truncate -s 16M "$work/$1.empty" && mkfs.ext4 -q -F "$work/$1.empty" ;;
    xfs) truncate -s 300M "$work/$1.empty" && mkfs.xfs -q -f "$work/$1.empty" ;;
    esac >/dev/null 2>&1 &&
        mount -o loop "$work/$1.empty" "$mnt" 2>/dev/null && umount "$mnt"
}

# One cut in call $2 of the writer, on file system $1, with flag $3. The status
# is the writer's: 10 when it was done before.
cut_once() {
    cp --sparse=always "$work/$1.empty" "$work/image"
    mount -o loop "$work/image" "$mnt" || exit 2
    "$build/powercut_writer" "$mnt/d.bouma" "$work/log" "$mnt" "$2" "$3" \
        "${@:4}"
    local status=$?
    umount "$mnt" && mount -o loop "$work/image" "$mnt" || exit 2
    if ! result=$("$build/kill_check" "$mnt/d.bouma" "$work/log" 2>&1); then
        failures=$((failures + 1))
        echo "$1, call $2, flag $3: $result"
    fi
    umount "$mnt"
    cuts=$((cuts + 1))
    return $status
}

total=0
for fs in ext4 xfs; do
    if ! make_image $fs; then
        echo "$fs: not available here"
        continue
    fi
    cuts=0
    failures=0
    for ((call = 1; ; call += stride)); do
        cut_once $fs $call 1 "$@"
        cut_once $fs $call 2 "$@"
        status=$?
        [ $status -eq 2 ] && exit 2
        [ $status -eq 10 ] && break
    done
    echo "$fs: cuts=$cuts failures=$failures"
    total=$((total + cuts))
    [ $failures -eq 0 ] || broken=1
done
[ $total -gt 0 ] || skip "no file system could be mounted"
exit "${broken:-0}"
