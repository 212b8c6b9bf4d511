! test_fortran_members.f90 -- members of derived types that are passed by themselves
! to a procedure that borrows: compilers may pass a wrong address. Whatever the
! compiler, it is either the member that is stored, or the call and the step fail.
!
!   test_fortran_members FOLDER
program test_fortran_members
  use iso_fortran_env, only: int32, int64, real64
  use bouma
  use claims
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type :: cell
    integer(int64) :: number
    real(real64) :: heat
    integer(int32) :: kinds(2)
    real(real64) :: mass
  end type
  type :: only
    real(real64) :: mass
  end type
  type(cell), target :: cells(nx, ny)
  type(bouma_dataset) :: run
  type(bouma_grid) :: grid
  type(bouma_variable) :: v
  character(500) :: text
  integer :: ierr

  call fill()
  call planes()
  call sections()
  call parts_of_complex_numbers()
  call members_that_are_all_there_is()
  call arrays_in_derived_types()
  call columns_of_particles()
  call members_of_the_first_particle()
  call requests()
  call end_of_claims()

contains

  subroutine fill()
    integer :: x, y

    do y = 1, ny
      do x = 1, nx
        cells(x, y) = cell(int(100 * x + y, int64), 0.5d0 * x + y, [x, y], 1000d0 * y + x)
      end do
    end do
  end subroutine

  subroutine start(name, shape)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(:)

    text = ''
    call bouma_dataset_create(run, in_place(name))
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=shape))
    call bouma_variable_define(v, grid, 'values', bouma_variable_spec(type=BOUMA_TYPE_F64))
    call bouma_step_begin(run, 0, 0.0)
  end subroutine

  ! After a put with 'ierr': the step has these values, or it fails with the put.
  subroutine stored_or_refused(name, wanted)
    character(*), intent(in) :: name
    real(real64), intent(in) :: wanted(:, :)
    type(bouma_step) :: step
    real(real64) :: found(size(wanted, 1), size(wanted, 2))
    integer :: put

    put = ierr
    call bouma_step_end(run, ierr)
    call claim((put == BOUMA_OK) .eqv. (ierr == BOUMA_OK), name // ': the step fails if the put does')
    if (put == BOUMA_OK) then
      call bouma_step_open(step, run, 0)
      call bouma_step_find_grid(grid, step, 'grid')
      call bouma_grid_find_variable(v, grid, 'values')
      if (size(wanted, 2) > 1) then
        call bouma_variable_read(v, found)
      else
        call bouma_variable_read(v, found(:, 1))
      end if
      call claim(all(found == wanted), name // ': what is stored is the member')
      call bouma_step_free(step)
    else
      call refused(name, put)
    end if
    call bouma_dataset_free(run)
  end subroutine

  subroutine refused(name, status)
    character(*), intent(in) :: name
    integer, intent(in) :: status

    call claim(status == BOUMA_EINVAL, name // ': it is refused')
    call says(text, 'pass a pointer')
  end subroutine

  subroutine planes()
    call start('planes.bouma', [nx, ny])
    call bouma_variable_put_borrow(v, cells%mass, ierr=ierr, errmsg=text)
    call stored_or_refused('a plane', cells%mass)
  end subroutine

  subroutine sections()
    real(real64) :: wanted(3, 1)

    wanted(:, 1) = cells(2:7:2, 3)%heat
    call start('sections.bouma', [3])
    call bouma_variable_put_borrow(v, cells(2:7:2, 3)%heat, ierr=ierr, errmsg=text)
    call stored_or_refused('a section', wanted)
  end subroutine

  subroutine parts_of_complex_numbers()
    complex(real64), target :: waves(nx)
    real(real64) :: wanted(nx, 1)

    waves = cmplx(cells(:, 1)%heat, cells(:, 1)%mass, real64)
    wanted(:, 1) = waves%im
    call start('complex.bouma', [nx])
    call bouma_variable_put_borrow(v, waves%im, ierr=ierr, errmsg=text)
    call stored_or_refused('an imaginary part', wanted)
  end subroutine

  ! There is no other address that it could be.
  subroutine members_that_are_all_there_is()
    type(only), target :: those(nx)
    real(real64) :: wanted(nx, 1)

    those%mass = cells(:, 2)%mass
    wanted(:, 1) = those%mass
    call start('only.bouma', [nx])
    call bouma_variable_put_borrow(v, those%mass, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_OK, 'the only member is taken')
    call stored_or_refused('the only member', wanted)
  end subroutine

  ! These are arrays as any other: they are never refused.
  subroutine arrays_in_derived_types()
    type :: state
      integer :: number
      real(real64) :: fixed(nx)
      real(real64), allocatable :: free(:)
    end type
    type(state), target :: states(3)
    real(real64) :: wanted(nx, 1)

    states(2)%fixed = cells(:, 4)%mass
    allocate(states(2)%free(nx), source=states(2)%fixed)
    wanted(:, 1) = states(2)%fixed
    call start('fixed.bouma', [nx])
    call bouma_variable_put_borrow(v, states(2)%fixed, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_OK, 'an array in a derived type is taken')
    call stored_or_refused('an array in a derived type', wanted)
    call start('free.bouma', [nx])
    call bouma_variable_put_borrow(v, states(2)%free, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_OK, 'an allocatable array in a derived type is taken')
    call stored_or_refused('an allocatable array in a derived type', wanted)
  end subroutine

  subroutine define_dust(dust, mass, columns, x)
    type(bouma_particles), intent(out) :: dust
    type(bouma_variable), intent(out) :: mass
    type(bouma_columns), intent(out) :: columns
    real(real64), intent(in), target :: x(:)

    text = ''
    call bouma_particles_define(dust, run, 'dust', bouma_particles_spec(ndims=1, type=BOUMA_TYPE_F64))
    call bouma_particles_define_variable(mass, dust, 'mass', bouma_variable_spec(type=BOUMA_TYPE_F64))
    call bouma_step_begin(run, 0, 0.0)
    call bouma_columns_add(columns, bouma_particles_position(dust), x)
  end subroutine

  subroutine end_dust(name, dust, columns, wanted)
    character(*), intent(in) :: name
    type(bouma_particles), intent(inout) :: dust
    type(bouma_columns), intent(in) :: columns
    real(real64), intent(in) :: wanted(:)
    type(bouma_columns) :: back
    type(bouma_step) :: step
    real(real64), target :: found(size(wanted))
    integer(int64) :: count
    integer :: added

    added = ierr
    call bouma_particles_put_borrow(dust, columns, ierr=ierr)
    call claim((added == BOUMA_OK) .eqv. (ierr == BOUMA_OK), name // ': the put fails if the column does')
    call bouma_step_end(run, ierr)
    call claim((added == BOUMA_OK) .eqv. (ierr == BOUMA_OK), name // ': and so does the step')
    if (added == BOUMA_OK) then
      call bouma_step_open(step, run, 0)
      call bouma_step_find_particles(dust, step, 'dust')
      call bouma_particles_find_variable(v, dust, 'mass')
      call bouma_columns_add(back, v, found)
      call bouma_particles_read_into(count, dust, back)
      call claim(abs(sum(found) - sum(wanted)) < 1d-9 .and. minval(found) == minval(wanted), &
        name // ': what is stored is the member')
      call bouma_step_free(step)
    else
      call refused(name, added)
    end if
    call bouma_dataset_free(run)
  end subroutine

  subroutine columns_of_particles()
    type(bouma_particles) :: dust
    type(bouma_variable) :: mass
    type(bouma_columns) :: columns
    real(real64), target :: x(nx)

    x = cells(:, 1)%heat
    call bouma_dataset_create(run, in_place('columns.bouma'))
    call define_dust(dust, mass, columns, x)
    call bouma_columns_add(columns, mass, cells(:, 5)%mass, ierr=ierr, errmsg=text)
    call end_dust('a column', dust, columns, cells(:, 5)%mass)
  end subroutine

  ! bouma_columns_add_member() wants that of the first particle.
  subroutine members_of_the_first_particle()
    type(bouma_particles) :: dust
    type(bouma_variable) :: mass
    type(bouma_columns) :: columns
    real(real64), target :: x(nx)

    x = cells(:, 1)%heat
    call bouma_dataset_create(run, in_place('first.bouma'))
    call define_dust(dust, mass, columns, x)
    call bouma_columns_add_member(columns, mass, cells(1, 5)%mass, nx, storage_size(cells) / 8, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_OK, 'that of the first particle is taken')
    call end_dust('that of the first particle', dust, columns, cells(:, 5)%mass)

    call bouma_dataset_create(run, in_place('all.bouma'))
    call define_dust(dust, mass, columns, x)
    call bouma_columns_add_member(columns, mass, cells(:, 5)%mass, nx, storage_size(cells) / 8, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'those of all particles are refused')
    call bouma_dataset_free(run)

    call bouma_dataset_create(run, in_place('pair.bouma'))
    call define_dust(dust, mass, columns, x)
    call bouma_columns_add_member(columns, mass, cells(1, 5)%kinds, nx, storage_size(cells) / 8, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'two values for one component are refused')
    call says(text, '1 components; the member of the first particle has 2')
    call bouma_dataset_free(run)
  end subroutine

  ! What is read goes into the member, or nowhere.
  subroutine requests()
    type(bouma_requests) :: list
    type(bouma_step) :: step
    real(real64), target :: wanted(nx, ny)
    type(cell), target :: into(nx, ny)

    wanted = cells%mass
    into = cells
    into%mass = 0
    call start('requests.bouma', [nx, ny])
    call bouma_variable_put_borrow(v, wanted)
    call bouma_step_end(run)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_grid(grid, step, 'grid')
    call bouma_grid_find_variable(v, grid, 'values')
    call bouma_requests_add(list, v, into%mass, ierr=ierr, errmsg=text)
    if (ierr == BOUMA_OK) then
      call bouma_step_read(step, list)
      call claim(all(into%mass == wanted), 'a request reads into the member')
    else
      call refused('a request', ierr)
    end if
    call claim(all(into%number == cells%number) .and. all(into%heat == cells%heat), 'and into nothing else')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine
end program test_fortran_members
