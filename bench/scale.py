"""scale.py -- does it hold with more ranks? Steps, plans, and memory.

  scale.py [--small] [--only steps|plans|memory] [--repetitions N]
           [--exponents 10,20] [--most RANKS] [--sim RUN] DATA BOUMA [MPI=MPIEXEC=PROGRAM...]

Steps: bench_scale on 16 and on 64 ranks of this machine, in turns, with each
MPI; ratios of medians. Plans: `bouma plan` for 2^10 to 2^20 ranks by every
scheme; processor seconds of the whole program and the memory of the plan; and
the bytes that go between nodes with files=node.
Memory: `bouma-mpi bench write` on simulated machines (sim/run.sh: --sim); all
ranks are in one process, so it is the memory of all of them, and should grow as
they do: with the exponent 1.
A missed target is told, and is no error."""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import time

from score import Score

FEW, MANY = 16, 64
MOST_RATIO = 3.0
MOST_SECONDS, MOST_BYTES = 1.0, 2**29
MOST_SIMULATED, MOST_EXPONENT = 20 * 2**30, 1.2
MOST_BETWEEN = 0  # no patch is shared by nodes

LOADS = {"8 MiB in all": ["--side", "128"], "16 KiB a rank": ["--block", "16"]}


def grid(ranks):
    """Options for a grid of 2^20 samples a rank."""
    shape = [1, 1, 1]
    d = 0
    while shape[0] * shape[1] * shape[2] < ranks << 20:
        shape[d] *= 2
        d = (d + 1) % 3
    return ["--shape", ",".join(map(str, shape))]


def undivided(ranks):
    """About as many, in a cube that neither blocks nor patches divide."""
    side = str(int(round((ranks << 20) ** (1 / 3))) | 1)
    return ["--shape", ",".join([side] * 3)]


def particles(ranks):
    return ["--particles", str(ranks << 12)]


SORT = "a sort of as many numbers, in Python"

# What is planned, by the options that differ from the usual ones.
SCHEMES = (
    [(f"distribute {s}", grid, ["--distribute", s]) for s in ("balanced", "greedy", "none")]
    + [(f"assign {s}", grid, ["--assign", s]) for s in ("running", "count", "per-rank", "single")]
    + [
        (f"place {s}, 64 files", grid, ["--place", s, "--files", "64", "--machine", "torus:64x64x64"])
        for s in ("spread", "cost", "local")
    ]
    + [
        ("patches of 32", grid, ["--patch", "32"]),
        ("undivided", undivided, []),
        ("undivided, patches of 32", undivided, ["--patch", "32"]),
        (
            "node:16, patches of 32",
            grid,
            ["--patch", "32", "--files", "node:16", "--machine", "flat,per=32"],
        ),
        ("layout hz", grid, ["--layout", "hz"]),
    ]
    + [
        (f"particles, {s}{', clustered' if clustered else ''}", particles, ["--assign", s] + clustered)
        for s in ("optimal", "kdtree", "aug", "split")
        for clustered in ([], ["--clustered"])
    ]
)


# What is written on simulated machines: little, so that plans matter.
SIMULATED = {
    "a grid, 2 KiB a rank": ["--block", "8,8,8", "--variables", "1", "--no-read"],
    "the same, read back": ["--block", "8,8,8", "--variables", "1", "--verify"],
    "particles, 2 KiB a rank": ["--load", "cloud", "--bytes", "2K", "--no-read"],
}


def run_steps(command, ranks, load, data, steps):
    """Seconds, and switches of a rank, of a step after the first."""
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_mpi_yield_when_idle="1",
    )
    mpiexec, program = command
    out = subprocess.run(
        [mpiexec, "-n", str(ranks), program, "--directory", data, "--steps", str(steps)] + load,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
        text=True,
    ).stdout.split()
    return float(out[1]), float(out[2])


def measure_steps(score, commands, data, few, many, repetitions, steps):
    score.part(f"a step after the first, {many} ranks over {few}")
    for mpi, command in commands.items():
        for name, load in LOADS.items():
            found = {few: [], many: []}
            for _ in range(repetitions):
                for ranks, list_ in found.items():
                    list_.append(run_steps(command, ranks, load, data, steps))
            times, switches = ({r: [x[k] for x in v] for r, v in found.items()} for k in (0, 1))
            score.add(f"{mpi}, {name}", "s", times[many], reference=(f"{few} ranks", times[few]), at_most=MOST_RATIO)
            score.add(f"{mpi}, {name}: switches of a rank", "", switches[many])


def plan(bouma, ranks, options):
    """Processor seconds of the program, and bytes of the plan."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(
        [bouma, "plan", "--ranks", str(ranks), "--json"] + options,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(out)["memory_bytes"]


def sort(count):
    """Processor seconds to sort so many numbers: what plans are measured by."""
    values = [random.random() for _ in range(count)]
    begun = time.process_time()
    values.sort()
    return time.process_time() - begun


def measure_plans(score, bouma, exponents, repetitions):
    score.part("plans, processor time of the program; memory")
    for name, base, options in SCHEMES:
        for exponent in exponents:
            ranks = 1 << exponent
            found, sorts = [], []
            for _ in range(repetitions):
                found.append(plan(bouma, ranks, base(ranks) + options))
                sorts.append(sort(ranks))
            seconds = [s for s, _ in found]
            score.add(f"{name}, 2^{exponent} ranks", "s", seconds, at_most=MOST_SECONDS)
            if exponent == exponents[-1]:
                score.add(f"{name}, 2^{exponent} ranks: over a sort", "s", seconds, reference=(SORT, sorts))
            score.add(f"{name}, 2^{exponent} ranks: memory", "bytes", found[0][1], at_most=MOST_BYTES)


def measure_nodes(score, bouma, ranks, each):
    """Bytes that go from one node to another: files by node, and as many of others."""
    score.part(f"bytes between nodes, {ranks} ranks on {ranks // each} nodes")
    for files, most in (("node", MOST_BETWEEN), (str(ranks // each), None)):
        options = ["--ranks", str(ranks), "--json", "--machine", f"flat,per={each}", "--files", files]
        out = subprocess.run(
            [bouma, "plan"] + grid(ranks) + options, stdout=subprocess.PIPE, check=True, text=True
        ).stdout
        found = json.loads(out)
        between = found["moved_between_nodes"] + found["shipped_between_nodes"]
        score.add(f"files={files}", "bytes", between, at_most=most)


def simulate(run, ranks, load, data):
    """Bytes at most, of all ranks: two steps on the model of theta."""
    process = subprocess.Popen(
        [run, str(ranks), "theta", "bouma-mpi", "bench", "write", "scratch", "--repetitions", "1"] + load,
        cwd=data,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if process.returncode else usage.ru_maxrss * 1024


def measure_memory(score, run, data, counts):
    score.part("memory of all ranks, simulated")
    for name, load in SIMULATED.items():
        last = None
        for ranks in counts:
            used = simulate(os.path.abspath(run), ranks, load, data)
            score.add(f"{name}, {ranks} ranks", "bytes", math.nan if used is None else used, at_most=MOST_SIMULATED)
            if used is None:
                break
            if last:
                exponent = math.log(used / last[1]) / math.log(ranks / last[0])
                score.add(f"{name}, {ranks} ranks: exponent", "", exponent, at_most=MOST_EXPONENT)
            last = (ranks, used)


def main():
    parser = argparse.ArgumentParser(description="steps and plans with more ranks")
    parser.add_argument("--small", action="store_true", help="just to see that it works")
    parser.add_argument("--only", choices=("steps", "plans", "memory"))
    parser.add_argument("--most", type=int, default=4096, help="simulated ranks")
    parser.add_argument("--exponents", type=lambda text: [int(n) for n in text.split(",")], default=range(10, 21, 2))
    parser.add_argument("--sim", help="sim/run.sh, if there are simulated machines")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("data")
    parser.add_argument("bouma")
    parser.add_argument("mpi", nargs="*", help="NAME=MPIEXEC=PROGRAM")
    args = parser.parse_args()
    commands = {}
    for text in args.mpi:
        name, mpiexec, program = text.split("=")
        commands[name] = (mpiexec, program)
    few, many, steps, exponents = FEW, MANY, 10, args.exponents
    counts = [1024 << i for i in range(6) if 1024 << i <= args.most]
    if args.small:
        few, many, steps, exponents, args.repetitions = 2, 4, 2, [4], 1
        counts = [32, 64]
    score = Score("scale")
    if args.only in (None, "steps"):
        measure_steps(score, commands, args.data, few, many, args.repetitions, steps)
    if args.only in (None, "plans"):
        measure_plans(score, args.bouma, exponents, args.repetitions)
        measure_nodes(score, args.bouma, 1 << exponents[0], 4 if args.small else 64)
    if args.only in (None, "memory") and args.sim:
        measure_memory(score, args.sim, args.data, counts)
    elif args.only in (None, "memory"):
        print("memory is left out: there are no simulated machines (./dev sim)")
    score.end()


main()
