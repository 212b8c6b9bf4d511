"""test_results.py -- files of benchmark results: what must be in them, and what --compare says of two."""
import copy
import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import compare  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402
from score import Score  # noqa: E402

ABOUT = {
    "processor": "P",
    "cores": 2,
    "memory_bytes": 2**34,
    "file_system": "ext4",
    "kernel": "Linux 6",
    "compiler": "cc 12",
    "mpi": "MPI 4",
    "bouma": "bouma 0",
    "commit": "abc",
}


def written(fill, **settings):
    """A whole file, of the figures that 'fill' adds, by way of a file as $BENCH_RUNS."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BENCH_RUNS"] = os.path.join(folder, "runs")
        with redirect_stdout(io.StringIO()):
            score = Score("made up", **settings)
            fill(score)
            score.end()
        with open(os.environ.pop("BENCH_RUNS"), encoding="utf-8") as file:
            runs = results.complete(file.read())
    return results.document(runs, ABOUT, (0.1, 0.2), 3.5, [])


def one(samples, reference, **more):
    """A file with one figure of times."""
    more.setdefault("reference", ("plain", reference) if reference else None)
    return written(lambda score: score.add("time", more.pop("unit", "s"), samples, **more))


def word(old, new):
    """What --compare says of the only figure of two files."""
    rows = compare.compare(old, new)
    assert len(rows) == 1, rows
    return rows[0][3]


BASE = [1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97]
PLAIN = [0.50, 0.51, 0.49, 0.505, 0.495, 0.515, 0.485]


class Files(unittest.TestCase):
    def everything(self):
        def fill(score):
            score.part("a part")
            score.add("ratio", "s", BASE, reference=("plain", PLAIN), at_most=3)
            score.add("bytes", "bytes", 1234, at_least=2000)
            curve = {"of": "bytes", "unit": "s", "x": [1, 2], "samples": [[1.0], [2.0]]}
            curve["reference"] = {"name": "plain", "samples": [[0.5], [1.0]]}
            score.add("exponent", "", [1.0], curve=curve)
            score.add("nothing", "s", float("nan"), at_most=1)

        return written(fill, size=64, codec="raw")

    def test_medians_spreads_and_ratios_are_those_of_the_samples(self):
        ratio, count, curve, nothing = self.everything()["runs"][0]["results"]
        self.assertEqual((ratio["median"], ratio["shortest"], ratio["count"]), (1.0, 0.97, 7))
        self.assertAlmostEqual(ratio["spread"][0], 0.985)
        self.assertAlmostEqual(ratio["spread"][1], 1.015)
        self.assertEqual((ratio["ratio"], ratio["ratio_of_shortest"]), (2.0, 0.97 / 0.485))
        self.assertEqual((ratio["met"], count["met"], curve["met"], nothing["met"]), (True, False, None, False))
        self.assertEqual(curve["curve"]["reference"]["median"], [0.5, 1.0])
        self.assertIsNone(nothing["median"])

    def test_a_file_as_it_should_be_has_no_problems(self):
        self.assertEqual(results.problems(self.everything()), [])

    def test_each_field_must_be_there_and_no_other(self):
        good = self.everything()
        places = [lambda d: d, lambda d: d["machine"], lambda d: d["runs"][0]]
        places += [lambda d: d["runs"][0]["results"][0], lambda d: d["runs"][0]["results"][0]["reference"]]
        places += [lambda d: d["runs"][0]["results"][2]["curve"]]
        places += [lambda d: d["runs"][0]["results"][2]["curve"]["reference"]]
        for place in places:
            for name in list(place(good)):
                if (place, name) == (places[5], "reference"):
                    continue  # a curve may be without
                bad = copy.deepcopy(good)
                del place(bad)[name]
                self.assertNotEqual(results.problems(bad), [], name)
                bad = copy.deepcopy(good)
                place(bad)[name] = object()
                self.assertNotEqual(results.problems(bad), [], name)
            bad = copy.deepcopy(good)
            place(bad)["other"] = 1
            self.assertNotEqual(results.problems(bad), [])

    def test_numbers_that_contradict_each_other_are_noticed(self):
        for name, value in (("median", 2.0), ("shortest", 0.5), ("count", 3), ("ratio", 1.0), ("met", False)):
            bad = self.everything()
            bad["runs"][0]["results"][0][name] = value
            self.assertNotEqual(results.problems(bad), [], name)

    def test_two_figures_of_one_name_are_noticed(self):
        bad = self.everything()
        bad["runs"].append(copy.deepcopy(bad["runs"][0]))
        self.assertEqual(len(results.problems(bad)), 4)
        bad["runs"][1]["settings"]["size"] = 65
        self.assertEqual(results.problems(bad), [])

    def test_another_file_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            results.save(path, self.everything())
            self.assertEqual(results.load(path), json.loads(json.dumps(self.everything())))
            results.save(path, {"schema": "bouma-bench 2"})
            self.assertRaises(ValueError, results.load, path)


class Words(unittest.TestCase):
    def test_a_benchmark_gets_its_own_arguments_in_their_order(self):
        given, rest = run.parse(["write", "--size", "3", "--json", "x", "--split", "slabs"])
        self.assertEqual((given.names, given.json, rest), (["write"], "x", ["--size", "3", "--split", "slabs"]))
        given, rest = run.parse(["wasm", "64"])
        self.assertEqual((given.names, rest), (["wasm"], ["64"]))
        given, rest = run.parse(["--compare", "a.json", "b.json"])
        self.assertEqual((given.names, given.compare, rest), ([], ["a.json", "b.json"], []))

    def test_what_is_not_understood_is_refused(self):
        for words in (["nonsense"], ["write", "open", "--size", "3"], ["--small", "--keep", "x"], ["--report"],
                      ["write", "--small", "--size", "3"], ["--compare", "a", "b", "c"]):
            with redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as left:
                run.parse(words)
            self.assertEqual(left.exception.code, 2, words)


class Kept(unittest.TestCase):
    def test_files_that_are_kept_are_as_they_should_be_and_the_page_shows_one(self):
        folder = os.path.join(os.path.dirname(report.__file__), "results")
        names = [name for name in sorted(os.listdir(folder)) if name.endswith(".json")] if os.path.isdir(folder) else []
        values = [results.load(os.path.join(folder, name)) for name in names]
        with open(report.PAGE, encoding="utf-8") as file:
            page = file.read()
        shown = [name for name, value in zip(names, values) if report.renew(page, value) == page]
        self.assertTrue(shown or "No run is kept yet" in page, "docs/performance.md shows no file of bench/results")


class Comparison(unittest.TestCase):
    def test_the_same_is_the_same(self):
        self.assertEqual(word(one(BASE, PLAIN), one(BASE, PLAIN)), "same")
        self.assertEqual(word(one(BASE, PLAIN), one(BASE[::-1], PLAIN)), "same")

    def test_a_change_beyond_the_noise_is_told(self):
        more = [1.3 * x for x in BASE]
        self.assertEqual(word(one(BASE, PLAIN), one(more, PLAIN)), "slower")
        self.assertEqual(word(one(more, PLAIN), one(BASE, PLAIN)), "faster")

    def test_more_is_better_where_that_is_so(self):
        more = [1.3 * x for x in BASE]
        self.assertEqual(word(one(BASE, PLAIN, at_least=1), one(more, PLAIN, at_least=1)), "faster")
        self.assertEqual(word(one(10, None, unit="", better="more"), one(9, None, unit="", better="more")), "worse")

    def test_a_slower_machine_is_no_change(self):
        twice = one([2 * x for x in BASE], [2 * x for x in PLAIN])
        self.assertEqual(word(one(BASE, PLAIN), twice), "same")

    def test_a_change_within_the_noise_is_none(self):
        noisy = [0.7, 1.5, 0.9, 1.4, 1.1, 0.8, 1.6]
        self.assertEqual(word(one(noisy, [1] * 7), one([1.1 * x for x in noisy], [1] * 7)), "same")

    def test_a_sure_but_tiny_change_is_none(self):
        exact = [1 + 1e-6 * i for i in range(7)]
        self.assertEqual(word(one(exact, [1] * 7), one([1.03 * x for x in exact], [1] * 7)), "same")
        self.assertEqual(word(one(exact, [1] * 7), one([1.07 * x for x in exact], [1] * 7)), "slower")

    def test_times_without_a_reference_are_not_judged(self):
        self.assertEqual(word(one(BASE, None), one([9 * x for x in BASE], None)), "no reference")

    def test_counts_are_compared_as_they_are(self):
        self.assertEqual(word(one(1000, None, unit="bytes"), one(1001, None, unit="bytes")), "same")
        self.assertEqual(word(one(1000, None, unit="bytes"), one(1010, None, unit="bytes")), "worse")
        self.assertEqual(word(one(0, None, unit="bytes"), one(1, None, unit="bytes")), "worse")

    def test_few_turns_tell_nothing(self):
        self.assertEqual(word(one(BASE[:3], PLAIN[:3]), one([9 * x for x in BASE[:3]], PLAIN[:3])), "too few turns")
        self.assertEqual(word(one(BASE[:4], PLAIN[:4]), one([9 * x for x in BASE[:4]], PLAIN[:4])), "too few turns")
        more = [1.0, 1.001, 1.002, 1.003, 1.004]  # five are the fewest that can tell
        self.assertEqual(word(one(more, [1] * 5), one([2 * x for x in more], [1] * 5)), "slower")
        self.assertEqual(word(one(float("nan"), None), one(BASE, None)), "not measured")

    def test_new_and_gone_and_other_settings(self):
        old = written(lambda score: score.add("a", "", 1), size=1)
        new = written(lambda score: score.add("b", "", 1), size=1)
        other = written(lambda score: score.add("a", "", 1), size=2)
        self.assertEqual([row[3] for row in compare.compare(old, new)], ["gone", "new"])
        self.assertEqual([row[3] for row in compare.compare(old, other)], ["gone", "new"])

    def test_the_table_has_a_line_for_each_figure_and_the_counts(self):
        lines = []
        compare.tell(one(BASE, PLAIN), one([2 * x for x in BASE], PLAIN), lines.append)
        self.assertEqual(len(lines), 2)
        self.assertIn("slower", lines[0])
        self.assertIn("+100 %", lines[0])
        self.assertEqual(lines[1], "1 slower")

    def test_chances_are_those_of_the_exact_test(self):
        self.assertAlmostEqual(compare.chance([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252)
        self.assertAlmostEqual(compare.chance([1, 2, 3], [4, 5, 6]), 2 / 20)
        self.assertEqual(compare.chance([1, 4], [2, 3]), 1)
        self.assertEqual(compare.ways_of(2, 2), [1, 1, 2, 1, 1])
        self.assertEqual(sum(compare.ways_of(7, 9)), 11440)
        self.assertEqual(compare.chance([1] * 5, [1] * 5), 1)
        self.assertLess(compare.chance(list(range(30)), list(range(100, 130))), 1e-9)


if __name__ == "__main__":
    unittest.main()
