#!/usr/bin/env bash
# ./dev builds what a command needs and no more, and says that it builds: run with a
# cmake that only tells how it was called.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*"; failed=1; }

mkdir -p "$work"/{bin,tree/figures,tree/examples}
cp dev "$work/tree"
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
echo "cmake $*" >>"$CALLS"
case "$*" in *' -n') [ -z "${DONE:-}" ] || echo 'ninja: no work to do.' ;; esac
END
echo 'echo "install ok installed"' >"$work/bin/dpkg-query"
echo 'echo "ran $*"' >"$work/bin/python3"
echo 'echo ran the demo' >"$work/tree/examples/demo.sh"
chmod +x "$work"/bin/* "$work/tree/examples/demo.sh"
export PATH=$work/bin:$PATH CALLS=$work/calls

# dev WORD... -- sets out, err and calls (what was built).
dev() {
    : >"$CALLS"
    "$work/tree/dev" "$@" >"$work/out" 2>"$work/err" || complain "./dev $* failed: $(cat "$work/err")"
    out=$(cat "$work/out") err=$(cat "$work/err")
    calls=$(grep -e '--build' "$CALLS" | grep -v -e '-n$')
}

dev figures 000-6
[ "$calls" = "cmake --build --preset release --target bouma_tool
cmake --build --preset sim --target sim" ] || complain "figures builds: $calls"
[[ $out == *'figures/run.py 000-6' ]] || complain "figures does not draw: $out"

dev demo
[ "$calls" = "cmake --build --preset release" ] || complain "demo builds: $calls"
[[ $err == *'building all (release)'* ]] || complain "demo does not say that it builds: $err"
[[ $out == *'ran the demo'* ]] || complain "no demo: $out"

export DONE=yes
dev demo
[ -z "$err" ] || complain "with nothing to build, it says: $err"
[ "$out" = 'ran the demo' ] || complain "with nothing to build: $out"
exit $failed
