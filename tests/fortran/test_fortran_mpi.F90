! test_fortran_mpi.F90 -- bouma_mpi on any number of ranks, with "use mpi" or, compiled
! with USE_F08, with "use mpi_f08": ranks write slabs along z and read slabs along y,
! share particles and a plain file, and a mistake of one of them fails the call on all.
!
!   mpirun -n N test_fortran_mpi FOLDER
program test_fortran_mpi
  use iso_fortran_env, only: int64, real32, real64
#ifdef USE_F08
  use mpi_f08
#else
  use mpi
#endif
  use bouma_mpi
  use claims
  implicit none
  integer, parameter :: nx = 10, ny = 12, nz = 9, grains = 100
  integer :: rank, ranks, ierr
  character(:), allocatable :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call choose_path()
  call write_all()
  call read_other_slabs()
  call share_particles()
  call mistakes_of_one_rank_fail_the_step()
  call no_dataset_on_any_rank()
  call ranks_share_a_plain_file()
  call what_else_takes_a_communicator()
  call MPI_Finalize(ierr)
  call end_of_claims()

contains

  subroutine choose_path()
    character(500) :: folder

    if (rank == 0) path = in_place('run.bouma')
    call get_command_argument(1, folder)
    if (rank /= 0) path = trim(folder) // '/run.bouma'
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  ! The k-th of n parts, from lo to hi.
  subroutine part(lo, hi, n)
    integer, intent(out) :: lo, hi
    integer, intent(in) :: n

    lo = n * rank / ranks + 1
    hi = n * (rank + 1) / ranks
  end subroutine

  pure function value_at(x, y, z) result(v)
    integer, intent(in) :: x, y, z
    real(real64) :: v

    v = x + 100 * y + 10000 * z
  end function

  subroutine write_all()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: field, id
    type(bouma_particles) :: dust
    type(bouma_columns) :: columns
    real(real64), allocatable, target :: a(:, :, :)
    real(real32), target :: position(2, grains)
    integer(int64), target :: ids(grains)
    integer :: lo, hi, x, y, z, i

    call part(lo, hi, nz)
    allocate(a(0:nx + 1, 0:ny + 1, lo - 1:hi + 1), source=-1d0)
    do z = lo, hi
      do y = 1, ny
        do x = 1, nx
          a(x, y, z) = value_at(x, y, z)
        end do
      end do
    end do
    do i = 1, grains
      ids(i) = rank * grains + i
      position(:, i) = [rank + real(i) / (grains + 1), 0.5]
    end do
    call bouma_dataset_create(run, MPI_COMM_WORLD, path)
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=[nx, ny, nz], patch=[4, 4, 4]))
    call bouma_variable_define(field, grid, 'field', bouma_variable_spec(type=BOUMA_TYPE_F64))
    call bouma_particles_define(dust, run, 'dust', bouma_particles_spec(ndims=2))
    call bouma_particles_define_variable(id, dust, 'id', bouma_variable_spec(type=BOUMA_TYPE_I64))
    call bouma_columns_add(columns, bouma_particles_position(dust), position)
    call bouma_columns_add(columns, id, ids)
    call bouma_step_begin(run, 7, 0.7)
    call bouma_variable_put_borrow(field, a(1:nx, 1:ny, lo:hi), bouma_box([1, 1, lo]))
    call bouma_particles_put_borrow(dust, columns)
    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
  end subroutine

  subroutine read_other_slabs()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_grid) :: grid
    type(bouma_variable) :: field
    type(bouma_requests) :: requests
    real(real64), allocatable, target :: a(:, :, :)
    integer :: lo, hi, x, y, z
    logical :: same

    call part(lo, hi, ny)
    allocate(a(nx, lo:hi, nz), source=-1d0)
    call bouma_dataset_open(run, MPI_COMM_WORLD, path)
    call bouma_step_open(step, run, 7)
    call bouma_step_find_grid(grid, step, 'grid')
    call bouma_grid_find_variable(field, grid, 'field')
    call bouma_requests_add(requests, field, a, bouma_box([1, lo, 1]))
    call bouma_step_read(step, requests)
    same = .true.
    do z = 1, nz
      do y = lo, hi
        do x = 1, nx
          same = same .and. a(x, y, z) == value_at(x, y, z)
        end do
      end do
    end do
    call claim(same, 'slabs along y')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine share_particles()
    type(bouma_dataset) :: run
    type(bouma_step) :: step
    type(bouma_particles) :: dust
    type(bouma_variable) :: id
    type(bouma_columns) :: columns
    type(bouma_query) :: query
    integer(int64), allocatable, target :: ids(:)
    integer(int64) :: mine
    integer :: from

    from = modulo(rank + 1, ranks) ! the box of another rank
    call bouma_dataset_open(run, MPI_COMM_WORLD, path)
    call bouma_step_open(step, run, 7)
    call bouma_step_find_particles(dust, step, 'dust')
    call bouma_particles_find_variable(id, dust, 'id')
    call bouma_query_box(query, [real(from, real64), 0d0], [from + 1d0, 1d0])
    call bouma_particles_restart_into(mine, dust, query=query)
    call claim(mine == grains, 'as many as a rank has written')
    allocate(ids(mine))
    call bouma_columns_add(columns, id, ids)
    call bouma_particles_restart_into(mine, dust, columns, query)
    call claim(minval(ids) == from * grains + 1 .and. maxval(ids) == (from + 1) * grains, 'those of that rank')
    call bouma_particles_restart_into(mine, dust)
    call claim(abs(mine - grains) <= 1, 'equal shares')
    ! Boxes without particles, on all ranks but one.
    query = bouma_query()
    call bouma_query_box(query, [real(10 * rank, real64), 0d0], [10 * rank + 0.25d0, 1d0])
    call bouma_particles_restart_into(mine, dust, query=query)
    call claim(mine == merge(25, 0, rank == 0), 'none for some')
    deallocate(ids)
    allocate(ids(mine))
    columns = bouma_columns()
    call bouma_columns_add(columns, id, ids)
    call bouma_particles_restart_into(mine, dust, columns, query)
    call claim(all(ids <= 25), 'the first ones')
    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  subroutine mistakes_of_one_rank_fail_the_step()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: field
    real(real64), target :: line(5), cube(5, 1, 1)
    character(300) :: text

    line = 1
    cube = 1
    call bouma_dataset_append(run, MPI_COMM_WORLD, path)
    call bouma_grid_define(grid, run, 'lines', bouma_grid_spec(shape=[5, ranks]))
    call bouma_variable_define(field, grid, 'field', bouma_variable_spec(type=BOUMA_TYPE_F64))
    call bouma_step_begin(run, 8, 0.8)
    if (rank == ranks - 1) then
      call bouma_variable_put_borrow(field, cube, bouma_box([1, rank + 1]), ierr=ierr)
      call claim(ierr == BOUMA_EINVAL, 'too many axes')
    else
      call bouma_variable_put_borrow(field, line, bouma_box([1, rank + 1]))
    end if
    call bouma_step_end(run, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'the step fails on all ranks')
    call says(text, 'field')
    call bouma_step_begin(run, 8, 0.8)
    call bouma_variable_put_borrow(field, line, bouma_box([1, rank + 1]))
    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
  end subroutine

  subroutine no_dataset_on_any_rank()
    type(bouma_dataset) :: run
    type(bouma_verify_report) :: report
    character(300) :: text

    call bouma_dataset_open(run, MPI_COMM_WORLD, path // '-not', ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_ENOTFOUND, 'no dataset')
    call says(text, 'run.bouma-not')
    call bouma_dataset_free(run)
    call bouma_verify(report, MPI_COMM_WORLD, path, BOUMA_DEPTH_DEEP)
    call claim(report%damages == 0 .and. report%steps == 2, 'verified by all ranks')
  end subroutine

  ! Each rank has a part of one array; every rank reads all of it.
  subroutine ranks_share_a_plain_file()
    type(bouma_file) :: file
    type(bouma_pieces) :: pieces, whole, wrong
    real(real64), target :: mine(100), all_of_them(100)
    character(300) :: text
    integer :: lo, hi, i, group, number, of

    call part(lo, hi, 100)
    mine = [(real(i, real64), i = 1, 100)]
    call bouma_pieces_add(pieces, mine(lo:hi), 8 * (lo - 1))
    call bouma_file_open(file, MPI_COMM_WORLD, path // '.dat', BOUMA_FILE_MODE_CREATE)
    call bouma_file_group(file, group, number, of)
    call claim(group == 0 .and. number == rank .and. of == ranks, 'all ranks are one group')
    call bouma_file_declare(file, pieces)
    call bouma_file_write(file, pieces)
    text = ''
    if (rank == ranks - 1) then ! other arrays than declared, on one rank
      call bouma_pieces_add(wrong, mine(1:1), 0)
      call bouma_file_write(file, wrong, ierr, text)
    else
      call bouma_file_write(file, pieces, ierr, text)
    end if
    call claim(ierr == BOUMA_EINVAL, 'a mistake of one rank fails the write on all')
    call bouma_file_close(file)
    call bouma_file_free(file)

    all_of_them = 0
    call bouma_pieces_add(whole, all_of_them, 0)
    call bouma_file_open(file, MPI_COMM_WORLD, path // '.dat', BOUMA_FILE_MODE_READ)
    call bouma_file_declare(file, whole)
    call bouma_file_read(file, whole)
    call bouma_file_close(file)
    call bouma_file_free(file)
    call claim(all(all_of_them == mine), 'every rank reads all')
  end subroutine

  subroutine what_else_takes_a_communicator()
    type(bouma_verify_report) :: verified
    type(bouma_finding), allocatable :: findings(:)
    type(bouma_drain_report) :: drained
    type(bouma_probe_report) :: probed
    character(300) :: text

    call bouma_verify(verified, MPI_COMM_WORLD, path, BOUMA_DEPTH_QUICK, findings=findings)
    call claim(size(findings) == int(verified%notes + verified%damages), 'each rank gets each finding')
    call bouma_drain(drained, MPI_COMM_WORLD, path // '.local', path, .false., ierr=ierr, errmsg=text)
    call claim(ierr /= BOUMA_OK, 'there is no local copy')
    call says(text, 'run.bouma.local')
    call bouma_probe(probed, MPI_COMM_WORLD, bouma_probe_spec(target='/no/such/place', storage_bytes=1, tries=1), &
      ierr=ierr, errmsg=text)
    call claim(ierr /= BOUMA_OK, 'there is no place to write')
    call says(text, '/no/such/place')
  end subroutine
end program test_fortran_mpi
