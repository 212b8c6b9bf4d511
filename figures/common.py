"""common.py -- what all figures share: runs on simulated machines, whose results are
kept; plots; tables."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.environ.get("BOUMA_BUILD", os.path.join(root, "build-sim"))
kept = os.path.join(build, "figures")
bouma = os.path.join(root, "build", "bin", "bouma")

GIB = 2.0**30


# ---- machines --------------------------------------------------------------


def machine(name, scale=1, **changes):
    """The file of a machine, with other values of some of its names. With 'scale', a byte stands for so
    many: all that counts bytes, and how fast the processors work, is divided by it. A load of 1 MiB a rank
    then takes about as long as 'scale' MiB on the machine itself, but for what the library has of sizes as
    such: those must be divided by options. What ranks tell each other in collective calls is about the
    load, and not a part of it: its bandwidth is not divided."""
    path = os.path.join(root, "sim", "machines", name + ".txt")
    if scale == 1 and not changes:
        return path
    lines = open(path).read().splitlines()
    for key, value in changes.items():
        lines = [line for line in lines if line.split(" ")[0] != key] + ["%s %s" % (key, value)]
    for key, value in (("aggregator_bytes", "16MiB"), ("header_bytes", "64")) if scale != 1 else ():
        if not any(line.startswith(key) for line in lines):
            lines.append("%s %s" % (key, value))
    out = []
    for line in lines:
        m = re.match(r"(?!collective)(\w+_(?:bandwidth|bytes)|processor_speed) ([0-9.]+)(.*)", line)
        out.append("%s %.9g%s" % (m[1], float(m[2]) / scale, m[3]) if m else line)
    os.makedirs(kept, exist_ok=True)
    other = os.path.join(kept, "_".join([name, "%g" % scale, *map(str, changes.values())]) + ".txt")
    text = "\n".join(out) + "\n"
    if not os.path.exists(other) or open(other).read() != text:
        with open(other, "w") as f:
            f.write(text)
    return other


def rates(copies=True):
    """The file of how fast a core computes; without copies, these take no time."""
    path = os.path.join(root, "sim", "rates.machine")
    if copies:
        return path
    with open(path) as f:
        text = re.sub(r"(?m)^work copy rate .*$", "work copy rate 1e15B/s", f.read())
    os.makedirs(kept, exist_ok=True)
    other = os.path.join(kept, "no_copies.machine")
    with open(other, "w") as f:
        f.write(text)
    return other


# ---- runs ------------------------------------------------------------------


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


used = {}  # processor seconds of each run that the figures so far needed, by name, kept or not


def remember(key, make):
    """What 'make' gives, from the last time if nothing of 'key' has changed."""
    os.makedirs(kept, exist_ok=True)
    name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
    path = os.path.join(kept, name + ".json")
    if not os.path.exists(path):
        result = make()
        with open(path + ".new", "w") as f:
            json.dump({"key": key, "result": result}, f, indent=1)
        os.rename(path + ".new", path)
    with open(path) as f:
        result = json.load(f)["result"]
    used[name] = result["cpu_seconds"]
    return result


def call(command, **variables):
    """The object that a command prints, with the processor time and the memory that it took."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **variables})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, complaint = out.read(), err.read()
    begin = text.find("{")
    if process.returncode or begin < 0:
        sys.exit("%s failed:\n%s%s" % (" ".join(command), text[-2000:], complaint[-2000:]))
    result = json.JSONDecoder().raw_decode(text[begin:])[0]
    result["cpu_seconds"] = usage.ru_utime + usage.ru_stime
    result["most_memory"] = usage.ru_maxrss * 1024
    return result


def simulate(ranks, where, *arguments, scale=1, program="bouma-mpi", changes={}, variables={}, copies=True):
    """What a program prints on so many ranks of a machine; 'changes': of its values; 'variables' of the
    environment, of which its times must not depend; 'copies': whether copies inside of a rank take time."""
    file = machine(where, scale, **changes)
    speeds = rates(copies)
    arguments = [str(a) for a in arguments] + ["--json"]
    key = [ranks, digest(file), digest(speeds), digest(os.path.join(build, "sim", program)), arguments]

    def make():
        print("  %d ranks of %s: %s" % (ranks, os.path.basename(file), " ".join(arguments)), file=sys.stderr,
              flush=True)
        return call([os.path.join(root, "sim", "run.sh"), str(ranks), file, program] + arguments,
                    BOUMA_SIM_RATES=speeds, **variables)

    return remember(key, make)


def plan(*arguments):
    """What `bouma plan` says, with the processor time it took."""
    arguments = [str(a) for a in arguments]
    return remember([digest(bouma), arguments], lambda: call([bouma, "plan", *arguments, "--json"]))


def bench_io(ranks, where, names, *arguments, scale=1, buffer=8 << 20, read=False, changes={}):
    """GiB/s of the pipelines 'names', as {operation: {name: rate}}; 'buffer': bytes of a writer's
    buffers on the machine itself. Buffers are folded, so any load fits into memory."""
    options = [x for name in names for x in ("--pipeline", name)]
    options += ["--buffer-bytes", int(buffer / scale), "--repetitions", 1, "--warm-up", 0]
    options += [] if read else ["--no-read"]
    result = simulate(ranks, where, "bench", "io", "scratch", *arguments, *options, scale=scale,
                      changes=changes, variables={"BOUMA_SIM_FOLD": "1"})
    out = {}
    for r in result["results"]:
        rate = scale * r["bytes"] / r["seconds"] / GIB
        out.setdefault(r["operation"], {})[r["pipeline"]] = rate
    out["largest"] = {r["pipeline"]: scale * r["largest_file"] for r in result["results"]}
    out["bytes"] = scale * result["bytes"]
    return out


# ---- what is shown ---------------------------------------------------------


def series(name, x, y, **more):
    return {"name": name, "x": list(x), "y": list(y), **more}


def curves(title, x, y, lines, x_scale="log2", y_scale="linear"):
    return {"format": "bouma-plot", "kind": "curves", "title": title, "x": {"label": x, "scale": x_scale},
            "y": {"label": y, "scale": y_scale}, "series": lines}


def bars(title, y, labels, lines, y_scale="linear"):
    return {"format": "bouma-plot", "kind": "bars", "title": title, "labels": labels,
            "y": {"label": y, "scale": y_scale}, "series": lines}


def draw(plot, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = os.path.join(kept, os.path.basename(path) + ".json")
    with open(data, "w") as f:
        json.dump(plot, f)
    subprocess.run([bouma, "plot", data, "-o", path], check=True)


def number(value):
    """Three digits."""
    if isinstance(value, str):
        return value
    return "-" if value is None else "%.0f" % value if abs(value) >= 100 else "%.3g" % value


def table(heading, rows):
    """Lines of a table of a page; the first column is to the left."""
    yield "| " + " | ".join(heading) + " |"
    yield "|---" + "|--:" * (len(heading) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(number(cell) if not isinstance(cell, int) else "{:,}".format(cell)
                                for cell in row) + " |"
