! test_fortran_errors.f90 -- failures: ierr has the status and errmsg the message; a
! mistake in a put also fails the step; options, attributes and steps.
!
!   test_fortran_errors FOLDER [stop]
!
! With "stop", a failure without ierr: the program must stop, with the message.
program test_fortran_errors
  use iso_fortran_env, only: int32, int64, real32, real64
  use bouma
  use claims
  implicit none
  character(10) :: what

  call get_command_argument(2, what)
  if (what == 'stop') call failures_stop_the_program()
  call what_is_not_there()
  call arrays_that_do_not_fit()
  call handles_of_nothing()
  call options_have_names_and_values()
  call attributes_of_all_kinds()
  call steps_by_number_and_time()
  call checks_of_datasets()
  call end_of_claims()

contains

  subroutine failures_stop_the_program()
    type(bouma_dataset) :: run

    call bouma_dataset_open(run, 'no such place/run.bouma')
    call claim(.false., 'the program goes on')
  end subroutine

  subroutine what_is_not_there()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    character(:), allocatable :: path
    character(300) :: text
    integer :: ierr

    path = in_place('missing.bouma')
    text = 'as it was'
    call bouma_dataset_open(run, path, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_ENOTFOUND, 'no dataset: ' // bouma_status_name(ierr))
    call says(text, 'missing.bouma')
    call says(bouma_error_message(run), 'missing.bouma')
    call bouma_dataset_free(run)
    text = 'as it was'
    call small_dataset(path)
    call bouma_dataset_open(run, path, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_OK .and. text == 'as it was', 'errmsg stays as it is')
    call bouma_step_open(step, run, 5, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'no step 5')
    call says(text, 'step 5')
    call bouma_step_open(step, run, 0)
    call bouma_step_find_grid(grid, step, 'greed', ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'no grid of that name')
    call says(text, 'grid')
    call bouma_step_grid(grid, step, 2, ierr)
    call claim(ierr == BOUMA_ENOTFOUND .and. bouma_step_grid_count(step) == 1, 'no second grid')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine small_dataset(path)
    character(*), intent(in) :: path
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    real(real32), target :: a(8, 6)
    integer :: i

    a = 1
    call bouma_dataset_create(run, path)
    call bouma_attributes_set(bouma_dataset_attributes(run), 'title', 'eight by six  ')
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=[8, 6]))
    call bouma_variable_define(v, grid, 'v', bouma_variable_spec(type=BOUMA_TYPE_F32))
    do i = 0, 4, 2
      call bouma_step_begin(run, i, 0.5d0 * i)
      call bouma_attributes_set(bouma_dataset_step_attributes(run), 'twice', [2 * i, 3])
      call bouma_attributes_set(bouma_dataset_step_attributes(run), 'half', 0.5 * i)
      call bouma_attributes_set(bouma_dataset_step_attributes(run), 'large', 2_int64**40)
      call bouma_variable_put_borrow(v, a)
      call bouma_step_end(run)
    end do
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
  end subroutine

  subroutine arrays_that_do_not_fit()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: v, vector
    type(bouma_step) :: step
    real(real32), target :: a(8, 6), line(8), cube(8, 6, 2), pairs(2, 8, 6), wrong(8, 5)
    character(300) :: text
    integer :: ierr

    a = 1
    line = 1
    cube = 1
    pairs = 1
    call bouma_dataset_create(run, in_place('arrays.bouma'))
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=[8, 6], levels=2))
    call bouma_variable_define(v, grid, 'v', bouma_variable_spec(type=BOUMA_TYPE_F32))
    call bouma_variable_define(vector, grid, 'vector', bouma_variable_spec(type=BOUMA_TYPE_F32, components=3))
    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(v, cube, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'too many axes')
    call says(text, 'variable ''v'': an array of 8 x 6 x 2 elements has too many axes')
    call bouma_variable_put_borrow(v, a)
    call bouma_step_end(run, ierr)
    call claim(ierr == BOUMA_EINVAL, 'and the step fails, too')

    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(v, line, ierr=ierr, errmsg=text)
    call says(text, 'a box must say where')
    call bouma_variable_put_borrow(v, a, bouma_box([1, 1], [7, 6]), ierr=ierr, errmsg=text)
    call says(text, 'the array has 8 x 6 samples, the box 7 x 6')
    call bouma_variable_put_borrow(v, a, bouma_box([1, 1, 1]), ierr=ierr, errmsg=text)
    call says(text, 'other axes')
    call bouma_variable_put_borrow(v, a, bouma_box([2, 1]), ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'beyond the grid')
    call bouma_variable_put_borrow(vector, pairs, ierr=ierr, errmsg=text)
    call says(text, 'the variable has 3 components')
    call bouma_step_abort(run, ierr)
    call bouma_dataset_clear_failures(run)

    call bouma_step_begin(run, 1, 0.0)
    call bouma_variable_put_borrow(v, a)
    call bouma_step_end(run)
    call bouma_step_open(step, run, 1)
    call bouma_step_find_grid(grid, step, 'grid')
    call bouma_grid_find_variable(v, grid, 'v')
    call bouma_variable_read(v, wrong, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'a read of another shape')
    call says(text, 'the box has 8 x 6 samples at level 0, the array 8 x 5')
    call bouma_variable_read(v, a, level=1, ierr=ierr, errmsg=text)
    call says(text, 'the box has 4 x 3 samples at level 1, the array 8 x 6')
    call bouma_variable_read(v, a, level=-1, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'level -1')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine handles_of_nothing()
    type(bouma_dataset) :: run
    type(bouma_variable) :: v
    real(real32), target :: a(3)
    character(300) :: text
    integer :: ierr

    call bouma_step_begin(run, 0, 0.0, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'a dataset that is not open')
    call says(text, 'type(bouma_dataset)')
    call bouma_variable_put_borrow(v, a, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'a variable that is not defined')
    call says(text, 'type(bouma_variable)')
    call bouma_dataset_free(run)
  end subroutine

  subroutine options_have_names_and_values()
    type(bouma_options) :: options
    type(bouma_dataset) :: run
    character(300) :: text
    character(:), allocatable :: path
    integer :: ierr
    logical :: here

    path = in_place('options.bouma')
    call bouma_options_set(options, 'file_sighs', '64MiB', ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'no such option')
    call says(text, 'file_size')
    call bouma_options_set(options, 'file_size', 'large', ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'no such size')
    call bouma_options_set(options, 'trace', path // '-trace.json')
    call bouma_options_set(options, 'clobber', 'yes')
    call small_dataset(path)
    call bouma_dataset_create(run, path, ierr=ierr)
    call claim(ierr == BOUMA_EEXISTS, 'exists')
    call bouma_dataset_free(run)
    call bouma_dataset_create(run, path, options)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    inquire (file=path // '-trace.json', exist=here)
    call claim(here, 'the trace is there')
    call bouma_dataset_open(run, path)
    call claim(bouma_dataset_step_count(run) == 0, 'the steps are gone')
    call bouma_dataset_free(run)
  end subroutine

  subroutine attributes_of_all_kinds()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_attributes) :: at
    character(:), allocatable :: path, title
    character(300) :: text
    integer(int32) :: one
    integer(int32), allocatable :: several(:)
    integer(int64) :: large
    real(real32) :: half
    real(real64), allocatable :: reals(:)
    integer :: ierr

    path = in_place('attributes.bouma')
    call small_dataset(path)
    call bouma_dataset_open(run, path)
    call bouma_attributes_get(bouma_dataset_attributes(run), 'title', title)
    call claim(title == 'eight by six' .and. len(title) == 12, 'text')
    call bouma_step_open(step, run, 4)
    at = bouma_step_attributes(step)
    call bouma_attributes_get(at, 'half', half)
    call bouma_attributes_get(at, 'large', large)
    call bouma_attributes_get(at, 'twice', several)
    call bouma_attributes_get(at, 'twice', reals)
    call claim(half == 2 .and. large == 2_int64**40 .and. bouma_attributes_count(at) == 3, 'numbers')
    call claim(size(several) == 2 .and. all(several == [8, 3]) .and. all(reals == [8, 3]), 'several')
    call bouma_attributes_get(at, 'large', one, ierr, text)
    call claim(ierr == BOUMA_EINVAL .and. one == 0, 'beyond 32 bits')
    call says(text, 'large')
    call bouma_attributes_get(at, 'twice', one, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'two values are not one')
    call bouma_attributes_get(at, 'thrice', one, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'no such attribute')
    call bouma_attributes_get(at, 'half', title, ierr)
    call claim(ierr == BOUMA_EINVAL .and. title == '', 'a number is no text')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine steps_by_number_and_time()
    type(bouma_dataset) :: run
    type(bouma_step_info) :: info
    type(bouma_dataset_info) :: about
    type(bouma_record) :: record
    type(bouma_step) :: step
    character(:), allocatable :: path
    integer :: ierr

    path = in_place('steps.bouma')
    call small_dataset(path)
    call bouma_dataset_open(run, path)
    call claim(bouma_dataset_step_count(run) == 3, 'three steps')
    call bouma_dataset_step_get(info, run, 2)
    call claim(info%step == 2 .and. info%time == 1, 'the second one')
    call bouma_dataset_last_step(info, run)
    call claim(info%step == 4, 'the last one')
    call bouma_dataset_previous_step(info, run, info%step)
    call claim(info%step == 2, 'the one before')
    call bouma_dataset_step_at(info, run, 1.7)
    call claim(info%step == 4, 'the nearest')
    call bouma_dataset_next_step(info, run, 4, ierr)
    call claim(ierr == BOUMA_ENOTFOUND, 'none behind the last')
    call bouma_dataset_info_get(about, run)
    call claim(any(about%id /= 0), 'identity')
    call bouma_step_open(step, run, 4_int64)
    call bouma_step_record_get(record, step)
    call claim(record%raw_bytes == 4 * 8 * 6, 'raw bytes')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
    call bouma_dataset_append(run, path)
    call bouma_dataset_delete_steps(run, [0, 4])
    call bouma_define_like(run, -1)
    call bouma_dataset_close(run)
    call claim(bouma_dataset_step_count(run) == 1, 'one is left')
    call bouma_dataset_free(run)
  end subroutine

  subroutine checks_of_datasets()
    type(bouma_verify_report) :: report
    character(:), allocatable :: path
    character(300) :: text
    integer :: ierr

    path = in_place('verify.bouma')
    call small_dataset(path)
    call bouma_verify(report, path, BOUMA_DEPTH_DEEP)
    call claim(report%steps == 3 .and. report%damages == 0, 'verify')
    call bouma_verify(report, path // '-not', BOUMA_DEPTH_DEEP, ierr=ierr, errmsg=text)
    call claim(ierr /= BOUMA_OK, 'nothing to verify')
    call says(text, 'verify.bouma-not')
    call claim(bouma_codec_name(BOUMA_CODEC_ZSTD) == 'zstd' .and. bouma_codec_parse('raw') == BOUMA_CODEC_RAW, 'names')
    call claim(bouma_version() /= '' .and. bouma_type_size(BOUMA_TYPE_F64) == 8, 'version')
  end subroutine
end program test_fortran_errors
