"""test_neuroglancer.py -- neuroglancer in a browser shows what `bouma serve` has: values at the centres of voxels, only the
chunks that are in view, and particles."""
import functools
import http.server
import json
import os
import subprocess
import tempfile
import threading

import numpy as np

from served import Server, check, equal, finish
import bouma
import view_data

MODULES, CHROMIUM = os.environ["MODULES"], os.environ["CHROMIUM"]
MM = 1e-3


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def image(view, driver, **more):
    return {"type": "image", "name": "rho", "source": f"{server.url}{view}/run/flow/rho/|{driver}:", **more}


def state(layer, x, y, z, t):
    """A small part around a sample."""
    return {"dimensions": {"x": [0.125 * MM, "m"], "y": [0.25 * MM, "m"], "z": [0.5 * MM, "m"], "t": [0.5, ""]},
            "position": [3 / 0.125 + x, 2 / 0.25 + y, 1 / 0.5 + z, t], "crossSectionScale": 0.05, "layout": "xy",
            "layers": [layer]}


work = tempfile.TemporaryDirectory(prefix="neuroglancer")
path = view_data.write(f"{work.name}/run.bouma")
rho = bouma.open(path)[1]["flow/rho"]
server = Server(path)
site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=f"{MODULES}/site"))
threading.Thread(target=site.serve_forever, daemon=True).start()
dust = {"type": "annotation", "name": "dust", "source": f"{server.url}annotations/run@0/dust/|neuroglancer-precomputed:"}
states = [state(image("ome", "zarr3"), 101, 33, 9, 1), state(image("ome2", "zarr2"), 20, 33, 9, 1),
          {"layers": [dust], "layout": "3d"}]
run = subprocess.run(["node", f"{MODULES}/look.mjs", f"http://127.0.0.1:{site.server_port}", server.url, CHROMIUM],
                     input="\n".join(map(json.dumps, states)).encode(), stdout=subprocess.PIPE)
equal(run.returncode, 0, "the status of node")
fine, other, points = [json.loads(line) for line in run.stdout.splitlines()]
for one in (fine, other, points):
    equal(one["errors"], [])
    check(all(code == 200 for code, _ in one["asked"] if not _.endswith((".zattrs", ".zgroup", ".zarray"))), str(one["asked"]))
equal(np.float32(fine["values"][0]), rho[9, 33, 101])
equal(np.float32(other["values"][0]), rho[9, 33, 20])
chunks = {name.split("rho/")[1] for _, name in fine["asked"] if "/c/" in name}
equal({one for one in chunks if one.startswith("0/")}, {"0/c/1/0/0/1"}, "the chunk in view")
check(all(one.split("/")[2] == "1" for one in chunks), f"other steps: {chunks}")
check(["annotations/run@0/dust/0/0_0_0"] == [name for _, name in points["asked"] if "dust/0/" in name], str(points["asked"]))
check(points["yellow"] > 100, f"{points['yellow']} yellow pixels")
site.shutdown()
server.end()
finish()
