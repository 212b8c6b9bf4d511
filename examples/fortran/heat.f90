! heat.f90 -- heat.c in Fortran, with a restart: heat spreads from hot balls; each
! rank has some planes of the grid, with ghost cells around them.
!
!   mpirun -n 4 heat [--restart STEP] [heat.bouma]
!
! The temperature is handed over in place, among its ghost cells, and stored with a
! tolerance; then once more exactly, so that a run can start from it again, on any
! number of ranks. The files are those of heat.c, byte for byte. This program has
! "use mpi"; boiler.f90 has "use mpi_f08".
program heat
  use iso_fortran_env, only: int64, real32, real64
  use mpi
  use bouma_mpi
  implicit none
  integer, parameter :: n = 96, planes_of_rank = 32, iterations = 60, every = 20
  real(real64), parameter :: tolerance = 0.05d0 ! K

  real(real64), allocatable, target :: temperature(:, :, :, :) ! now and next, in turn
  real(real32), allocatable, target :: flux(:, :, :, :)
  integer :: rank, ranks, planes, first, last, begin, i, ierr
  character(500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call read_arguments()
  planes = planes_of_rank * ranks
  if (begin >= 0) call number_of_planes()
  first = planes * rank / ranks + 1 ! the planes of this rank
  last = planes * (rank + 1) / ranks
  allocate(temperature(0:n + 1, 0:n + 1, first - 1:last + 1, 0:1), source=0d0)
  allocate(flux(3, n, n, first:last))
  if (begin >= 0) then
    call restart()
  else
    call start(temperature(:, :, :, 0))
  end if
  call simulate()
  call compare()
  call MPI_Finalize(ierr)

contains

  subroutine read_arguments()
    character(500) :: argument
    integer :: k

    path = 'heat.bouma'
    begin = -1
    k = 1
    do while (k <= command_argument_count())
      call get_command_argument(k, argument)
      if (argument == '--restart') then
        k = k + 1
        call get_command_argument(k, argument)
        read (argument, *) begin
      else
        path = argument
      end if
      k = k + 1
    end do
  end subroutine

  ! Balls in the box, at x, y, z from its centre.
  subroutine start(t)
    real(real64), intent(inout) :: t(0:, 0:, first - 1:)
    integer, parameter :: at(3, 5) = reshape([0, 0, 0, 24, -26, 4, 28, 22, -2, -24, 28, 1, -28, -24, 3], [3, 5])
    integer, parameter :: radius(5) = [20, 9, 12, 5, 7], kelvin(5) = [400, 300, 200, 500, 350]
    integer :: x, y, z, k

    do z = first, last
      do y = 1, n
        do x = 1, n
          do k = 1, 5
            if (sum(([x - n / 2, y - n / 2, z - planes / 2] - at(:, k))**2) < radius(k)**2) t(x, y, z) = kelvin(k)
          end do
        end do
      end do
    end do
  end subroutine

  ! Get the ghost planes from the neighbours. The other ghost cells, and those at
  ! both ends of the grid, stay at zero: the surface is cold.
  subroutine exchange(t)
    real(real64), intent(inout) :: t(0:n + 1, 0:n + 1, first - 1:last + 1)
    integer :: below, above, number

    below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    above = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    number = (n + 2)**2
    call MPI_Sendrecv(t(0, 0, first), number, MPI_DOUBLE_PRECISION, below, 0, t(0, 0, last + 1), number, &
      MPI_DOUBLE_PRECISION, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(t(0, 0, last), number, MPI_DOUBLE_PRECISION, above, 1, t(0, 0, first - 1), number, &
      MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  ! One explicit step of dT/dt = div grad T, in metres and seconds; the flux is minus
  ! the gradient, along z, y and x.
  subroutine advance(t, next)
    real(real64), intent(in) :: t(0:n + 1, 0:n + 1, first - 1:last + 1)
    real(real64), intent(inout) :: next(0:n + 1, 0:n + 1, first - 1:last + 1)
    real(real64) :: lo(3), hi(3)
    integer :: x, y, z, axis

    do z = first, last
      do y = 1, n
        do x = 1, n
          lo = [t(x, y, z - 1), t(x, y - 1, z), t(x - 1, y, z)]
          hi = [t(x, y, z + 1), t(x, y + 1, z), t(x + 1, y, z)]
          next(x, y, z) = t(x, y, z)
          do axis = 1, 3
            next(x, y, z) = next(x, y, z) + 0.15d0 * (lo(axis) + hi(axis) - 2 * t(x, y, z))
            flux(axis, x, y, z) = real(0.5d0 * (lo(axis) - hi(axis)), real32)
          end do
        end do
      end do
    end do
  end subroutine

  subroutine simulate()
    type(bouma_options) :: options
    type(bouma_dataset) :: ds
    type(bouma_grid) :: grid
    type(bouma_variable) :: scalar, exact, vector
    type(bouma_record) :: record
    type(bouma_box) :: box
    integer :: now, next

    ! Without ierr, a failure stops the program with bouma's message.
    box = bouma_box([1, 1, first], [n, n, last])
    if (begin >= 0) then
      call bouma_options_set(options, 'replace', 'yes') ! the steps behind this one
      call bouma_dataset_append(ds, MPI_COMM_WORLD, path, options)
    else
      call bouma_dataset_create(ds, MPI_COMM_WORLD, path)
    end if
    call bouma_grid_define(grid, ds, 'cube', bouma_grid_spec(shape=[n, n, planes], patch=[32, 32, 32], unit='m'))
    call bouma_variable_define(scalar, grid, 'temperature', &
      bouma_variable_spec(type=BOUMA_TYPE_F64, unit='K', tolerance=tolerance))
    call bouma_variable_define(exact, grid, 'exact', &
      bouma_variable_spec(type=BOUMA_TYPE_F64, unit='K', codec=BOUMA_CODEC_ZSTD))
    call bouma_variable_define(vector, grid, 'flux', &
      bouma_variable_spec(type=BOUMA_TYPE_F32, components=3, unit='K/m'))
    call bouma_attributes_set(bouma_dataset_attributes(ds), 'title', 'hot balls in a cold box')
    do i = max(begin, 0), iterations
      now = modulo(i, 2)
      next = modulo(i + 1, 2)
      call exchange(temperature(:, :, :, now))
      call advance(temperature(:, :, :, now), temperature(:, :, :, next))
      if (modulo(i, every) /= 0 .or. i == begin) cycle
      call bouma_step_begin(ds, i, 0.15d0 * i)
      call bouma_attributes_set(bouma_dataset_step_attributes(ds), 'iteration', real(i, real64))
      call bouma_variable_put_borrow(scalar, temperature(1:n, 1:n, first:last, now), box)
      call bouma_variable_put_borrow(exact, temperature(1:n, 1:n, first:last, now), box)
      if (i == iterations) call bouma_variable_put_borrow(vector, flux, box) ! in other steps, it is absent
      call bouma_step_end(ds)
      call bouma_dataset_record_get(record, ds)
      if (rank == 0) print '(a, i3, a, f5.1, a, f5.1, a, i0, a)', 'step', i, ':', record%raw_bytes / 1048576d0, &
        ' MiB are', record%stored_bytes / 1048576d0, ' MiB in ', record%files, ' file(s)'
    end do
    call bouma_dataset_close(ds)
    call bouma_dataset_free(ds)
  end subroutine

  ! How many planes there are depends on the ranks that began.
  subroutine number_of_planes()
    type(bouma_dataset) :: ds
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    type(bouma_grid_info) :: info

    call bouma_dataset_open(ds, MPI_COMM_WORLD, path)
    call bouma_step_open(step, ds, begin)
    call bouma_step_find_grid(grid, step, 'cube')
    call bouma_grid_info_get(info, grid)
    planes = int(info%shape(3))
    call bouma_step_free(step)
    call bouma_dataset_free(ds)
  end subroutine

  ! Read the planes of this rank, to their places among the ghost cells.
  subroutine read_planes(number, name, t)
    integer, intent(in) :: number
    character(*), intent(in) :: name
    real(real64), intent(inout), target :: t(:, :, :)
    type(bouma_dataset) :: ds
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    type(bouma_variable) :: variable
    type(bouma_requests) :: requests

    call bouma_dataset_open(ds, MPI_COMM_WORLD, path)
    call bouma_step_open(step, ds, number)
    call bouma_step_find_grid(grid, step, 'cube')
    call bouma_grid_find_variable(variable, grid, name)
    call bouma_requests_add(requests, variable, t, bouma_box([1, 1, first]))
    call bouma_step_read(step, requests)
    call bouma_step_free(step)
    call bouma_dataset_free(ds)
  end subroutine

  subroutine restart()
    call read_planes(begin, 'exact', temperature(1:n, 1:n, first:last, modulo(begin, 2)))
  end subroutine

  ! The last step is what the simulation has, within the tolerance.
  subroutine compare()
    real(real64), allocatable :: back(:, :, :)
    real(real64) :: error

    allocate(back(n, n, first:last))
    call read_planes(iterations, 'temperature', back)
    error = maxval(abs(back - temperature(1:n, 1:n, first:last, modulo(iterations, 2))))
    if (error > tolerance) error stop 'heat: an error above the tolerance'
  end subroutine
end program heat
