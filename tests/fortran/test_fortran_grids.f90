! test_fortran_grids.f90 -- grids in Fortran: the order of axes, boxes, sections,
! pointers, components, levels, and that nothing is copied when it is borrowed.
!
!   test_fortran_grids FOLDER
!
! test_fortran_order.c reads order.bouma, which this writes.
program test_fortran_grids
  use iso_c_binding
  use iso_fortran_env, only: int64, real32, real64, int32
  use bouma
  use claims
  implicit none
  integer, parameter :: nx = 12, ny = 10, nz = 6

  call axes_are_those_of_c_backwards()
  call blocks_go_where_boxes_say()
  call sections_are_not_copied()
  call whole_arrays_are_not_copied()
  call copies_are_copied()
  call members_and_pointers()
  call components_first_and_last()
  call levels_and_positions()
  call requests_read_all_at_once()
  call empty_blocks_are_none()
  call end_of_claims()

contains

  ! A dataset with one grid of this shape and one variable.
  subroutine start(run, variable, path, shape, type, components)
    type(bouma_dataset), intent(out) :: run
    type(bouma_variable), intent(out) :: variable
    character(*), intent(in) :: path
    integer, intent(in) :: shape(:), type
    integer, intent(in), optional :: components
    type(bouma_grid) :: grid
    type(bouma_variable_spec) :: spec

    spec%type = type
    if (present(components)) spec%components = components
    call bouma_dataset_create(run, path)
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=shape))
    call bouma_variable_define(variable, grid, 'values', spec)
    call bouma_step_begin(run, 0, 0.0)
  end subroutine

  subroutine write_and_open(run, step, variable, path)
    type(bouma_dataset), intent(inout) :: run
    type(bouma_step), intent(out) :: step
    type(bouma_variable), intent(out) :: variable
    character(*), intent(in) :: path
    type(bouma_grid) :: grid

    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    call bouma_dataset_open(run, path)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_grid(grid, step, 'grid')
    call bouma_grid_find_variable(variable, grid, 'values')
  end subroutine

  subroutine finish(run, step)
    type(bouma_dataset), intent(inout) :: run
    type(bouma_step), intent(inout) :: step

    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  pure function value_at(x, y, z) result(v)
    integer, intent(in) :: x, y, z
    real(real64) :: v

    v = x + 100 * y + 10000 * z
  end function

  subroutine fill(a)
    real(real64), intent(out) :: a(:, :, :)
    integer :: x, y, z

    do z = 1, size(a, 3)
      do y = 1, size(a, 2)
        do x = 1, size(a, 1)
          a(x, y, z) = value_at(x, y, z)
        end do
      end do
    end do
  end subroutine

  subroutine axes_are_those_of_c_backwards()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    type(bouma_grid_info) :: info
    real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
    character(:), allocatable :: path

    path = in_place('order.bouma')
    allocate(a(nx, ny, nz), b(nx, ny, nz))
    call fill(a)
    call bouma_dataset_create(run, path)
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=[nx, ny, nz], patch=[8, 4, 2], &
      origin=[1d0, 2d0, 3d0], spacing=[0.1d0, 0.2d0, 0.3d0], unit='m'))
    call bouma_variable_define(v, grid, 'values', bouma_variable_spec(type=BOUMA_TYPE_F64, unit='K'))
    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(v, a)
    call write_and_open(run, step, v, path)
    call bouma_step_grid(grid, step, 1)
    call bouma_grid_info_get(info, grid)
    call claim(all(info%shape == [nx, ny, nz]), 'shape')
    call claim(all(info%patch == [8, 4, 2]), 'patch')
    call claim(all(info%origin == [1d0, 2d0, 3d0]), 'origin')
    call claim(all(info%spacing == [0.1d0, 0.2d0, 0.3d0]), 'spacing')
    call claim(info%name == 'grid' .and. info%unit == 'm', 'texts')
    call bouma_variable_read(v, b)
    call claim(all(a == b), 'read back')
    call finish(run, step)
  end subroutine

  subroutine blocks_go_where_boxes_say()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    type(bouma_histogram) :: about
    type(bouma_bin) :: bins(2)
    real(real64), target :: a(nx, ny, nz), plane(3, 4), line(5), lower(nx, ny, 2), upper(nx, ny, nz - 2)
    real(real64) :: b(nx, ny, nz), history(2), twice(nx, ny, nz, 2)
    integer :: done, ierr
    character(:), allocatable :: path

    path = in_place('boxes.bouma')
    call fill(a)
    lower = a(:, :, 1:2)
    upper = a(:, :, 3:)
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, upper, bouma_box([1, 1, 3]))
    call bouma_variable_put_borrow(v, lower, bouma_box([1, 1, 1], [nx, ny, 2]))
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, b)
    call claim(all(a == b), 'two blocks')
    call bouma_variable_read(v, plane, bouma_box([2, 3, 4]))
    call claim(all(plane == a(2:4, 3:6, 4)), 'a plane of a grid of three axes')
    call bouma_variable_read(v, line, bouma_box([1, 2, 6], [5, 2, 6]))
    call claim(all(line == a(1:5, 2, 6)), 'a line')
    call bouma_variable_histogram(bins, v, box=bouma_box([1, 2, 6], [5, 2, 6]), edges=[line(1), line(3), line(5)], &
      about=about)
    call claim(all(bins%lower == [2, 3]) .and. all(bins%upper == bins%lower), 'a histogram of a line')
    call bouma_variable_histogram(bins, v, index_only=.true., max_bytes=1_int64, about=about)
    call claim(about%basis == BOUMA_BASIS_INDEX .and. about%all%lower == size(a) .and. about%bytes == 0, 'of all')
    b = 0
    call bouma_variable_read(v, b(3:9:2, 10:1:-3, 2:2), bouma_box([5, 6, 7 - 1]))
    call claim(all(b(3:9:2, 10:1:-3, 2) == a(5:8, 6:9, 6)) .and. count(b /= 0) == 16, 'into a section')
    call bouma_variable_read_series(v, [0_int64, 0_int64], history, bouma_box([2, 3, 4], [2, 3, 4]), done=done)
    call claim(all(history == a(2, 3, 4)) .and. done == 2, 'a point of two steps')
    call bouma_variable_read_series(v, [0_int64, 0_int64], twice)
    call claim(all(twice(:, :, :, 1) == a) .and. all(twice(:, :, :, 2) == a), 'two steps')
    call bouma_variable_read_series(v, [0_int64], twice, ierr=ierr)
    call claim(ierr == BOUMA_EINVAL, 'as many steps as the last axis has')
    call bouma_variable_read_series(v, [0_int64, 7_int64], twice, done=done, ierr=ierr)
    call claim(ierr == BOUMA_ENOTFOUND .and. done == 1, 'a step that is not there')
    call finish(run, step)
  end subroutine

  ! What is changed between the put and the end of the step is stored: so the array
  ! itself is read then, and no copy. (Programs must not do this; the option 'check'
  ! finds it.)
  subroutine sections_are_not_copied()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    real(real64), allocatable, target :: a(:, :, :)
    real(real64) :: b(nx, ny, nz)
    character(:), allocatable :: path

    path = in_place('sections.bouma')
    allocate(a(0:nx + 1, 0:2 * ny + 1, 0:nz + 1))
    a = -1
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, a(nx:1:-1, 1:2 * ny:2, 1:nz))
    call fill(a(nx:1:-1, 1:2 * ny:2, 1:nz))
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, b)
    call claim(all(b == a(nx:1:-1, 1:2 * ny:2, 1:nz)) .and. b(1, 1, 1) == value_at(1, 1, 1), &
      'a section, backwards and with a step, is borrowed in place')
    call finish(run, step)
  end subroutine

  subroutine whole_arrays_are_not_copied()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    real(real64), allocatable, target :: a(:, :, :)
    real(real64) :: b(nx, ny, nz)
    character(:), allocatable :: path

    path = in_place('whole.bouma')
    allocate(a(nx, ny, nz), source=-1d0)
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, a)
    call fill(a)
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, b)
    call claim(all(b == a) .and. b(2, 1, 1) == value_at(2, 1, 1), 'an allocatable array is borrowed in place')
    call finish(run, step)
  end subroutine

  subroutine copies_are_copied()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    real(real64) :: a(nx, ny, nz), b(nx, ny, nz)
    character(:), allocatable :: path

    path = in_place('copies.bouma')
    call fill(a)
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_copy(v, a + 1)
    a = -1
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, b)
    call fill(a)
    call claim(all(b == a + 1), 'an expression can be copied')
    call finish(run, step)
  end subroutine

  subroutine members_and_pointers()
    type :: cell
      integer(int32) :: kind
      real(real32) :: heat
      real(real64) :: mass
    end type
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    type(cell), target :: cells(nx, ny)
    real(real64), pointer :: mass(:, :)
    real(real64) :: b(nx, ny)
    character(:), allocatable :: path
    integer :: x, y

    path = in_place('members.bouma')
    cells%kind = 7
    cells%heat = -1
    cells%mass = -1
    mass => cells%mass
    call start(run, v, path, [nx, ny], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, mass)
    do y = 1, ny
      do x = 1, nx
        cells(x, y)%mass = value_at(x, y, 0)
      end do
    end do
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, b)
    call claim(all(b == cells%mass), 'a member of a derived type, by a pointer, is borrowed in place')
    cells%mass = 0
    call bouma_variable_read(v, mass)
    call claim(all(b == cells%mass) .and. all(cells%heat == -1), 'and read')
    call finish(run, step)
  end subroutine

  subroutine components_first_and_last()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    real(real32), target :: first(3, nx, ny, 2), last(nx, ny, 2, 3), back(3, nx, ny, 4)
    real(real32), target :: back_last(nx, ny, 4, 3)
    character(:), allocatable :: path
    integer :: c

    path = in_place('components.bouma')
    first = reshape([(real(c), c = 1, size(first))], shape(first))
    last = reshape([(real(-c), c = 1, size(last))], shape(last))
    call start(run, v, path, [nx, ny, 4], BOUMA_TYPE_F32, 3)
    call bouma_variable_put_borrow(v, first, bouma_box([1, 1, 1]))
    call bouma_variable_put_borrow(v, last, bouma_box([1, 1, 3]), components_last=.true.)
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, back)
    call bouma_variable_read(v, back_last, components_last=.true.)
    call claim(all(back(:, :, :, 1:2) == first), 'components first')
    do c = 1, 3
      call claim(all(back(c, :, :, 3:4) == last(:, :, :, c)), 'components last')
      call claim(all(back(c, :, :, :) == back_last(:, :, :, c)), 'read with components last')
    end do
    call finish(run, step)
  end subroutine

  subroutine levels_and_positions()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    type(bouma_selection) :: selection
    type(bouma_box) :: box
    type(bouma_range) :: range
    real(real64), target :: a(nx, ny, nz)
    real(real64), allocatable :: half(:, :, :)
    real(real64) :: low(3), high(3)
    character(:), allocatable :: path

    path = in_place('levels.bouma')
    call fill(a)
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, a)
    call write_and_open(run, step, v, path)
    call bouma_variable_select(selection, v, 1)
    call claim(all(selection%shape == [nx, ny, nz] / 2) .and. all(selection%first == 1), 'level 1')
    allocate(half(selection%shape(1), selection%shape(2), selection%shape(3)))
    call bouma_variable_read(v, half, level=1)
    call claim(all(half == a(1::2, 1::2, 1::2)), 'every second sample')
    call bouma_variable_read(v, half(1:2, 1:3, 1:1), bouma_box([3, 3, 5]), level=1)
    call claim(all(half(1:2, 1:3, 1) == a(3:5:2, 3:7:2, 5)), 'a box at level 1')
    call bouma_variable_select(selection, v, 1, bouma_box([2, 2, 2], [nx, ny, nz]))
    call claim(all(selection%first == 3), 'the first sample of level 1 behind index 2')
    call bouma_variable_range(range, v, 1)
    call claim(range%low == a(1, 1, 1) .and. range%high == a(nx, ny, nz), 'range')
    call bouma_step_find_grid(grid, step, 'grid')
    call bouma_grid_box(box, grid, [1d0, 2d0, 3d0], [4d0, 5d0, 5d0])
    call claim(all(box%lo == [2, 3, 4]) .and. all(box%hi == [4, 5, 5]), 'samples of a region')
    call bouma_grid_bounds(low, high, grid, box)
    call claim(all(low == [1, 2, 3]) .and. all(high == [4, 5, 5]), 'region of samples')
    call boxes_that_are_wrong(v, grid)
    call finish(run, step)
  end subroutine

  subroutine boxes_that_are_wrong(v, grid)
    type(bouma_variable), intent(in) :: v
    type(bouma_grid), intent(in) :: grid
    type(bouma_selection) :: selection
    type(bouma_box) :: none, found
    real(real64) :: low(3), high(3), more(8)
    integer :: ierr
    character(200) :: message

    call bouma_variable_select(selection, v, 0, none, ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'no box')
    call says(message, 'without lo')
    call bouma_variable_select(selection, v, 0, bouma_box([2, 3, 1]), ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'a box without end')
    call says(message, 'without hi')
    call bouma_variable_select(selection, v, 0, bouma_box([2], [3]), ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'a box of one axis')
    call says(message, 'axes')
    call bouma_grid_bounds(low, high, grid, none, ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'the region of no box')
    call bouma_grid_bounds(low, high, grid, bouma_box([2, 3, 1]), ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'the region of a box without end')
    call bouma_grid_bounds(low, high, grid, bouma_box([2, 3], [4, 4]), ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'the region of a box of two axes')
    call bouma_grid_bounds(low(1:2), high, grid, ierr=ierr, errmsg=message)
    call claim(ierr == BOUMA_EINVAL, 'too little room for a region')
    call says(message, '2')
    more = 1
    call bouma_grid_box(found, grid, low(1:2), high(1:2), ierr, message)
    call claim(ierr == BOUMA_EINVAL .and. .not. allocated(found%lo), 'a region of two axes')
    call bouma_grid_box(found, grid, more, more, ierr, message)
    call claim(ierr == BOUMA_EINVAL .and. .not. allocated(found%lo), 'a region of eight axes')
    call says(message, '8')
    call bouma_grid_box(found, grid, more(1:3), more(1:2), ierr, message)
    call claim(ierr == BOUMA_EINVAL, 'a region with ends of other axes')
  end subroutine

  subroutine requests_read_all_at_once()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    type(bouma_requests) :: requests
    real(real64), target :: a(nx, ny, nz), b(nx, ny, nz), coarse(nx / 2, ny / 2, nz / 2)
    character(:), allocatable :: path

    path = in_place('requests.bouma')
    call fill(a)
    call start(run, v, path, [nx, ny, nz], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, a)
    call write_and_open(run, step, v, path)
    b = 0
    call bouma_requests_add(requests, v, b(:, :, 2:3), bouma_box([1, 1, 2]))
    call bouma_requests_add(requests, v, coarse, level=1)
    call bouma_step_read(step, requests)
    call claim(all(b(:, :, 2:3) == a(:, :, 2:3)) .and. all(b(:, :, 4:) == 0), 'the first request')
    call claim(all(coarse == a(1::2, 1::2, 1::2)), 'the second request')
    call bouma_step_read(step)
    call finish(run, step)
  end subroutine

  subroutine empty_blocks_are_none()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_variable) :: v
    real(real64), target :: a(nx, ny), none(nx, 0)
    real(real64) :: b(nx, ny)
    character(:), allocatable :: path

    path = in_place('empty.bouma')
    a = 3
    call start(run, v, path, [nx, ny], BOUMA_TYPE_F64)
    call bouma_variable_put_borrow(v, none, bouma_box([1, 5]))
    call bouma_variable_put_borrow(v, a)
    call write_and_open(run, step, v, path)
    call bouma_variable_read(v, none, bouma_box([1, 3], [nx, 2]))
    call bouma_variable_read(v, b)
    call claim(all(a == b), 'beside an empty block')
    call finish(run, step)
  end subroutine
end program test_fortran_grids
