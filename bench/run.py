"""run.py -- all benchmarks, or some: `./dev bench`.

  run.py [NAME...] [--small] [--json FILE] [--keep NAME] [--report] [ARGUMENTS]
  run.py --compare OLD.json [NEW.json]

Each benchmark prints a table; all figures go into one file of results (README.md): FILE, or bench/results/NAME.json.
--report writes that of --keep into docs/performance.md. With one NAME, further arguments are its own, and it has its
full size; all of them take less, some 15 minutes on two cores. --small just shows that they work.
--compare tells what changed from OLD to NEW beyond the noise, or to the results of a run that is made for it."""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import compare
import report
import results

here = os.path.dirname(os.path.abspath(__file__))

# Their arguments when all are run, and just to see that they work. The first are meant to fit 15 minutes
# in all on two cores; five turns are the fewest that --compare judges.
BENCHMARKS = {
    "write": (["--repetitions", "7"], ["--size", "32", "--repetitions", "2"]),
    "open": (["--size", "256", "--repetitions", "100", "--steps", "10000"], ["--size", "64", "--repetitions", "2", "--steps", "1000"]),
    "plan": ([], ["--small"]),
    "grid": (["--repetitions", "5"], ["--size", "128", "--repetitions", "1"]),
    "hz": (["--size", "256", "--repetitions", "7"], ["--small"]),
    "particles": (["--particles", "2000000", "--repetitions", "7"], ["--particles", "10000", "--repetitions", "1"]),
    "aggregate": (["--largest", "8", "--repetitions", "5"], ["--largest", "1", "--repetitions", "1", "--size", "64"]),
    "scale": (["--repetitions", "5", "--exponents", "10,20", "--most", "1024"], ["--small"]),
    "python": (["--size", "256", "--steps", "2000", "--turns", "7"], ["--small"]),
    "serve": (
        ["--size", "256", "--particles", "2000000", "--repetitions", "5", "--seconds", "3"],
        ["--small"],
    ),
    "wasm": (["128"], ["64"]),
    "growth": ([], ["--small"]),
}


def missing(name, build):
    """Why a benchmark cannot run here, or nothing."""
    if name == "wasm":
        for program in ("node", "clang-14", "wasm-ld-14"):
            if not shutil.which(program):
                return "needs %s" % program
    program = {"wasm": "bench_python", "growth": "bench_scale"}.get(name, "bench_" + name)
    if not os.access(os.path.join(build, "bench", program), os.X_OK):
        return "bench/%s is not built: see the messages of cmake" % program
    return None


def run_one(name, arguments, runs):
    """Its exit status; its figures are appended to the file 'runs'."""
    environment = dict(os.environ, BENCH_RUNS=runs)
    return subprocess.run([os.path.join(here, "run.sh"), name] + arguments, env=environment, check=False).returncode


def processor_seconds():
    """Of all programs that were run so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_all(names, arguments, build):
    """A file of results, and how many failed."""
    left_out, failed, begun, load = [], 0, time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        runs = os.path.join(folder, "runs")
        open(runs, "w", encoding="utf-8").close()
        for i, name in enumerate(names):
            why = missing(name, build)
            print("\n== %s (%d of %d)%s" % (name, i + 1, len(names), why and ": left out: " + why or ""), flush=True)
            start, used = time.monotonic(), processor_seconds()
            if not why and run_one(name, arguments[name], runs):
                why, failed = "failed", failed + 1
            if why:
                left_out.append({"benchmark": name, "why": why})
            passed, used = time.monotonic() - start, processor_seconds() - used
            print("== %s: %s after %.0f s, %.0f s of processors" % (name, why or "done", passed, used), flush=True)
        with open(runs, encoding="utf-8") as file:
            found = results.complete(file.read())
    about = results.machine(build, os.environ.get("BENCH_DIR", "."), os.environ.get("MPIRUN", "mpirun"))
    value = results.document(found, about, (load, os.getloadavg()[0]), time.monotonic() - begun, left_out)
    return value, failed


def summarise(value):
    figures = [figure for run in value["runs"] for figure in run["results"]]
    missed = [(run, f) for run in value["runs"] for f in run["results"] if f["met"] is False]
    targets = sum(figure["met"] is not None for figure in figures)
    print(
        "\n%d figures, %d of %d targets met, in %.0f s; load %.1f before, %.1f after"
        % (len(figures), targets - len(missed), targets, value["seconds"], *value["load"].values())
    )
    if value["load"]["before"] > 2 * value["machine"]["cores"]:
        print("other programs ran beside: do not trust these times")
    for run, figure in missed:
        print("  missed: %s" % compare.name_of(results.key_of(run, figure)))


def parse(words):
    parser = argparse.ArgumentParser(prog="./dev bench [NAME...]", allow_abbrev=False, description=__doc__.split("\n\n", maxsplit=2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--keep", metavar="NAME")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--compare", nargs="+", metavar="FILE")
    # Names come first, then options; what is not known belongs to the one benchmark.
    count = next((i for i, word in enumerate(words) if word not in BENCHMARKS), len(words))
    given, rest = parser.parse_known_args(words[count:])
    given.names = words[:count]
    if rest and (count != 1 or given.small):
        parser.error("%s: not understood; the benchmarks are %s" % (" ".join(rest), ", ".join(BENCHMARKS)))
    if given.compare and len(given.compare) > 2:
        parser.error("--compare takes one or two files")
    if given.report and not given.keep:
        parser.error("--report needs --keep NAME")
    if given.keep and given.small:
        parser.error("--keep: what is small is no result")
    return given, rest


def main():
    given, rest = parse(sys.argv[1:])
    old = [results.load(path) for path in given.compare or []]
    if len(old) == 2:
        compare.tell(*old)
        return 0
    names = given.names or list(BENCHMARKS)
    arguments = {name: BENCHMARKS[name][1 if given.small else 0] for name in names}
    if len(given.names) == 1 and not given.small and not old:
        arguments[names[0]] = rest
    value, failed = run_all(names, arguments, os.environ.get("BUILD", "build"))
    summarise(value)
    wrong = results.problems(value)
    if given.json:
        results.save(given.json, value)
    if given.keep:
        path = os.path.join(here, "results", given.keep + ".json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        results.save(path, value)
        if given.report:
            report.write(path, os.path.join(os.environ.get("BUILD", "build"), "bin", "bouma"))
    if old:
        compare.tell(old[0], value)
    for text in wrong:
        print("the results are not as they should be: %s" % text, file=sys.stderr)
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
