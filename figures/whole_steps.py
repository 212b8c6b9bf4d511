"""whole_steps.py -- steps of the library on simulated machines: `bouma-mpi bench write`."""
import common

SHOWN = False
FIGURES = {}  # what others share


def write(ranks, where, *arguments, scale=1):
    """Seconds of a write and of a read (None: there was none), and what the record says."""
    result = common.simulate(ranks, where, "bench", "write", "scratch", *arguments, "--durability", "fast",
                             "--repetitions", 1, scale=scale)
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
