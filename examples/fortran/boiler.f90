! boiler.f90 -- boiler.c in Fortran: a particle simulation that writes its output and
! restarts from it. Coal dust is blown through eight burners into a boiler, where a
! swirling flow carries it up.
!
!   mpirun -n 4 boiler [--steps N] [--particles N] [--restart STEP] [PATH]
!
! writes steps 0 to N (--steps), with new particles (--particles) in each, and a
! small grid: the temperature of the gas. With --restart, it reads the particles of a
! step back, on any number of ranks, and writes the later steps again. The files are
! those of boiler.c, byte for byte.
!
! The boiler is divided into cells, and each rank has a block of them, with the
! particles in it: an array of a derived type, whose members are handed over as they
! lie in memory.
program boiler
  use iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use bouma_mpi
  implicit none
  integer, parameter :: cells(3) = [16, 16, 32], substeps = 20 ! along x, y, z
  real(real64), parameter :: cell = 0.0625d0      ! m, its edge
  real(real64), parameter :: time_step = 0.01d0   ! s
  integer(int64), parameter :: word = int(z'ffffffff', int64), half_word = int(z'ffff', int64)

  type :: particle
    real(real64) :: position(3)       ! x, y, z in m
    real(real64) :: temperature, mass ! K, kg
    integer(int64) :: id
    real(real32) :: velocity(3)       ! m/s
  end type

  type(MPI_Comm) :: comm ! ranks along x, y, z
  integer :: rank, ranks, dims(3)
  integer :: first(3), last(3) ! cells of this rank
  type(particle), allocatable, target :: particles(:)
  integer :: count = 0
  real(real32), target :: gas(cells(1), cells(2), cells(3)) = 0 ! K, of the cells of this rank

  type(bouma_dataset) :: ds
  type(bouma_grid) :: grid
  type(bouma_variable) :: gas_temperature, variables(5)
  type(bouma_particles) :: coal
  character(*), parameter :: names(5) = [character(11) :: 'position', 'temperature', 'mass', 'id', 'velocity']
  integer :: steps = 10, begin = -1, step
  integer(int64) :: new_ones = 20000
  character(500) :: path = 'boiler.bouma'

  call MPI_Init()
  call read_arguments()
  call divide()
  allocate(particles(1000))
  if (begin >= 0) call read_step()
  call open_output()
  do step = begin + 1, steps
    if (step > 0) call simulate() ! step 0 is the empty boiler
    call heat()
    call write_step()
  end do
  call bouma_dataset_close(ds)
  call bouma_dataset_free(ds)
  call MPI_Comm_free(comm)
  call MPI_Finalize()

contains

  subroutine read_arguments()
    character(500) :: name, value
    integer :: k

    k = 1
    do while (k <= command_argument_count())
      call get_command_argument(k, name)
      call get_command_argument(k + 1, value)
      select case (name)
      case ('--steps')
        read (value, *) steps
      case ('--particles')
        read (value, *) new_ones
      case ('--restart')
        read (value, *) begin
      case default
        path = name
        k = k - 1
      end select
      k = k + 2
    end do
  end subroutine

  ! ---- who has what ----------------------------------------------------------

  subroutine divide()
    integer :: at(3), given(3)

    given = 0
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Dims_create(ranks, 3, given)
    dims = given(3:1:-1) ! most ranks along z, the longest
    call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, [.false., .false., .false.], .false., comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Cart_coords(comm, rank, 3, at)
    first = cells * at / dims + 1
    last = cells * (at + 1) / dims
  end subroutine

  ! The cell that a position is in.
  pure function cell_of(position) result(at)
    real(real64), intent(in) :: position(3)
    integer :: at(3)

    at = int(position / cell) + 1
  end function

  function owner(p) result(its_rank)
    type(particle), intent(in) :: p
    integer :: its_rank

    call MPI_Cart_rank(comm, (cell_of(p%position) * dims - 1) / cells, its_rank)
  end function

  ! Make room for more.
  subroutine reserve(more)
    integer, intent(in) :: more
    type(particle), allocatable :: larger(:)

    if (count + more <= size(particles)) return
    allocate(larger(2 * (count + more)))
    larger(1:count) = particles(1:count)
    call move_alloc(larger, particles)
  end subroutine

  ! Send every particle to the rank in whose block it is now.
  subroutine migrate()
    integer :: sent(ranks), got(ranks), sent_at(ranks), got_at(ranks), place(ranks), i
    integer, allocatable :: to(:)
    type(particle), allocatable :: sorted(:)
    type(MPI_Datatype) :: bytes

    allocate(to(count), sorted(count))
    sent = 0
    do i = 1, count
      to(i) = owner(particles(i)) + 1
      sent(to(i)) = sent(to(i)) + 1
    end do
    call MPI_Alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm)
    sent_at(1) = 0
    got_at(1) = 0
    do i = 2, ranks
      sent_at(i) = sent_at(i - 1) + sent(i - 1)
      got_at(i) = got_at(i - 1) + got(i - 1)
    end do
    place = sent_at
    do i = 1, count
      place(to(i)) = place(to(i)) + 1
      sorted(place(to(i))) = particles(i)
    end do
    count = 0
    call reserve(sum(got))
    count = sum(got)
    call MPI_Type_contiguous(storage_size(sorted) / 8, MPI_BYTE, bytes)
    call MPI_Type_commit(bytes)
    call MPI_Alltoallv(sorted, sent, sent_at, bytes, particles, got, got_at, bytes, comm)
    call MPI_Type_free(bytes)
  end subroutine

  ! ---- the simulation --------------------------------------------------------

  ! A number from -1 to 1 that depends on nothing but 'id' and 'which'. Products
  ! are taken modulo 2^64.
  pure function scatter(id, which) result(res)
    integer(int64), intent(in) :: id
    integer, intent(in) :: which
    real(real64) :: res
    integer(int64) :: x

    x = product_of(4 * id + which + 1, int(z'9e3779b97f4a7c15', int64))
    x = product_of(ieor(x, shiftr(x, 30)), int(z'bf58476d1ce4e5b9', int64))
    x = product_of(ieor(x, shiftr(x, 27)), int(z'94d049bb133111eb', int64))
    res = real(shiftr(x, 11), real64) * 2d0**(-52) - 1
  end function

  ! The low 64 bits of a product. Nothing overflows: Fortran does not say what
  ! would come of that.
  pure function product_of(a, b) result(res)
    integer(int64), intent(in) :: a, b
    integer(int64) :: res, low, middle, high

    low = iand(a, half_word) * iand(b, word)
    middle = iand(shiftr(a, 16), half_word) * iand(b, word) + shiftr(low, 16)
    high = shiftr(middle, 16) + low_word(shiftr(a, 32), iand(b, word)) + low_word(iand(a, word), shiftr(b, 32))
    res = ior(ior(iand(low, half_word), shiftl(iand(middle, half_word), 16)), shiftl(iand(high, word), 32))
  end function

  ! The low 32 bits of a product of two words.
  pure function low_word(a, b) result(res)
    integer(int64), intent(in) :: a, b
    integer(int64) :: res

    res = iand(a * iand(b, half_word) + shiftl(iand(a * shiftr(b, 16), half_word), 16), word)
  end function

  ! Four burners on each of two floors, one at each corner, blow past the axis of the
  ! boiler. Each rank keeps the new particles that are in its block.
  subroutine inject(from, to)
    integer(int64), intent(in) :: from, to
    integer(int64) :: id
    logical :: right, back, upper
    real(real64) :: angle
    type(particle) :: p

    do id = from, to - 1
      right = btest(id, 0)
      back = btest(id, 1)
      upper = btest(id, 2)
      angle = atan2(merge(-1d0, 1d0, back), merge(-1d0, 1d0, right)) + 0.3d0
      p%position = [0.5d0 + merge(0.46d0, -0.46d0, right) + 0.03d0 * scatter(id, 0), &
        0.5d0 + merge(0.46d0, -0.46d0, back) + 0.03d0 * scatter(id, 1), &
        merge(0.7d0, 0.3d0, upper) + 0.04d0 * scatter(id, 2)]
      p%velocity = [real(2 * cos(angle), real32), real(2 * sin(angle), real32), 0.0]
      p%temperature = 350
      p%mass = 1d-9 * (1 + 0.5d0 * scatter(id, 3))
      p%id = id
      if (owner(p) == rank) then
        call reserve(1)
        count = count + 1
        particles(count) = p
      end if
    end do
  end subroutine

  ! The more particles burn in a cell, the hotter is its gas.
  subroutine heat()
    integer :: number(cells(1), cells(2), cells(3)), at(3), i, x, y, z
    real(real64) :: usual

    usual = new_ones / 500d0
    number = 0
    do i = 1, count
      at = cell_of(particles(i)%position)
      number(at(1), at(2), at(3)) = number(at(1), at(2), at(3)) + 1
    end do
    do z = first(3), last(3)
      do y = first(2), last(2)
        do x = first(1), last(1)
          gas(x, y, z) = real(600 + 1300 * number(x, y, z) / (number(x, y, z) + usual), real32)
        end do
      end do
    end do
  end subroutine

  ! The gas turns around the axis, faster near it, rises, and waves.
  pure function flow(at, time) result(wind)
    real(real64), intent(in) :: at(3), time
    real(real64) :: wind(3), x, y, turn

    x = at(1) - 0.5d0
    y = at(2) - 0.5d0
    turn = 5 / (1 + 20 * (x * x + y * y))
    wind(1) = -turn * y + 0.25d0 * sin(9 * at(3) + 5 * y - 4 * time)
    wind(2) = turn * x + 0.25d0 * sin(7 * at(3) - 6 * x + 5 * time)
    wind(3) = 0.5d0 - 0.5d0 * (x * x + y * y) + 0.3d0 * sin(11 * x) * cos(9 * y)
  end function

  ! Drag and gravity; walls throw particles back, and the top lets them out.
  subroutine move(p, time)
    type(particle), intent(inout) :: p
    real(real64), intent(in) :: time
    real(real64) :: wind(3), v, edge
    integer :: at(3), axis

    at = cell_of(p%position)
    wind = flow(p%position, time)
    p%temperature = p%temperature + time_step * 2 * (gas(at(1), at(2), at(3)) - p%temperature)
    p%mass = p%mass * (1 - time_step * 1d-4 * max(p%temperature - 500, 0d0))
    do axis = 1, 3
      v = p%velocity(axis)
      edge = cells(axis) * cell
      v = v + time_step * (5 * (wind(axis) - v) - merge(0.5d0, 0d0, axis == 3))
      p%position(axis) = p%position(axis) + time_step * v
      if (p%position(axis) < 0 .or. (p%position(axis) >= edge .and. axis < 3)) then
        p%position(axis) = merge(-p%position(axis), 2 * edge - p%position(axis), p%position(axis) < 0)
        p%position(axis) = min(p%position(axis), nearest(edge, -1d0))
        v = -v
      end if
      p%velocity(axis) = real(v, real32)
    end do
  end subroutine

  ! From one output to the next.
  subroutine simulate()
    integer(int64) :: k
    integer :: sub, i

    do sub = 0, substeps - 1
      k = (step - 1_int64) * substeps + sub
      call inject(k * new_ones / substeps, (k + 1) * new_ones / substeps)
      call heat()
      i = 1
      do while (i <= count)
        call move(particles(i), time_step * k)
        if (particles(i)%position(3) < cells(3) * cell) then
          i = i + 1
        else
          particles(i) = particles(count)
          count = count - 1
        end if
      end do
      call migrate()
    end do
  end subroutine

  ! ---- input and output ------------------------------------------------------

  ! Open the dataset for writing and define what it holds: the same on all ranks,
  ! and again after a restart. Without ierr, a failure stops the program.
  subroutine open_output()
    type(bouma_options) :: options

    if (begin >= 0) then
      call bouma_options_set(options, 'replace', 'yes') ! steps after the one that we start from
      call bouma_dataset_append(ds, comm, path, options)
    else
      call bouma_dataset_create(ds, comm, path)
    end if
    call bouma_grid_define(grid, ds, 'gas', bouma_grid_spec(shape=cells, patch=[16, 16, 16], &
      origin=[cell, cell, cell] / 2, spacing=[cell, cell, cell], unit='m')) ! centres of cells
    call bouma_variable_define(gas_temperature, grid, 'temperature', &
      bouma_variable_spec(type=BOUMA_TYPE_F32, unit='K', tolerance=0.5d0))
    call bouma_particles_define(coal, ds, 'coal', bouma_particles_spec(ndims=3, type=BOUMA_TYPE_F64, unit='m'))
    variables(1) = bouma_particles_position(coal)
    call bouma_particles_define_variable(variables(2), coal, 'temperature', &
      bouma_variable_spec(type=BOUMA_TYPE_F64, unit='K'))
    call bouma_particles_define_variable(variables(3), coal, 'mass', &
      bouma_variable_spec(type=BOUMA_TYPE_F64, unit='kg'))
    call bouma_particles_define_variable(variables(4), coal, 'id', bouma_variable_spec(type=BOUMA_TYPE_U64))
    call bouma_particles_define_variable(variables(5), coal, 'velocity', &
      bouma_variable_spec(type=BOUMA_TYPE_F32, components=3, unit='m/s'))
  end subroutine

  ! Particles are handed over, and read, as they lie in memory: each member has the
  ! address of the first one and the distance to the next.
  subroutine describe_members(columns, of)
    type(bouma_columns), intent(out) :: columns
    type(bouma_variable), intent(in) :: of(5)
    integer :: bytes

    bytes = storage_size(particles) / 8
    call bouma_columns_add_member(columns, of(1), particles(1)%position, count, bytes)
    call bouma_columns_add_member(columns, of(2), particles(1)%temperature, count, bytes)
    call bouma_columns_add_member(columns, of(3), particles(1)%mass, count, bytes)
    call bouma_columns_add_member(columns, of(4), particles(1)%id, count, bytes, unsigned=.true.)
    call bouma_columns_add_member(columns, of(5), particles(1)%velocity, count, bytes)
  end subroutine

  subroutine write_step()
    type(bouma_columns) :: columns
    type(bouma_record) :: record
    integer :: all, most

    call describe_members(columns, variables)
    call bouma_step_begin(ds, step, time_step * substeps * step)
    call bouma_attributes_set(bouma_dataset_step_attributes(ds), 'new particles', real(new_ones, real64))
    call bouma_variable_put_borrow(gas_temperature, gas(first(1):last(1), first(2):last(2), first(3):last(3)), &
      bouma_box(first))
    call bouma_particles_put_borrow(coal, columns)
    call bouma_step_end(ds)
    call bouma_dataset_record_get(record, ds)
    call MPI_Reduce(count, all, 1, MPI_INTEGER, MPI_SUM, 0, comm)
    call MPI_Reduce(count, most, 1, MPI_INTEGER, MPI_MAX, 0, comm)
    if (rank == 0) print '(a, i3, a, i8, a, i7, a, f6.2, a, i0, a)', 'step', step, ':', all, &
      ' particles, at most', most, ' on a rank;', record%stored_bytes / 1048576d0, ' MiB in ', record%files, ' file(s)'
  end subroutine

  ! Read the particles that a step has in this rank's block, however many ranks wrote
  ! it: how many there are, and then, to their places, the particles.
  subroutine read_step()
    type(bouma_dataset) :: old
    type(bouma_step) :: from
    type(bouma_particles) :: set
    type(bouma_variable) :: of(5)
    type(bouma_query) :: query
    type(bouma_columns) :: columns
    integer(int64) :: mine
    integer :: i

    call bouma_dataset_open(old, comm, path)
    call bouma_step_open(from, old, begin)
    call bouma_attributes_get(bouma_step_attributes(from), 'new particles', new_ones)
    call bouma_step_find_particles(set, from, 'coal')
    do i = 1, 5
      call bouma_particles_find_variable(of(i), set, names(i))
    end do
    call bouma_query_box(query, (first - 1) * cell, last * cell)
    call bouma_particles_restart_into(mine, set, query=query)
    call reserve(int(mine))
    count = int(mine)
    call describe_members(columns, of)
    call bouma_particles_restart_into(mine, set, columns, query)
    call bouma_step_free(from)
    call bouma_dataset_free(old)
  end subroutine
end program boiler
