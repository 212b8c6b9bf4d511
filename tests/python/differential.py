#!/usr/bin/env python3
r"""differential.py -- random grids and particles, written and read with random
options, layouts and numbers of ranks, against NumPy.

    BOUMA=build/bin/bouma BOUMA_MPI=build/bin/bouma-mpi \
        differential.py [--trials N] [--seed S] [--only T]

Without BOUMA_MPI on one rank alone; MPIRUN is the command that starts ranks.
Trial T of a seed is the same everywhere, so `--seed S --only T` repeats one that
failed; its commands are printed then."""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np

REALS = ["f4", "f8"]
TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] + REALS
EXACT = {"raw": TYPES, "zstd": TYPES, "exact": TYPES}
LOSSY = {"interp": REALS, "wavelet": REALS}

# Options of the library that change how, not what; each list is one choice.
OPTIONS = {
    "durability": ["durable", "fast", "group"],
    "files": [1, 2, 3, 7],
    "file-size": ["64K", "1M"],
    "distribute": ["balanced", "greedy", "none", "weighted"],
    "place": ["spread", "first", "cost", "local"],
    "order": ["level", "chunk"],
    "message-bytes": [4096, "1M"],
    "buffer-bytes": ["64K", "1M"],
    "threads": [1, 3],
    "machine": ["flat", "torus:2x2x2"],
    "tier": ["dram"],
    "buffers": [1, 2, 5],
    "transport": ["messages", "windows"],
    "async": None,
    "predict": ["off", "on"],
    "check": None,
}
ASSIGN = {"grid": ["optimal", "running", "count", "per-rank", "single"],
          "particles": ["optimal", "running", "count", "per-rank", "single", "kdtree", "aug", "split"]}


class Wrong(Exception):
    """What bouma did is not what NumPy says."""


class Trial:
    def __init__(self, args, number, directory):
        self.args = args
        self.random = np.random.default_rng([args.seed, number])
        self.directory = directory
        self.commands = []
        self.most_ranks = 6 if args.mpi else 1

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, p):
        return bool(self.random.random() < p)

    def below(self, n):
        return int(self.random.integers(n))

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *words):
        ranks = 1 + self.below(self.most_ranks)
        command = [str(w) for w in words]
        if self.args.mpi and (ranks > 1 or self.chance(0.3)):
            command = shlex.split(self.args.mpirun) + ["-n", str(ranks), self.args.mpi] + command
        else:
            command = [self.args.bouma] + command
        self.commands.append(shlex.join(command))
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "bouma" in line]
            raise Wrong(f"exit status {done.returncode}: " + "; ".join(said[:3]))
        return done.stdout

    def library_options(self, kind):
        words = []
        for name, choices in OPTIONS.items():
            if not self.chance(0.25):
                continue
            if name in ("files", "file-size") and "--files" in words:
                continue
            words += [f"--{name}"] if choices is None else [f"--{name}", str(self.one_of(choices))]
        if self.chance(0.5):
            words += ["--assign", self.one_of(ASSIGN[kind])]
        return words


# ---- grids ------------------------------------------------------------------


def make_array(t, dtype, shape):
    r = t.random
    kind = t.below(4)
    if dtype not in REALS:
        if kind == 0:
            info = np.iinfo(dtype)
            return r.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return r.integers(0, 100, shape).astype(dtype)
    axes = np.meshgrid(*(np.linspace(0, r.uniform(1, 9), n) for n in shape), indexing="ij")
    values = sum(np.sin(a + i) for i, a in enumerate(axes))
    if kind == 1:
        values = r.normal(size=shape)
    if kind == 2:
        values = np.zeros(shape)
    return values.astype(dtype)


def random_template(t, shape):
    """Of the axes x (the last), y and z, so many splits as each needs."""
    letters = [c for n, c in zip(shape[::-1], "xyz") for _ in range(int(n - 1).bit_length())]
    t.random.shuffle(letters)
    return "".join(letters)


def layout_options(t, shape):
    if t.chance(0.4):
        words = []
        if t.chance(0.7):
            words += ["--patch", ",".join(str(2**t.below(5)) for _ in shape)]
        return "patch", words
    words = ["--layout", "hz", "--hz-order", t.one_of(["rows", "hz"])]
    template = random_template(t, shape)
    if template and t.chance(0.6):
        words += ["--hz-template", template]
    if template and t.chance(0.7):
        words += ["--hz-block-bits", 1 + t.below(len(template))]
    words += ["--hz-blocks-per-file", 2**t.below(6) + t.below(3)]
    return "hz", words


def hz_variant(t, shape, words):
    """More of layout hz, of which each goes with few others: its name, and the words of a call."""
    length = sum(int(n - 1).bit_length() for n in shape)
    bits = words[words.index("--hz-block-bits") + 1] if "--hz-block-bits" in words else 0
    choice = t.one_of(["partitions", "wavelet", "idx", None])
    if choice == "partitions" and 0 < bits < length:
        return choice, ["--hz-partitions", 2**(1 + t.below(min(bits, length - bits, 5))), "--hz-index", "local"]
    if choice == "wavelet" and length:
        return choice, ["--hz-wavelet"] + (["--hz-tile-bits", 1 + t.below(length)] if t.chance(0.5) else [])
    if choice == "idx" and len(shape) > 1 and "rows" not in words and "--hz-template" not in words:
        return choice, ["--idx"]
    return None, []


def random_shape(t):
    ndims = 1 + t.below(3)
    return tuple(1 + t.below((5000, 130, 36)[ndims - 1]) for _ in range(ndims))


def random_codec(t, layout, variant, dtype):
    """The words of a call, the codec, and the bound: 0 if every bit is kept."""
    if variant == "idx":
        return [], "raw", 0.0
    if dtype in REALS and t.chance(0.4):
        bound = 10.0 ** -t.below(6)
        if variant == "wavelet":
            return ["--tolerance", bound], "zstd", bound
        codec = t.one_of(sorted(LOSSY) if layout == "patch" else ["interp"])
        return ["--codec", codec, "--tolerance", bound], codec, bound
    codec = t.one_of([c for c in sorted(EXACT) if dtype in EXACT[c]])
    return ["--codec", codec], codec, 0.0


def compare(found, true, bound, what):
    if found.shape != true.shape or found.dtype != true.dtype:
        raise Wrong(f"{what}: {found.dtype}{found.shape}, not {true.dtype}{true.shape}")
    if not bound:
        if found.tobytes() != true.tobytes():
            raise Wrong(f"{what}: other values")
    elif found.size and np.max(np.abs(found.astype("f8") - true.astype("f8"))) > bound:
        raise Wrong(f"{what}: the error is beyond {bound}")


def read_boxes(t, ds, name, step, true, bound, levels):
    shape = true.shape[:t.ndims]
    for _ in range(3):
        level = t.below(levels)
        stride = 1 << level
        lo = [t.below(n) for n in shape]
        hi = [a + 1 + t.below(n - a) for a, n in zip(lo, shape)]
        if t.chance(0.3):
            lo, hi = [0] * t.ndims, list(shape)
        # A box without samples of the level is refused.
        lo = [a if -(-a // stride) * stride < b else a // stride * stride for a, b in zip(lo, hi)]
        out = t.path("out.npy")
        box = ",".join(f"{a}:{b}" for a, b in zip(lo, hi))
        t.run("read", ds, f"g/{name}", "--step", step, "--level", level, "--box", box, "-o", out)
        part = true
        for axis, (a, b) in enumerate(zip(lo, hi)):
            part = part.take(np.arange(-(-a // stride) * stride, b, stride), axis=axis)
        compare(np.load(out), np.ascontiguousarray(part), bound, f"{name} [{box}] at level {level}")


def grid_trial(t):
    shape = random_shape(t)
    t.ndims = len(shape)
    layout, words = layout_options(t, shape)
    ds = t.path("grid.bouma")
    dtype = t.one_of(TYPES)
    variant, more = hz_variant(t, shape, words) if layout == "hz" else (None, [])
    words += more
    codec_words, codec, bound = random_codec(t, layout, variant, dtype)
    averages = codec == "wavelet" or variant == "wavelet" and dtype in REALS
    components = t.one_of([1, 1, 2, 3])
    names = ["a", "b"][:1 + t.below(2)]
    for step in range(1 + t.below(3)):
        arrays = {}
        for name in names:
            array = make_array(t, dtype, shape + ((components,) if components > 1 else ()))
            if t.chance(0.2):
                array = np.asfortranarray(array)
            if t.chance(0.2):
                array = array.astype(array.dtype.newbyteorder())
            np.save(t.path(name + ".npy"), array)
            arrays[name] = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
        more = ["--components", components] if components > 1 else []
        t.run("import", *(t.path(n + ".npy") for n in names), "--into", ds, "--grid", "g", "--step", step, *words,
              *codec_words, *more, *t.library_options("grid"))
        info = json.loads(subprocess.run([t.args.bouma, "info", ds, "--json"], check=True, capture_output=True,
                                         text=True).stdout)
        grid = info["steps"][-1]["objects"][0]
        levels = min(v["levels"] for v in grid["variables"])
        for name in names:
            read_boxes(t, ds, name, step, arrays[name], bound, 1 if averages else levels)
    t.run("verify", ds, "deep")


# ---- particles --------------------------------------------------------------


def particle_trial(t):
    count = t.one_of([0, 1, 7, 300, 5000])
    r = t.random
    position = r.normal(size=(count, 3)) * r.uniform(0.1, 10)
    columns = {"position": position.astype(t.one_of(REALS)), "id": r.permutation(count).astype("i8"),
               "T": r.uniform(200, 900, count).astype("f4")}
    np.savez(t.path("p.npz"), **columns)
    ds = t.path("particles.bouma")
    t.run("import", t.path("p.npz"), "--particles", "p", "--into", ds, *t.library_options("particles"),
          *(["--leaf", 2**(3 + t.below(6))] if t.chance(0.5) else []))
    for _ in range(3):
        inside = np.ones(count, bool)
        words, out = [], t.path("q.npz")
        if t.chance(0.6):
            box = []
            for axis in range(3):
                lo, hi = sorted(float(x) for x in r.normal(size=2) * 3)
                box.append(f"{lo!r}:{hi!r}")
                inside &= (columns["position"][:, axis] >= lo) & (columns["position"][:, axis] < hi)
            words += ["--box", ",".join(box)]
        if t.chance(0.6):
            least = int(r.integers(200, 900))
            words += ["--where", f"T >= {least} && id < {count // 2}"]
            inside &= (columns["T"] >= least) & (columns["id"] < count // 2)
        t.run("query", ds, "p", "-o", out, *words)
        found = np.load(out)
        rank = np.argsort(found["id"])
        wanted = np.argsort(columns["id"][inside])
        for name, values in columns.items():
            compare(found[name][rank], values[inside][wanted], 0, f"{name} of {shlex.join(map(str, words))}")
    t.run("verify", ds, "deep")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    args.bouma = os.environ["BOUMA"]
    args.mpi = os.environ.get("BOUMA_MPI")
    args.mpirun = os.environ.get("MPIRUN", "mpirun --oversubscribe --allow-run-as-root")
    failed = 0
    for number in [args.only] if args.only is not None else range(args.trials):
        directory = tempfile.mkdtemp(prefix="bouma-differential-")
        trial = Trial(args, number, directory)
        try:
            (particle_trial if number % 4 == 3 else grid_trial)(trial)
        except Wrong as why:
            failed += 1
            print(f"trial {number} of seed {args.seed}: {why}")
            print("".join(f"    {c}\n" for c in trial.commands), end="")
        shutil.rmtree(directory)
    print(f"{args.trials if args.only is None else 1} trials, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
