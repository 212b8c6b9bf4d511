"""mpi4py: writing and reading on 1, 3 and 5 ranks."""
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

import bouma

pytest.importorskip("mpi4py")
MPIRUN = shlex.split(os.environ.get("MPIRUN", "")) or pytest.skip("MPIRUN is not set", allow_module_level=True)
HERE = os.path.dirname(os.path.abspath(__file__))


def run(ranks, what, folder, environment=None):
    call = [*MPIRUN, "-n", str(ranks), sys.executable, os.path.join(HERE, "ranks.py"), what, str(folder)]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, **(environment or {})))
    return done.returncode, done.stdout


def must(ranks, what, folder):
    status, text = run(ranks, what, folder)
    assert status == 0 and "done on %d ranks" % ranks in text, text


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_ranks_write_and_read(tmp_path, ranks):
    must(ranks, "write", tmp_path)
    ds = bouma.open(tmp_path / "run.bouma")
    assert len(ds) == 2
    for i, step in enumerate(ds):
        z, y, x = np.mgrid[0:37, 0:20, 0:24]
        assert np.array_equal(step["flow/density"][...], z * 1000 + y * 50 + x + i)
        found = step.coal.query()
        wanted = np.random.default_rng(1).random((1000, 3))
        assert found.count == 1000 and np.array_equal(found["position"], wanted[found["id"]])
    must({1: 2, 3: 3, 5: 4}[ranks], "read", tmp_path)


def test_failures_are_those_of_all_ranks(tmp_path):
    must(3, "fail", tmp_path)


def test_no_rank_waits_for_one_that_fails_alone(tmp_path):
    must(3, "differ", tmp_path)


def test_a_thread_closes_what_others_read(tmp_path):
    must(1, "threads", tmp_path)


def test_a_library_of_another_mpi_is_refused(tmp_path):
    other = os.environ.get("BOUMA_OTHER_MPI")  # a folder with a libbouma_mpi of another MPI
    if not other:
        pytest.skip("BOUMA_OTHER_MPI is not set")
    status, text = run(1, "write", tmp_path, {"BOUMA_LIBRARY_PATH": other})
    assert status and "LibraryError" in text and "built with" in text, text
