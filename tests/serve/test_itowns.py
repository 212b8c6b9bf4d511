"""test_itowns.py -- iTowns in a browser opens the point tiles of `bouma serve`: each particle once, where it is."""
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


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".js": "text/javascript", ".html": "text/html", ".wasm": "application/wasm"}

    def log_message(self, *_):
        pass


work = tempfile.TemporaryDirectory(prefix="itowns")
path = view_data.write(f"{work.name}/run.bouma", steps=1)
server = Server(path)
site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=f"{MODULES}/site_itowns"))
threading.Thread(target=site.serve_forever, daemon=True).start()
run = subprocess.run(["node", f"{MODULES}/look_itowns.mjs", f"http://127.0.0.1:{site.server_port}",
                      f"{server.url}ept-laszip/run@0/dust/ept.json", CHROMIUM], stdout=subprocess.PIPE)
equal(run.returncode, 0, "the status of node")
got = json.loads(run.stdout)
equal(got["errors"], [])
points = np.array(got["points"]).reshape(-1, 3)
own = np.asarray(bouma.open(path)[0]["dust"].query()["position"])
equal(len(points), len(own))
close = abs(np.sort(points, axis=0) - np.sort(own, axis=0))  # each axis by itself, since some are near to each other
check((close < 1e-4).all(), f"positions differ by up to {close.max()}")
check((abs(points.sum(axis=0) - own.sum(axis=0)) < 1).all(), "sums of positions")
for key, (told, found, low, high) in got["counts"].items():
    equal(told, found, key)
check(len(got["counts"]) > 16, f"{len(got['counts'])} tiles")
site.shutdown()
server.end()
finish()
