! test_fortran_budgets.f90 -- from coarse to fine in Fortran: grids and particles, with
! and without a budget, and samples.
!
!   test_fortran_budgets FOLDER
program test_fortran_budgets
  use iso_fortran_env, only: int32, int64, real32, real64
  use bouma
  use claims
  implicit none
  integer, parameter :: nx = 64, ny = 32, n = 5000
  type(bouma_dataset) :: run
  type(bouma_step) :: step
  type(bouma_grid) :: grid
  type(bouma_particles) :: dust
  type(bouma_variable) :: heat, flow, mass
  real(real64), target :: field(nx, ny)
  character(500) :: text
  integer :: ierr

  text = ''
  call write_all()
  call levels_come_one_by_one()
  call a_budget_ends_a_refinement()
  call pointers_must_fit()
  call particles_come_within_a_budget()
  call samples_are_drawn()
  call bouma_step_free(step)
  call bouma_dataset_free(run)
  call end_of_claims()

contains

  subroutine write_all()
    type(bouma_variable_spec) :: pairs
    type(bouma_columns) :: columns
    real(real32), target :: vectors(2, nx, ny)
    real(real32), target :: x(2, n)
    integer(int32), target :: m(n)
    character(:), allocatable :: path
    integer :: i, j

    path = in_place('budgets.bouma')
    do j = 1, ny
      do i = 1, nx
        field(i, j) = i + 1000 * j
        vectors(:, i, j) = [real(i), real(j)]
      end do
    end do
    do i = 1, n
      x(:, i) = [modulo(i * 0.37, 1.0), modulo(i * 0.73, 1.0)]
      m(i) = i
    end do
    call bouma_dataset_create(run, path)
    call bouma_grid_define(grid, run, 'plate', bouma_grid_spec(shape=[nx, ny], patch=[16, 16], levels=4))
    call bouma_variable_define(heat, grid, 'heat', bouma_variable_spec(type=BOUMA_TYPE_F64, codec=BOUMA_CODEC_RAW))
    pairs%type = BOUMA_TYPE_F32
    pairs%components = 2
    call bouma_variable_define(flow, grid, 'flow', pairs)
    call bouma_particles_define(dust, run, 'dust', bouma_particles_spec(ndims=2))
    call bouma_particles_define_variable(mass, dust, 'mass', bouma_variable_spec(type=BOUMA_TYPE_I32))
    call bouma_columns_add(columns, bouma_particles_position(dust), x)
    call bouma_columns_add(columns, mass, m)
    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(heat, field)
    call bouma_variable_put_borrow(flow, vectors)
    call bouma_particles_put_borrow(dust, columns)
    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    call bouma_dataset_open(run, path)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_grid(grid, step, 'plate')
    call bouma_grid_find_variable(heat, grid, 'heat')
    call bouma_grid_find_variable(flow, grid, 'flow')
    call bouma_step_find_particles(dust, step, 'dust')
    call bouma_particles_find_variable(mass, dust, 'mass')
  end subroutine

  subroutine levels_come_one_by_one()
    type(bouma_refinement) :: r
    type(bouma_selection) :: selection
    real(real64), pointer :: a(:, :)
    real(real32), pointer :: v(:, :, :)
    integer :: level

    call bouma_refinement_open(r, heat, 2)
    call bouma_refinement_get(a, r, selection, level)
    call claim(level == 2 .and. all(shape(a) == [nx / 4, ny / 4]), 'it begins at the level')
    call claim(all(selection%shape == shape(a)), 'the selection has its shape')
    call claim(all(a == field(1:nx:4, 1:ny:4)), 'with every fourth sample')
    call bouma_refinement_next(r)
    call bouma_refinement_next(r)
    call bouma_refinement_get(a, r, level=level)
    call claim(level == 0 .and. all(a == field), 'and ends with all of them')
    call bouma_refinement_next(r, ierr, text)
    call claim(ierr == BOUMA_ENOTFOUND, 'there is no finer one')
    call bouma_refinement_free(r)

    call bouma_refinement_open(r, flow, 0, bouma_box([5, 3], [9, 4]))
    call bouma_refinement_get(v, r)
    call claim(all(shape(v) == [2, 5, 2]), 'components are the first axis')
    call claim(v(1, 2, 1) == 6 .and. v(2, 2, 2) == 4, 'and a box begins where it says')
    call bouma_refinement_free(r)
  end subroutine

  subroutine a_budget_ends_a_refinement()
    type(bouma_refinement) :: r
    type(bouma_answer) :: answer
    real(real64), pointer :: a(:, :)

    call bouma_refinement_open_within(r, answer, heat, bouma_budget(points=nx * ny / 16))
    call claim(answer%complete == 0 .and. answer%level == 2 .and. answer%limit == BOUMA_LIMIT_POINTS, &
      'as many samples as the budget allows')
    call claim(answer%points == nx * ny / 16 .and. answer%next_points == nx * ny / 4, 'and what comes next')
    call bouma_refinement_next_within(answer, r, bouma_budget(points=100), ierr, text)
    call claim(ierr == BOUMA_ELIMIT .and. answer%next_points == nx * ny / 4, 'too small a budget')
    call bouma_refinement_next_within(answer, r)
    call bouma_refinement_get(a, r)
    call claim(answer%complete == 1 .and. all(a == field), 'without a budget, all is read')
    call bouma_refinement_free(r)
    call bouma_refinement_open_within(r, answer, heat, bouma_budget(bytes=1), ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_ELIMIT .and. answer%next_bytes > 1, 'one byte is not enough')
    call bouma_refinement_open_within(r, answer, heat, bouma_budget(bytes=answer%next_bytes), &
      bouma_box([1, 1], [16, 16]))
    call claim(answer%points > 0, 'what the answer asks for is')
    call bouma_refinement_free(r)
  end subroutine

  subroutine pointers_must_fit()
    type(bouma_refinement) :: r
    real(real32), pointer :: other(:, :)
    real(real64), pointer :: flat(:)

    call bouma_refinement_open(r, heat, 1)
    call bouma_refinement_get(other, r, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL .and. .not. associated(other), 'another kind')
    call says(text, 'of type f64')
    call bouma_refinement_get(flat, r, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL .and. .not. associated(flat), 'another rank')
    call says(text, '2 axes, the pointer 1')
    call bouma_refinement_free(r)
    call bouma_refinement_get(flat, r, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'nothing is open')
    call bouma_refinement_open(r, heat, 0, bouma_box([1]), ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'a box without its end')
  end subroutine

  subroutine particles_come_within_a_budget()
    type(bouma_particles_refinement) :: r
    type(bouma_answer) :: answer
    type(bouma_columns) :: columns
    type(bouma_query) :: query
    integer(int32), target :: m(1000)
    logical :: seen(n)
    integer :: calls

    seen = .false.
    call bouma_query_at_most(query, mass, 3000)
    call bouma_particles_refinement_open(r, dust, query, [mass])
    call bouma_columns_add(columns, mass, m)
    calls = 0
    do
      call bouma_particles_refinement_next_into(answer, r, columns, bouma_budget(points=700))
      call claim(answer%points <= 700, 'no more than the budget allows')
      call claim(.not. any(seen(m(:answer%points))), 'none comes twice')
      seen(m(:answer%points)) = .true.
      calls = calls + 1
      if (answer%complete == 1) exit
    end do
    call claim(calls == 5, '3000 particles by 700')
    call claim(all(seen(:3000)) .and. .not. any(seen(3001:)), 'all that match have come')
    call bouma_particles_refinement_free(r)
    call bouma_particles_refinement_next_into(answer, r, columns, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'nothing is open')
  end subroutine

  subroutine samples_are_drawn()
    type(bouma_columns) :: columns, others
    integer(int32), target :: m(200), again(200)
    integer(int64) :: drawn

    call bouma_columns_add(columns, mass, m)
    call bouma_columns_add(others, mass, again)
    call bouma_particles_sample_into(drawn, dust, columns, seed=7)
    call claim(drawn == 200, 'as many as there is room for')
    call bouma_particles_sample_into(drawn, dust, others, count=50, seed=7)
    call claim(drawn == 50 .and. all(again(:50) == m(:50)), 'the first 50 of a seed are the sample of 50')
    call bouma_particles_sample_into(drawn, dust, others, count=201, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'no more than there is room for')
    call says(text, 'room for 200 particles, not for 201')
  end subroutine
end program test_fortran_budgets
