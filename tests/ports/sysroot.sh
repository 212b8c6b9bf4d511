#!/usr/bin/env bash
# sysroot.sh ARCHITECTURE DIRECTORY -- what bouma is built with, for another
# processor: Debian's packages, unpacked into DIRECTORY. Nothing of the system
# is changed: apt works with lists of its own. Ends with 77 where the packages
# cannot be had.
set -euo pipefail
arch=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
packages=(libzstd1 libzstd-dev libzfp1 libzfp-dev libxxhash0 libxxhash-dev libhwloc15 libhwloc-dev libudev1
          libjansson4 libjansson-dev libpng16-16 libpng-dev liblz4-1 liblz4-dev zlib1g zlib1g-dev libgomp1)

[ "$(cat "$dir/complete" 2>/dev/null)" != "${packages[*]}" ] || exit 0

. /etc/os-release
state=$dir/apt
mkdir -p "$state"/lists/partial "$state"/cache/archives/partial "$state"/debs
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [arch=$arch signed-by=$key] http://deb.debian.org/debian $VERSION_CODENAME main" >"$state/sources.list"
: >"$state/status"
options=(-qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$state"
         -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache"
         -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
         -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Update::Error-Mode=any)
if ! apt-get "${options[@]}" update || ! (cd "$state/debs" && apt-get "${options[@]}" download "${packages[@]}"); then
    echo "skipped: Debian's packages for $arch cannot be downloaded"
    exit 77
fi
for deb in "$state"/debs/*.deb; do
    dpkg -x "$deb" "$dir"
done
rm -rf "$state"
echo "${packages[*]}" >"$dir/complete"
