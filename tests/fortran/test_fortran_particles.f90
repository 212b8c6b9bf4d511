! test_fortran_particles.f90 -- particles in Fortran: arrays and members of derived
! types, queries, and mistakes.
!
!   test_fortran_particles FOLDER
program test_fortran_particles
  use iso_fortran_env, only: int32, int64, real32, real64
  use bouma
  use claims
  implicit none
  integer, parameter :: n = 500

  type :: grain
    real(real64) :: position(3)
    real(real32) :: speed(3)
    integer(int64) :: id
    real(real64) :: mass
  end type

  call arrays_go_there_and_back()
  call members_go_there_and_back()
  call queries_choose()
  call histograms_count()
  call ranks_without_particles()
  call mistakes_are_told()
  call end_of_claims()

contains

  subroutine start(run, dust, id, speed, mass, path)
    type(bouma_dataset), intent(out) :: run
    type(bouma_particles), intent(out) :: dust
    type(bouma_variable), intent(out) :: id, speed, mass
    character(*), intent(in) :: path

    call bouma_dataset_create(run, path)
    call bouma_particles_define(dust, run, 'dust', bouma_particles_spec(ndims=3, type=BOUMA_TYPE_F64, unit='m'))
    call bouma_particles_define_variable(id, dust, 'id', bouma_variable_spec(type=BOUMA_TYPE_U64))
    call bouma_particles_define_variable(speed, dust, 'speed', bouma_variable_spec(type=BOUMA_TYPE_F32, components=3))
    call bouma_particles_define_variable(mass, dust, 'mass', bouma_variable_spec(type=BOUMA_TYPE_F64, unit='kg'))
    call bouma_step_begin(run, 0, 0.0)
  end subroutine

  subroutine write_and_open(run, step, dust, path)
    type(bouma_dataset), intent(inout) :: run
    type(bouma_step), intent(out) :: step
    type(bouma_particles), intent(out) :: dust
    character(*), intent(in) :: path

    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    call bouma_dataset_open(run, path)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_particles(dust, step, 'dust')
  end subroutine

  subroutine fill(grains)
    type(grain), intent(out) :: grains(:)
    integer :: i

    do i = 1, size(grains)
      grains(i)%position = [modulo(i * 37, 101) / 101d0, modulo(i * 59, 103) / 103d0, i / (size(grains) + 1d0)]
      grains(i)%speed = [1.0, 2.0, 3.0] * i
      grains(i)%id = i
      grains(i)%mass = 0.5d0 * i
    end do
  end subroutine

  function variable_of(dust, name) result(v)
    type(bouma_particles), intent(in) :: dust
    character(*), intent(in) :: name
    type(bouma_variable) :: v

    call bouma_particles_find_variable(v, dust, name)
  end function

  subroutine check(id, x, speed, mass, what)
    integer(int64), intent(in) :: id(:)
    real(real64), intent(in) :: x(:, :), mass(:)
    real(real32), intent(in) :: speed(:, :)
    character(*), intent(in) :: what
    type(grain) :: grains(n)
    logical :: seen(n)
    integer :: i

    call fill(grains)
    seen = .false.
    do i = 1, size(id)
      if (id(i) < 1 .or. id(i) > n) cycle
      seen(id(i)) = all(x(:, i) == grains(id(i))%position) .and. mass(i) == grains(id(i))%mass .and. &
        all(speed(:, i) == grains(id(i))%speed)
    end do
    call claim(all(seen) .and. size(id) == n, what)
  end subroutine

  ! Positions as (3, n), speeds as (n, 3); read the other way round.
  subroutine arrays_go_there_and_back()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_step) :: step
    type(bouma_columns) :: put, get
    type(bouma_particles_info) :: info
    type(grain) :: grains(n)
    integer(int64), target :: ids(n), ids_back(n + 5)
    real(real64), target :: x(3, n), m(2 * n), x_back(n + 5, 3), m_back(n + 5)
    real(real32), target :: s(n, 3), s_back(3, n + 5)
    integer(int64) :: count
    character(:), allocatable :: path
    integer :: i

    path = in_place('arrays.bouma')
    call fill(grains)
    do i = 1, n
      x(:, i) = grains(i)%position
      s(i, :) = grains(i)%speed
      ids(i) = grains(i)%id
      m(2 * i - 1) = -1
    end do
    call start(run, dust, id, speed, mass, path)
    call bouma_columns_add(put, bouma_particles_position(dust), x)
    call bouma_columns_add(put, id, ids)
    call bouma_columns_add(put, speed, s, components_last=.true.)
    call bouma_columns_add(put, mass, m(1::2))
    call bouma_particles_put_borrow(dust, put)
    m(1::2) = grains%mass ! it is borrowed, and no copy
    call write_and_open(run, step, dust, path)
    call bouma_particles_info_get(info, dust)
    call claim(info%count == n .and. info%name == 'dust' .and. info%unit == 'm' .and. info%ndims == 3, 'info')
    call claim(all(abs(info%low - minval(x, 2)) < 1d-15) .and. all(abs(info%high - maxval(x, 2)) < 1d-15), &
      'bounds, x first')
    call bouma_columns_add(get, bouma_particles_position(dust), x_back, components_last=.true.)
    call bouma_columns_add(get, variable_of(dust, 'id'), ids_back, unsigned=.true.)
    call bouma_columns_add(get, variable_of(dust, 'speed'), s_back)
    call bouma_columns_add(get, variable_of(dust, 'mass'), m_back)
    call bouma_particles_read_into(count, dust, get)
    call claim(count == n, 'count')
    call check(ids_back(1:n), transpose(x_back(1:n, :)), s_back(:, 1:n), m_back(1:n), 'arrays')
    x_back = 0
    call bouma_particles_restart_into(count, dust, get)
    call check(ids_back(1:n), transpose(x_back(1:n, :)), s_back(:, 1:n), m_back(1:n), 'restart')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine describe(columns, dust, grains)
    type(bouma_columns), intent(out) :: columns
    type(bouma_particles), intent(in) :: dust
    type(grain), intent(in), target :: grains(:)
    integer :: bytes

    bytes = storage_size(grains) / 8
    call bouma_columns_add_member(columns, bouma_particles_position(dust), grains(1)%position, size(grains), bytes)
    call bouma_columns_add_member(columns, variable_of(dust, 'speed'), grains(1)%speed, size(grains), bytes)
    call bouma_columns_add_member(columns, variable_of(dust, 'id'), grains(1)%id, size(grains), bytes, &
      unsigned=.true.)
    call bouma_columns_add_member(columns, variable_of(dust, 'mass'), grains(1)%mass, size(grains), bytes)
  end subroutine

  subroutine members_go_there_and_back()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_step) :: step
    type(bouma_columns) :: columns
    type(grain), target :: grains(n), back(n)
    real(real64) :: x(3, n)
    real(real32) :: s(3, n)
    integer(int64) :: count
    integer :: i
    character(:), allocatable :: path

    path = in_place('members.bouma')
    call start(run, dust, id, speed, mass, path)
    call describe(columns, dust, grains)
    call bouma_particles_put_borrow(dust, columns)
    call fill(grains) ! borrowed, and no copy
    call write_and_open(run, step, dust, path)
    call describe(columns, dust, back)
    call bouma_particles_read_into(count, dust, columns)
    do i = 1, n
      x(:, i) = back(i)%position
      s(:, i) = back(i)%speed
    end do
    call check(back%id, x, s, back%mass, 'members')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine queries_choose()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_step) :: step
    type(bouma_columns) :: columns, get
    type(bouma_query) :: query
    type(grain), target :: grains(n)
    integer(int64), target :: ids(n)
    integer(int64) :: count
    integer :: i, ierr
    logical :: inside(n)
    character(:), allocatable :: path

    path = in_place('queries.bouma')
    call start(run, dust, id, speed, mass, path)
    call fill(grains)
    call describe(columns, dust, grains)
    call bouma_particles_put_copy(dust, columns)
    grains%mass = -1
    call write_and_open(run, step, dust, path)
    call fill(grains)
    do i = 1, n
      inside(i) = grains(i)%position(1) >= 0.25d0 .and. grains(i)%position(1) < 0.5d0 .and. &
        grains(i)%position(3) < 0.75d0 .and. grains(i)%id >= 100 .and. grains(i)%mass <= 150 .and. &
        grains(i)%speed(2) >= 202 .and. grains(i)%speed(2) <= 700
    end do
    call bouma_query_box(query, [0.25d0, 0d0, 0d0], [0.5d0, 1d0, 0.75d0])
    call bouma_query_at_least(query, variable_of(dust, 'id'), 100)
    call bouma_query_at_most(query, variable_of(dust, 'mass'), 150d0)
    call bouma_query_between(query, variable_of(dust, 'speed'), 202d0, 700d0, component=2)
    call bouma_particles_count(count, dust, query)
    call claim(count == sum(merge(1, 0, inside)) .and. count > 5, 'count')
    call bouma_columns_add(get, variable_of(dust, 'id'), ids)
    call bouma_particles_read_into(count, dust, get, query)
    call claim(all(inside(ids(1:count))) .and. count == sum(merge(1, 0, inside)), 'those that match')
    call bouma_query_where(query, 'id < 120 | id > 140')
    call bouma_particles_count(count, dust, query)
    call claim(count == sum(merge(1, 0, inside .and. (grains%id < 120 .or. grains%id > 140))), 'a text, too')
    call bouma_particles_check_where(dust, 'speed[1] > 0 & (id != 3)', ierr)
    call claim(ierr == BOUMA_OK, 'a text that is understood')
    call bouma_particles_check_where(dust, 'id > 3 &', ierr)
    call claim(ierr == BOUMA_EINVAL, 'a text that is not')
    query = bouma_query()
    call bouma_query_box(query, [0.25d0], [0.5d0, 2d0])
    call bouma_particles_count(count, dust, query)
    call claim(count == sum(merge(1, 0, grains%position(1) >= 0.25d0 .and. grains%position(1) < 0.5d0)) &
      .and. count > 5, 'axes that are left out have no limits')
    query = bouma_query(quality=0.25d0)
    call bouma_particles_count(count, dust, query)
    call claim(count == n / 4, 'a quarter')
    get = bouma_columns()
    call bouma_columns_add(get, variable_of(dust, 'id'), ids(1:10))
    call bouma_particles_read_into(count, dust, get, ierr=ierr)
    call claim(ierr == BOUMA_ELIMIT .and. count == n, 'too little room')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine histograms_count()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_step) :: step
    type(bouma_columns) :: columns
    type(bouma_query) :: query
    type(bouma_bin) :: bins(4), some(4)
    type(bouma_histogram) :: about
    type(grain), target :: grains(n)
    integer :: i, ierr
    integer(int64) :: right(4)
    character(:), allocatable :: path
    character(200) :: text

    path = in_place('histograms.bouma')
    call start(run, dust, id, speed, mass, path)
    call fill(grains)
    call describe(columns, dust, grains)
    call bouma_particles_put_copy(dust, columns)
    call write_and_open(run, step, dust, path)
    call fill(grains)
    do i = 1, 4
      right(i) = count(grains%mass >= 25 * (i - 1) .and. grains%mass < 25 * i .and. grains%id >= 10, kind=int64)
    end do
    call bouma_query_at_least(query, variable_of(dust, 'id'), 10)
    call bouma_particles_histogram(bins, variable_of(dust, 'mass'), edges=[0d0, 25d0, 50d0, 75d0, 99.999d0], &
      query=query, about=about)
    call claim(all(bins%lower == right) .and. all(bins%upper == right) .and. sum(right) > 5, 'counts')
    call claim(about%basis == BOUMA_BASIS_EXACT .and. about%all%lower == count(grains%id >= 10), 'all')
    call bouma_particles_histogram(some, variable_of(dust, 'mass'), low=0d0, high=99.999d0, query=query, &
      index_only=.true., about=about)
    call claim(about%basis == BOUMA_BASIS_INDEX .and. about%points == 0, 'the index alone')
    call bouma_particles_histogram(some, variable_of(dust, 'speed'), component=3, max_points=100_int64, about=about)
    call claim(about%basis == BOUMA_BASIS_SAMPLE .and. about%limit == BOUMA_LIMIT_POINTS, 'a sample')
    call bouma_particles_histogram(some, variable_of(dust, 'mass'), component=2, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'a component that is not there')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine ranks_without_particles()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_step) :: step
    type(bouma_columns) :: columns
    real(real64), allocatable, target :: x(:, :)
    integer(int64) :: count
    character(:), allocatable :: path

    path = in_place('none.bouma')
    allocate(x(3, 0))
    call start(run, dust, id, speed, mass, path)
    call bouma_columns_add(columns, bouma_particles_position(dust), x)
    call bouma_particles_put_borrow(dust, columns)
    call write_and_open(run, step, dust, path)
    call bouma_particles_count(count, dust)
    call claim(count == 0, 'none')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine mistakes_are_told()
    type(bouma_dataset) :: run
    type(bouma_particles) :: dust
    type(bouma_variable) :: id, speed, mass
    type(bouma_columns) :: columns
    real(real64), target :: x(3, n), flat(2, n)
    integer(int64), target :: ids(n - 1)
    character(300) :: text
    integer :: ierr

    x = 0
    flat = 0
    ids = 1
    call start(run, dust, id, speed, mass, in_place('mistakes.bouma'))
    call bouma_columns_add(columns, bouma_particles_position(dust), flat, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'positions of two axes')
    call says(text, 'variable ''position'': the variable has 3 components')
    columns = bouma_columns()
    call bouma_columns_add(columns, bouma_particles_position(dust), x)
    call bouma_columns_add(columns, id, ids)
    call bouma_particles_put_borrow(dust, columns, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'columns of different lengths')
    call says(text, '500 x 499')
    call bouma_step_end(run, ierr)
    call claim(ierr == BOUMA_EINVAL, 'and the step fails, too')
    call bouma_step_begin(run, 0, 0.0)
    call bouma_particles_put_borrow(dust, columns, n - 1)
    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
  end subroutine
end program test_fortran_particles
