"""plan.py PROGRAMS [--small] -- plans of a million ranks (bench_plan), and writers placed by cost (bench_place).

Both are tests, too: they check what they plan, and print the seconds of its parts. Here the processor time of each
whole program counts, and the most memory it had. --small: just bench_place, once."""
import argparse
import os
import subprocess

from score import Score


def run(program, out):
    """Seconds of processors, and bytes."""
    process = subprocess.Popen([program], stdout=out)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("%s: failed" % program)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("programs")
    parser.add_argument("--small", action="store_true", help="just to see that it works")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    names = ["bench_place"] if given.small else ["bench_plan", "bench_place"]
    score = Score("plan")
    for name in names:
        found = []
        for turn in range(1 if given.small else given.turns):
            found.append(run(os.path.join(given.programs, name), subprocess.DEVNULL if turn else None))
        score.add(name + ", processor time", "s", [seconds for seconds, _ in found])
        score.add(name + ", the most memory", "bytes", [used for _, used in found])
    score.end()


if __name__ == "__main__":
    main()
