"""whole_steps.py -- steps of the library on simulated machines: `bouma-mpi bench write`."""
import re

import common

SHOWN = False
FIGURES = {}  # what others share


# Of a machine whose storage takes no time, and is not reached over the nodes' network: what is left is
# what paper 004 calls aggregation, which ends there before storing begins.
NO_STORAGE = {"nodes_per_gateway": 1, "gateway_nodes": 0, "gateway_bandwidth": 1e15, "server_bandwidth": 1e15,
              "server_latency": 0, "process_bandwidth": 0, "metadata_seconds": 0, "lookup_seconds": 0,
              "sync_seconds": 0}


def buffer_bytes(where):
    """What the library takes on the machine itself: a stripe. On a machine that is divided it would take
    4 MiB if the stripe is below 1 MiB."""
    lines = open(common.machine(where)).read().splitlines()
    size = [line.split()[1] for line in lines if line.startswith("stripe_bytes")][0]
    number, unit = re.match(r"([0-9.]+)(\w+)", size).groups()
    return float(number) * {"MiB": 2**20, "MB": 1e6}[unit]


def write(ranks, where, *arguments, scale=1, changes={}, copies=True):
    """Seconds of a write and of a read (None: there was none), and what the record says."""
    result = common.simulate(ranks, where, "bench", "write", "scratch", *arguments, "--durability", "fast",
                             "--repetitions", 1, "--buffer-bytes", int(buffer_bytes(where) / scale), scale=scale,
                             changes=changes, copies=copies)
    of = {r["operation"]: r for r in result["results"]}
    out = dict(of["write"])
    out["write"] = out["seconds"]
    out["read"] = of["read"]["seconds"] if "read" in of else None
    out["bytes"] = scale * result["bytes"]
    out["largest_file"] = scale * out["largest_file"]
    return out


def rate(step, operation="write"):
    """GiB/s."""
    return step["bytes"] / step[operation] / common.GIB


def aggregation(step):
    """Milliseconds of what paper 004 calls aggregation: samples to the owners of blocks, and these to
    the writers of files."""
    return 1000 * (step["phases"]["distribute"] + step["phases"]["ship"])


def milliseconds(step, operation="write"):
    return 1000 * step[operation]
