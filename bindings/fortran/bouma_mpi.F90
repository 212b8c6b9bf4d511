! bouma_mpi.F90 -- bouma in Fortran programs with MPI: everything that the module
! bouma has, and the calls that take a communicator. It may be an integer, as with
! "use mpi" and mpif.h, or a type(MPI_Comm), as with "use mpi_f08":
!
!     call bouma_dataset_create(run, MPI_COMM_WORLD, 'run.bouma')
!
! With BOUMA_NO_MPI_F08, for an MPI without that module, it is an integer only.
module bouma_mpi
  use bouma
  implicit none

  interface bouma_dataset_create
    module procedure dataset_create_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure dataset_create_f08
#endif
  end interface
  interface bouma_dataset_append
    module procedure dataset_append_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure dataset_append_f08
#endif
  end interface
  interface bouma_dataset_open
    module procedure dataset_open_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure dataset_open_f08
#endif
  end interface
  interface bouma_verify
    module procedure verify_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure verify_f08
#endif
  end interface
  interface bouma_file_open
    module procedure file_open_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure file_open_f08
#endif
  end interface
  interface bouma_probe
    module procedure probe_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure probe_f08
#endif
  end interface
  interface bouma_drain
    module procedure drain_integer
#ifndef BOUMA_NO_MPI_F08
    module procedure drain_f08
#endif
  end interface

  private :: dataset_create_integer, dataset_append_integer, dataset_open_integer, verify_integer
  private :: file_open_integer, probe_integer, drain_integer
#ifndef BOUMA_NO_MPI_F08
  private :: dataset_create_f08, dataset_append_f08, dataset_open_f08, verify_f08
  private :: file_open_f08, probe_f08, drain_f08
#endif

contains

  subroutine dataset_create_integer(out, comm, path, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc
    use bouma_c, only: bouma_dataset_create_fint_c, bouma_options_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_dataset
    type(bouma_dataset), intent(out), target :: out
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    rc = bouma_dataset_create_fint_c(c_loc(out%ptr), int(comm, c_int), c_loc(path_c), c_loc(raw))
    call finish_dataset(rc, out%ptr, ierr, errmsg)
  end subroutine

  subroutine dataset_append_integer(out, comm, path, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc
    use bouma_c, only: bouma_dataset_append_fint_c, bouma_options_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_dataset
    type(bouma_dataset), intent(out), target :: out
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    rc = bouma_dataset_append_fint_c(c_loc(out%ptr), int(comm, c_int), c_loc(path_c), c_loc(raw))
    call finish_dataset(rc, out%ptr, ierr, errmsg)
  end subroutine

  subroutine dataset_open_integer(out, comm, path, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc
    use bouma_c, only: bouma_dataset_open_fint_c, bouma_options_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_dataset
    type(bouma_dataset), intent(out), target :: out
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    rc = bouma_dataset_open_fint_c(c_loc(out%ptr), int(comm, c_int), c_loc(path_c), c_loc(raw))
    call finish_dataset(rc, out%ptr, ierr, errmsg)
  end subroutine

  subroutine file_open_integer(out, comm, path, mode, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc
    use bouma_c, only: bouma_file_open_fint_c, bouma_options_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_file
    type(bouma_file), intent(out), target :: out
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: mode
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    rc = bouma_file_open_fint_c(c_loc(out%ptr), int(comm, c_int), c_loc(path_c), int(mode, c_int), c_loc(raw))
    call finish_file(rc, out%ptr, ierr, errmsg)
  end subroutine

  subroutine verify_integer(report, comm, path, depth, options, findings, ierr, errmsg)
    use iso_c_binding, only: c_char, c_funloc, c_int, c_loc, c_null_char, c_size_t
    use bouma_c, only: bouma_verify_fint_c, bouma_options_c, bouma_verify_report_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_with_text, take_verify_report, &
      list_of_findings, collect_findings
    type(bouma_verify_report), intent(out) :: report
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: depth
    type(bouma_options), intent(in), optional :: options
    type(bouma_finding), allocatable, intent(out), optional :: findings(:)
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(bouma_verify_report_c), target :: told
    type(list_of_findings), target :: list
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    character(c_char), target :: text_c(1000)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    text_c = c_null_char
    allocate(list%all(0))
    rc = bouma_verify_fint_c(c_loc(told), int(comm, c_int), c_loc(path_c), int(depth, c_int), c_loc(raw), &
      c_funloc(collect_findings), c_loc(list), c_loc(text_c), size(text_c, kind=c_size_t))
    call take_verify_report(report, told)
    if (present(findings)) call move_alloc(list%all, findings)
    call finish_with_text(rc, text_c, ierr, errmsg)
  end subroutine

  subroutine probe_integer(report, comm, spec, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc, c_null_char, c_size_t
    use bouma_c, only: bouma_probe_fint_c, bouma_options_c, bouma_probe_report_c, bouma_probe_spec_c
    use bouma_internals, only: c_texts, give_options, give_probe_spec, finish_with_text, take_probe_report
    type(bouma_probe_report), intent(out) :: report
    integer, intent(in) :: comm
    type(bouma_probe_spec), intent(in) :: spec
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(bouma_probe_spec_c), target :: raw_spec
    type(bouma_probe_report_c), target :: told
    type(c_texts), target :: texts
    character(c_char), target :: text_c(1000)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call give_probe_spec(raw_spec, texts, spec)
    text_c = c_null_char
    rc = bouma_probe_fint_c(c_loc(told), int(comm, c_int), c_loc(raw_spec), c_loc(raw), c_loc(text_c), &
      size(text_c, kind=c_size_t))
    call take_probe_report(report, told)
    call finish_with_text(rc, text_c, ierr, errmsg)
  end subroutine

  subroutine drain_integer(report, comm, local, path, remove, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc, c_null_char, c_size_t
    use bouma_c, only: bouma_drain_fint_c, bouma_options_c, bouma_drain_report_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_with_text, take_drain_report
    type(bouma_drain_report), intent(out) :: report
    integer, intent(in) :: comm
    character(*), intent(in) :: local, path
    logical, intent(in) :: remove
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(bouma_drain_report_c), target :: told
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: local_c(:), path_c(:)
    character(c_char), target :: text_c(1000)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(local_c, local)
    call c_text(path_c, path)
    text_c = c_null_char
    rc = bouma_drain_fint_c(c_loc(told), int(comm, c_int), c_loc(local_c), c_loc(path_c), &
      merge(1_c_int, 0_c_int, remove), c_loc(raw), c_loc(text_c), size(text_c, kind=c_size_t))
    call take_drain_report(report, told)
    call finish_with_text(rc, text_c, ierr, errmsg)
  end subroutine

#ifndef BOUMA_NO_MPI_F08

  subroutine dataset_create_f08(out, comm, path, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_dataset), intent(out) :: out
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call dataset_create_integer(out, comm%MPI_VAL, path, options, ierr, errmsg)
  end subroutine

  subroutine dataset_append_f08(out, comm, path, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_dataset), intent(out) :: out
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call dataset_append_integer(out, comm%MPI_VAL, path, options, ierr, errmsg)
  end subroutine

  subroutine dataset_open_f08(out, comm, path, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_dataset), intent(out) :: out
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call dataset_open_integer(out, comm%MPI_VAL, path, options, ierr, errmsg)
  end subroutine

  subroutine file_open_f08(out, comm, path, mode, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_file), intent(out) :: out
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: mode
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call file_open_integer(out, comm%MPI_VAL, path, mode, options, ierr, errmsg)
  end subroutine

  subroutine verify_f08(report, comm, path, depth, options, findings, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_verify_report), intent(out) :: report
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: depth
    type(bouma_options), intent(in), optional :: options
    type(bouma_finding), allocatable, intent(out), optional :: findings(:)
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call verify_integer(report, comm%MPI_VAL, path, depth, options, findings, ierr, errmsg)
  end subroutine

  subroutine probe_f08(report, comm, spec, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_probe_report), intent(out) :: report
    type(MPI_Comm), intent(in) :: comm
    type(bouma_probe_spec), intent(in) :: spec
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call probe_integer(report, comm%MPI_VAL, spec, options, ierr, errmsg)
  end subroutine

  subroutine drain_f08(report, comm, local, path, remove, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_drain_report), intent(out) :: report
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: local, path
    logical, intent(in) :: remove
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call drain_integer(report, comm%MPI_VAL, local, path, remove, options, ierr, errmsg)
  end subroutine
#endif
end module bouma_mpi
