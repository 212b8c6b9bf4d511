! test_fortran_plans.f90 -- plans, machines, options, findings and losses in Fortran.
!
!   test_fortran_plans FOLDER
program test_fortran_plans
  use iso_fortran_env, only: int64, real64
  use bouma
  use claims
  implicit none
  character(500) :: text
  integer :: ierr

  text = ''
  call a_plan_has_axes_in_the_order_of_fortran()
  call costs_are_explained()
  call templates()
  call machines_are_measured()
  call options_are_told()
  call attributes_by_number()
  call damage_is_found_and_forgotten()
  call particles_have_files_and_nodes()
  call end_of_claims()

contains

  subroutine a_plan_has_axes_in_the_order_of_fortran()
    type(bouma_plan) :: plan
    type(bouma_plan_report) :: report
    type(bouma_plan_patch) :: patch
    type(bouma_plan_file) :: file
    type(bouma_plan_rank) :: rank
    type(bouma_options) :: options
    integer, allocatable :: ranks(:)
    integer(int64) :: bytes
    integer :: i

    call bouma_options_set(options, 'files', '3')
    call bouma_plan_make(plan, bouma_plan_spec(ranks=8, shape=[128, 64], blocks=[4, 2], patch=[32, 16]), options)
    call bouma_plan_report_get(report, plan)
    call claim(all(report%blocks == [4, 2]) .and. all(report%patch == [32, 16]), 'blocks and patches')
    call claim(all(report%grid == [4, 4]) .and. report%patches == 16, '16 patches')
    call claim(report%files == 3, 'and three files')
    call bouma_plan_patch_get(patch, plan, [4, 1])
    call claim(patch%owner == 3, 'the patch at (4, 1) is that of the fourth rank')
    call claim(patch%file >= 1 .and. patch%file <= 3, 'files count from 1')
    call bouma_plan_patch_get(patch, plan, [5, 1], ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'there is no patch (5, 1)')
    call bouma_plan_patch_get(patch, plan, [1], ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'a patch has two indices')
    bytes = 0
    do i = 1, 3
      call bouma_plan_file_get(file, plan, i)
      bytes = bytes + file%bytes
      call bouma_plan_holders(ranks, plan, i)
      call claim(size(ranks) > 0 .and. all(ranks >= 0 .and. ranks < 8), 'each file has ranks')
    end do
    call claim(bytes == report%stored_bytes, 'the files have all bytes')
    call bouma_plan_file_get(file, plan, 4, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'there is no fourth file')
    call bouma_plan_rank_get(rank, plan, 5)
    call claim(all(rank%at == [2, 2]), 'rank 5 has the block (2, 2)')
    call claim(all(rank%box%lo == [33, 33]) .and. all(rank%box%hi == [64, 64]), 'and these samples')
    call bouma_plan_free(plan)
    call bouma_plan_report_get(report, plan, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'there is no plan now')
    call bouma_plan_make(plan, bouma_plan_spec(ranks=0, shape=[8, 8]), ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'no ranks, no plan')
    call says(text, 'rank')
  end subroutine

  subroutine costs_are_explained()
    type(bouma_plan) :: plan
    type(bouma_plan_cost), allocatable :: costs(:)
    type(bouma_options) :: options

    call bouma_options_set(options, 'place', 'cost')
    call bouma_options_set(options, 'files', '2')
    call bouma_plan_make(plan, bouma_plan_spec(ranks=4, shape=[64, 64]), options)
    call bouma_plan_explain(costs, plan, 1)
    call claim(size(costs) > 0 .and. count(costs%chosen == 1) == 1, 'one candidate is chosen')
    call bouma_plan_free(plan)
  end subroutine

  subroutine templates()
    character(:), allocatable :: template

    call bouma_hz_template(template, [32, 32, 32], [2, 4, 4])
    call claim(template == 'zzyyxxzyxzyxzyx', 'that of 4 x 4 x 2 ranks in C')
    call bouma_hz_template(template, [32, 0], [2, 4], ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL .and. template == '', 'no samples, no template')
    call says(text, 'shape[0] is 0')
  end subroutine

  subroutine machines_are_measured()
    type(bouma_probe_report) :: report
    character(:), allocatable :: machine

    report%ranks = 4
    report%nodes = 2
    report%network%bandwidth = 2d9
    report%local_path = '/local'
    call bouma_probe_text(machine, report)
    call says(machine, 'network')
    call bouma_probe(report, bouma_probe_spec(target='/no/such/place', storage_bytes=1, tries=1), ierr=ierr, &
      errmsg=text)
    call claim(ierr /= BOUMA_OK, 'there is no place to write')
    call says(text, '/no/such/place')
  end subroutine

  subroutine options_are_told()
    type(bouma_options) :: options
    type(bouma_option_info) :: info
    character(:), allocatable :: value

    call bouma_options_set(options, 'order', 'chunk')
    call bouma_options_get(value, 'order', options)
    call claim(value == 'chunk', 'what was set')
    call bouma_options_get(value, 'colour', ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'there is no such option')
    call says(text, 'colour')
    call bouma_options_info(info, 1)
    call claim(len(info%name) > 0 .and. len(info%help) > 0, 'the first option')
    call bouma_options_info(info, 1000, ierr)
    call claim(ierr == BOUMA_ENOTFOUND, 'there are fewer than 1000')
    call claim(bouma_grid_codec(bouma_variable_spec(type=BOUMA_TYPE_F32, tolerance=0.1d0)) == BOUMA_CODEC_INTERP, &
      'the codec that a variable gets')
  end subroutine

  subroutine attributes_by_number()
    type(bouma_dataset) :: run
    type(bouma_attributes) :: attributes
    type(bouma_attribute) :: one

    call bouma_dataset_create(run, in_place('attributes.bouma'))
    attributes = bouma_dataset_attributes(run)
    call bouma_attributes_set(attributes, 'title', 'a test')
    call bouma_attributes_set(attributes, 'sizes', [1, 2, 3])
    call bouma_attributes_get(one, attributes, 1)
    call claim(one%name == 'title' .and. one%type == BOUMA_TYPE_STRING, 'the first')
    call bouma_attributes_find(one, attributes, 'sizes')
    call claim(one%type == BOUMA_TYPE_I32 .and. one%count == 3, 'the other, by its name')
    call bouma_attributes_get(one, attributes, 3, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'there are two')
    call bouma_dataset_free(run)
  end subroutine

  subroutine damage_is_found_and_forgotten()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    type(bouma_verify_report) :: verified
    type(bouma_repair_report) :: repaired
    type(bouma_drain_report) :: drained
    type(bouma_finding), allocatable :: findings(:)
    type(bouma_loss), allocatable :: losses(:)
    real(real64), target :: a(16)
    character(:), allocatable :: path
    integer :: i

    path = in_place('damage.bouma')
    a = 1
    call bouma_dataset_create(run, path)
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=[16]))
    call bouma_variable_define(v, grid, 'values', bouma_variable_spec(type=BOUMA_TYPE_F64))
    do i = 0, 1
      call bouma_step_begin(run, i, 0.0)
      call bouma_variable_put_borrow(v, a)
      call bouma_step_end(run)
    end do
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    call bouma_verify(verified, path, BOUMA_DEPTH_FULL, findings=findings)
    call claim(verified%damages == 0 .and. size(findings) == 0, 'nothing is wrong')
    call execute_command_line('rm -f "' // path // '"/steps/*1/d.*')
    call bouma_verify(verified, path, BOUMA_DEPTH_FULL, findings=findings)
    call claim(verified%damages > 0 .and. any(findings%severity == BOUMA_SEVERITY_DAMAGE), 'a file is gone')
    call claim(all(findings%step == 1) .and. len(findings(1)%text) > 0, 'of step 1')
    call bouma_repair(repaired, path, .false., findings=findings)
    call claim(repaired%actions > 0 .and. size(findings) > 0, 'what a repair would do')
    call bouma_losses(losses, path)
    call claim(size(losses) == 0, 'nothing is on record')
    call bouma_repair(repaired, path, .true.)
    call bouma_losses(losses, path)
    call claim(size(losses) == 1 .and. losses(1)%step == 1 .and. losses(1)%files == 1, 'now it is')
    call bouma_repair_forget(repaired, path, 1, .true.)
    call bouma_repair_forget(repaired, path, 7_int64, .true., ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_ENOTFOUND, 'nothing is known of step 7')
    call bouma_drain(drained, path // '.local', path, .false., ierr=ierr, errmsg=text)
    call claim(ierr /= BOUMA_OK, 'there is no local copy')
    call says(text, 'damage.bouma.local')
  end subroutine

  subroutine particles_have_files_and_nodes()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_particles) :: dust
    type(bouma_particles_info) :: info
    type(bouma_particles_file) :: file
    type(bouma_particles_node) :: node
    type(bouma_columns) :: columns
    real(real64), target :: x(2, 100)
    integer :: i

    do i = 1, 100
      x(:, i) = [i, 2 * i]
    end do
    call bouma_dataset_create(run, in_place('nodes.bouma'))
    call bouma_particles_define(dust, run, 'dust', bouma_particles_spec(ndims=2, type=BOUMA_TYPE_F64))
    call bouma_columns_add(columns, bouma_particles_position(dust), x)
    call bouma_step_begin(run, 0, 0.0)
    call bouma_particles_put_borrow(dust, columns)
    call bouma_step_end(run)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_particles(dust, step, 'dust')
    call bouma_particles_info_get(info, dust)
    call bouma_particles_file_get(file, dust, 1)
    call claim(file%file == 1 .and. file%count == 100, 'the first file has all')
    call claim(all(file%low == [1, 2]) .and. all(file%high == [100, 200]), 'its bounds have two axes')
    if (info%tree_nodes > 0) then
      call bouma_particles_node_get(node, dust, 1)
      call claim(node%count == 100 .and. node%right == 0 .and. node%file == 1 .and. node%axis == 0, 'a leaf')
      call claim(size(node%low) == 2, 'with two axes')
    end if
    call bouma_particles_node_get(node, dust, int(info%tree_nodes) + 1, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'there are no more nodes')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine
end program test_fortran_plans
