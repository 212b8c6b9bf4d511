#!/bin/sh
# check_strict_math.sh -- each public function begins with BM_STRICT_MATH (see
# src/base/strict_math.h), but for those below: they compute nothing, so that it
# does not matter how the program around them has set up its processor.
#
#   check_strict_math.sh [FOLDER]    default: src/api
set -eu
cd "${1:-$(dirname "$0")/../src/api}"
exempt='
bouma_assign_is_for_grids bouma_codec_info_get
bouma_attributes_count bouma_attributes_find bouma_attributes_get
bouma_attributes_set bouma_attributes_set_number bouma_attributes_set_text
bouma_dataset_attributes bouma_dataset_clear_failures bouma_dataset_info_get
bouma_dataset_record_get bouma_step_record_get
bouma_dataset_note bouma_dataset_step_attributes bouma_dataset_step_count
bouma_dataset_step_get bouma_error_message bouma_grid_attributes
bouma_grid_find_variable bouma_grid_variable bouma_grid_variable_count
bouma_file_free bouma_file_group bouma_file_message bouma_file_report_get
bouma_array_inside bouma_options_info
bouma_particles_attributes bouma_particles_find_variable
bouma_particles_position bouma_particles_variable
bouma_particles_variable_count bouma_plan_free bouma_plan_patch_get
bouma_refinement_get bouma_refinement_free bouma_step_attributes
bouma_step_begin bouma_step_file_get bouma_step_find_grid
bouma_step_find_particles bouma_step_free bouma_step_grid bouma_step_grid_count
bouma_step_particles bouma_step_particles_count bouma_variable_attributes
bouma_variable_level_bytes bouma_variable_put_borrow bouma_variable_put_copy
bouma_variable_select bouma_version
bouma_build_field bouma_build_info bouma_version_number
bouma_attributes_message bouma_grid_message bouma_particles_message
bouma_refinement_message bouma_particles_refinement_message
bouma_particles_refinement_free bouma_step_message bouma_variable_message
bouma_dataset_find_grid bouma_dataset_find_particles
bouma_dataset_first_step bouma_dataset_last_step bouma_dataset_next_step
bouma_dataset_previous_step bouma_attributes_get_text
bouma_attributes_get_number bouma_attributes_get_int64
bouma_attributes_set_int64 bouma_step_delete
bouma_dataset_append_fint bouma_dataset_create_fint bouma_dataset_open_fint
bouma_drain_fint bouma_file_open_fint bouma_probe_fint bouma_verify_fint
'
awk -v exempt="$exempt" '
BEGIN { n = split(exempt, list, /[ \n]+/); for (i = 1; i <= n; i++) if (list[i] != "") free[list[i]] = 1 }
# A definition begins in the first column; its body after a line that is "{".
/^([a-z].*[ *])?bouma_[a-z_0-9]+\(/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    begins = FILENAME ":" FNR
    next
}
/;$/ && name && !body { name = "" } # a declaration
/^\{$/ && name { body = 1; next }
body {
    strict = $0 ~ /^ *BM_STRICT_MATH;$/
    if (!strict && !(name in free)) {
        print begins ": " name "() does not begin with BM_STRICT_MATH; or, if it computes nothing, tests/check_strict_math.sh lists it"
        failed = 1
    }
    if (strict && name in free) {
        print begins ": " name "() begins with BM_STRICT_MATH, and is listed as one that does not"
        failed = 1
    }
    seen[name] = 1
    count++
    body = 0
    name = ""
}
END {
    for (f in free)
        if (!(f in seen)) {
            print f "(): there is no such function any more"
            failed = 1
        }
    if (count < 80) {
        print count " public functions were found: too few"
        failed = 1
    }
    exit failed
}' *.c
