"""test_npm.py -- grids of `bouma serve` by clients in JavaScript: zarrita and ome-zarr.js."""
import base64
import json
import os
import subprocess
import tempfile

import numpy as np

from served import Server, check, equal, finish
import bouma
import view_data

work = tempfile.TemporaryDirectory(prefix="npm")
path = view_data.write(f"{work.name}/run.bouma")
ds = bouma.open(path)
v, rho = ds[1]["flow/v"], ds[1]["flow/rho"]
EXPECTED = {"zarr/rho/1": ds[2]["flow/rho"].level(1)[:, 3:9]}
for view in ("ome", "ome2"):
    EXPECTED[f"{view} by ome-zarr.js"] = rho.level(1)[:, :, :64][None]  # a chunk
    for level in (0, 2):
        EXPECTED[f"{view}/v/{level}"] = v.level(level)[...][..., 2].astype("f4")

server = Server(path)
run = subprocess.run(["node", f"{os.environ['MODULES']}/grids.mjs", server.url], stdout=subprocess.PIPE)
equal(run.returncode, 0, "the status of node")
found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith(b"{")]
equal({one["name"] for one in found}, set(EXPECTED))
for one in found:
    own = EXPECTED[one["name"]]
    equal((one["shape"], one["type"]), (list(own.shape), "Float32Array"), one["name"])
    check(base64.b64decode(one["data"]) == np.ascontiguousarray(own).tobytes(), one["name"])
server.end()
finish()
