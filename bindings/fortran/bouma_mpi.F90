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

  private :: dataset_create_integer, dataset_append_integer, dataset_open_integer, verify_integer
#ifndef BOUMA_NO_MPI_F08
  private :: dataset_create_f08, dataset_append_f08, dataset_open_f08, verify_f08
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

  subroutine verify_integer(report, comm, path, depth, options, ierr, errmsg)
    use iso_c_binding, only: c_char, c_int, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_size_t
    use bouma_c, only: bouma_verify_fint_c, bouma_options_c, bouma_verify_report_c
    use bouma_internals, only: c_text, c_texts, give_options, finish_with_text, take_verify_report
    type(bouma_verify_report), intent(out) :: report
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: depth
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg
    type(bouma_options_c), target :: raw
    type(bouma_verify_report_c), target :: told
    type(c_texts), target :: texts
    character(c_char), allocatable, target :: path_c(:)
    character(c_char), target :: text_c(1000)
    integer(c_int) :: rc

    call give_options(raw, texts, options)
    call c_text(path_c, path)
    text_c = c_null_char
    rc = bouma_verify_fint_c(c_loc(told), int(comm, c_int), c_loc(path_c), int(depth, c_int), c_loc(raw), &
      c_null_funptr, c_null_ptr, c_loc(text_c), size(text_c, kind=c_size_t))
    call take_verify_report(report, told)
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

  subroutine verify_f08(report, comm, path, depth, options, ierr, errmsg)
    use mpi_f08, only: MPI_Comm
    type(bouma_verify_report), intent(out) :: report
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    integer, intent(in) :: depth
    type(bouma_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    character(*), intent(inout), optional :: errmsg

    call verify_integer(report, comm%MPI_VAL, path, depth, options, ierr, errmsg)
  end subroutine
#endif
end module bouma_mpi
