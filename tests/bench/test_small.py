"""test_small.py -- every benchmark runs, and the results of all are as they should be: `./dev bench --small`."""
import os
import subprocess
import sys
import tempfile

bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, bench)
import compare  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402

# What each appends: a benchmark may consist of several programs.
EXPECTED = {
    "write": ["write"],
    "open": ["open"],
    "plan": ["plan"],
    "grid": ["grid"],
    "hz": ["hz in memory", "hz plans", "hz in files"],
    "particles": ["particles"],
    "aggregate": ["aggregate", "overlap", "overlap", "overlap"],
    "scale": ["scale"],
    "python": ["python"],
    "serve": ["serve"],
    "wasm": ["wasm"],
    "growth": ["growth"],
}
OPTIONAL = {"codecs"}  # needs data that are not in the tree


def check(true, what):
    if not true:
        sys.exit("test_small.py: " + what)


def check_runs(value):
    left_out = {one["benchmark"] for one in value["left_out"]}
    check(left_out <= {"wasm"}, "left out: %s" % value["left_out"])
    expected = [name for key, names in EXPECTED.items() if key not in left_out for name in names]
    found = [one["benchmark"] for one in value["runs"] if one["benchmark"] not in OPTIONAL]
    check(found == expected, "found the runs %s, not %s" % (found, expected))
    check(all(one["results"] for one in value["runs"]), "a run without figures")
    curves = report.curves(value)
    check(sorted(curves) == ["bytes", "particles", "patches", "ranks", "steps"], "curves of %s" % sorted(curves))


def main():
    check(sorted(EXPECTED) == sorted(run.BENCHMARKS), "benchmarks that this test does not know")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.json")
        call = [sys.executable, "-B", os.path.join(bench, "run.py"), "--small", "--json", path]
        check(subprocess.run(call, check=False).returncode == 0, "./dev bench --small failed")
        value = results.load(path)  # each field is checked
        check_runs(value)
        rows = compare.compare(value, value)
        check({row[3] for row in rows} <= {"same", "too few turns", "no reference", "not measured"}, "it changed")
        with open(report.PAGE, encoding="utf-8") as page:
            report.renew(page.read(), value)
        report.draw(value, os.path.join(os.environ["BUILD"], "bin", "bouma"), folder)
        check(os.path.getsize(os.path.join(folder, "growth_bytes.png")) > 1000, "there is no picture")
    print("%d figures" % len(rows))


if __name__ == "__main__":
    main()
