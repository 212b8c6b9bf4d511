#!/usr/bin/env bash
# run_isosurface.sh BUILD -- the example counts the cells that NumPy counts, with
# surfaces inside patches and right between them, with NaN, exactly and not.
set -euo pipefail
build=$(cd "$1" && pwd)
python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$python" - <<'END'
import numpy as np
z, y, x = np.mgrid[0:50, 0:70, 0:45].astype("f4")
ball = np.sqrt((z - 20) ** 2 + (y - 30) ** 2 + (x - 22) ** 2)
np.save("ball.npy", ball)
np.save("wall.npy", np.where(z < 16, 0, 60).astype("f8"))  # between two patches
ball[:10, 20:30] = np.nan
np.save("holes.npy", ball)
END
for name in ball wall holes; do
    for how in "--codec zstd" "--tolerance 0.25" "--tolerance 0.25 --codec wavelet"; do
        rm -rf one.bouma
        # shellcheck disable=SC2086  # options are words
        "$build/bin/bouma" import $name.npy --into one.bouma --var v --patch 16 $how
        "$build/bin/bouma" read one.bouma grid/v -o one.npy
        "$build/bin/example_isosurface" one.bouma grid v 7.1 | tee said
        "$python" - <<'END'
import numpy as np
a = np.load("one.npy")
corners = [a[z:z + a.shape[0] - 1, y:y + a.shape[1] - 1, x:x + a.shape[2] - 1]
           for z in (0, 1) for y in (0, 1) for x in (0, 1)]
low, high = np.min(corners, 0), np.max(corners, 0)  # NaN stays NaN
said = open("said").read().split()
assert int(said[0]) == np.sum((low < 7.1) & (high >= 7.1)) > 0, said
assert int(said[4]) < int(said[6]), said
END
    done
done
! "$build/bin/example_isosurface" one.bouma grid none 7.1
