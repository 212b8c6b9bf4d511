#!/usr/bin/env python3
"""check_reach.py LANGUAGE FILE... -- programs in Fortran and C++ reach every public
function, or it is on the list below with the reason why not; lists those that are
neither, and those on the list that are reached, or are no functions.

A function is reached if the files of the language call it."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "docs"))
import api as headers  # noqa: E402

ELSEWHERE = {
    "fortran": {
        # reason: functions
        "a table of functions in C: Fortran has options by their texts":
            "bouma_io_posix bouma_io_memory_new bouma_io_memory_free",
        "sections of arrays do that": "bouma_array_inside",
        "Fortran has no unsigned numbers": "bouma_value_uint",
        "its name is that of BOUMA_VERSION_NUMBER, as Fortran has one case; bouma_version() has the text":
            "bouma_version_number",
        "it calls a function for each patch: boxes and refinements read the same": "bouma_variable_query",
        "it calls a function for each batch: bouma_particles_refinement_next_into() reads part by part":
            "bouma_particles_query_run",
        "arrays of C: the procedures with _into read into arrays of Fortran":
            "bouma_particles_read bouma_particles_sample bouma_particles_restart bouma_particles_refinement_next "
            "bouma_particle_data_free",
        "bouma_attributes_set() takes every type":
            "bouma_attributes_set_text bouma_attributes_set_number bouma_attributes_set_int64",
        "bouma_attributes_get() of one number reads it as an array of one":
            "bouma_attributes_get_number bouma_attributes_get_int64",
        "communicators are those of Fortran":
            "bouma_dataset_create_mpi bouma_dataset_append_mpi bouma_dataset_open_mpi bouma_file_open_mpi "
            "bouma_verify_mpi bouma_probe_mpi bouma_drain_mpi",
    },
    "cpp": {
        "a text or a number, and nothing to free or to fail: C's own does it":
            "bouma_version bouma_version_number bouma_build_info bouma_build_field bouma_status_name bouma_type_size "
            "bouma_type_parse bouma_options_info bouma_assign_is_for_grids bouma_io_posix "
            "bouma_durability_name bouma_distribute_name bouma_assign_name bouma_place_name bouma_order_name "
            "bouma_layout_name bouma_hz_order_name bouma_hz_index_name bouma_rank_order_name bouma_codec_name "
            "bouma_tier_name bouma_transport_name bouma_predict_name bouma_planning_name "
            "bouma_durability_parse "
            "bouma_distribute_parse bouma_assign_parse bouma_place_parse bouma_order_parse bouma_layout_parse "
            "bouma_hz_order_parse bouma_hz_index_parse bouma_rank_order_parse bouma_codec_parse bouma_tier_parse "
            "bouma_transport_parse bouma_predict_parse bouma_planning_parse",
        "view::sub() does that": "bouma_array_inside",
        "attributes::set() takes every type":
            "bouma_attributes_set_text bouma_attributes_set_number bouma_attributes_set_int64",
        "communicators are those of C":
            "bouma_dataset_create_fint bouma_dataset_append_fint bouma_dataset_open_fint bouma_file_open_fint "
            "bouma_verify_fint bouma_probe_fint bouma_drain_fint",
    },
}
COMMENT = {"fortran": r"!.*", "cpp": r"/\*.*?\*/|//[^\n]*"}
CALL = {"fortran": r"\b(bouma_\w+)_c\(", "cpp": r"\b(bouma_\w+)\b"}


def called(language, files):
    for path in files:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        flags = re.S if language == "cpp" else 0
        text = re.sub(COMMENT[language], " ", text, flags=flags)
        yield from re.findall(CALL[language], text)


def faults(language, files):
    functions = [one["name"] for one in headers.describe()["functions"]]
    reached = set(called(language, files))
    listed = [name for names in ELSEWHERE[language].values() for name in names.split()]
    for name in functions:
        if name not in reached and name not in listed:
            yield "%s(): it cannot be reached, and no reason is given" % name
    for name in listed:
        if name not in functions:
            yield "%s(): on the list, but there is no such function" % name
        elif name in reached:
            yield "%s(): on the list, but it is reached" % name


def main(language, *files):
    found = list(faults(language, files))
    for fault in found:
        print("%s: %s" % (language, fault))
    return len(found) != 0


if len(sys.argv) < 3 or sys.argv[1] not in ELSEWHERE:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
