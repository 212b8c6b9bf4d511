! test_fortran_kinds.F90 -- every kind and rank of arrays is put, by borrowing and by
! copying, and read back: into the same kind, and converted.
!
!   test_fortran_kinds FOLDER
program test_fortran_kinds
  use iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use bouma
  use claims
  implicit none
  character(:), allocatable :: path

  path = in_place('kinds.bouma')
  call i8()
  call i16()
  call i32()
  call i64()
  call r32()
  call r64()
  call unsigned_integers()
  call values_that_do_not_fit()
  call end_of_claims()

contains

  subroutine begin(run, grid, shape)
    type(bouma_dataset), intent(out) :: run
    type(bouma_grid), intent(out) :: grid
    integer, intent(in) :: shape(:)
    type(bouma_options) :: options

    call bouma_options_set(options, 'clobber', 'yes')
    call bouma_options_set(options, 'durability', 'fast')
    call bouma_dataset_create(run, path, options)
    call bouma_grid_define(grid, run, 'grid', bouma_grid_spec(shape=shape))
  end subroutine

  ! An array of rank 4 has two components.
  subroutine define(v, grid, name, type, rank)
    type(bouma_variable), intent(out) :: v
    type(bouma_grid), intent(in) :: grid
    character(*), intent(in) :: name
    integer, intent(in) :: type, rank

    call bouma_variable_define(v, grid, name, bouma_variable_spec(type=type, components=merge(2, 1, rank == 4)))
  end subroutine

  subroutine reopen(run, step, grid)
    type(bouma_dataset), intent(inout) :: run
    type(bouma_step), intent(out) :: step
    type(bouma_grid), intent(out) :: grid

    call bouma_step_end(run)
    call bouma_dataset_close(run)
    call bouma_dataset_free(run)
    call bouma_dataset_open(run, path)
    call bouma_step_open(step, run, 0)
    call bouma_step_find_grid(grid, step, 'grid')
  end subroutine

  subroutine finish(run, step)
    type(bouma_dataset), intent(inout) :: run
    type(bouma_step), intent(inout) :: step

    call bouma_step_free(step)
    call bouma_dataset_free(run)
  end subroutine

  ! 200 is -56 in an integer(int8) that is taken as unsigned.
  subroutine unsigned_integers()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    type(bouma_step) :: step
    integer(int8), target :: a(4), b(4)
    integer(int32) :: wide(4)

    a = [integer(int8) :: 1, -56, 3, -1]
    call begin(run, grid, [4])
    call define(v, grid, 'v', BOUMA_TYPE_U8, 1)
    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(v, a, unsigned=.true.)
    call reopen(run, step, grid)
    call bouma_grid_find_variable(v, grid, 'v')
    call bouma_variable_read(v, wide)
    call claim(all(wide == [1, 200, 3, 255]), 'unsigned integers')
    call bouma_variable_read(v, b, unsigned=.true.)
    call claim(all(a == b), 'unsigned integers, read')
    call finish(run, step)
  end subroutine

  subroutine values_that_do_not_fit()
    type(bouma_dataset) :: run
    type(bouma_grid) :: grid
    type(bouma_variable) :: v
    type(bouma_step) :: step
    real(real64), target :: a(3)
    integer(int32) :: b(3)
    integer :: ierr
    character(200) :: text

    a = [1d0, 2.5d0, 3d0]
    call begin(run, grid, [3])
    call define(v, grid, 'v', BOUMA_TYPE_F64, 1)
    call bouma_step_begin(run, 0, 0.0)
    call bouma_variable_put_borrow(v, a)
    call reopen(run, step, grid)
    call bouma_grid_find_variable(v, grid, 'v')
    call bouma_variable_read(v, b, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'a value that is no integer')
    call says(text, '2.5')
    call bouma_variable_read(v, b, convert=BOUMA_CONVERT_ROUND)
    call claim(all(b == [1, 2, 3]), 'rounded to the even one')
    call finish(run, step)
  end subroutine

#define NAME i8
#define KIND integer(int8)
#define TYPE BOUMA_TYPE_I8
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE

#define NAME i16
#define KIND integer(int16)
#define TYPE BOUMA_TYPE_I16
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE

#define NAME i32
#define KIND integer(int32)
#define TYPE BOUMA_TYPE_I32
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE

#define NAME i64
#define KIND integer(int64)
#define TYPE BOUMA_TYPE_I64
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE

#define NAME r32
#define KIND real(real32)
#define TYPE BOUMA_TYPE_F32
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE

#define NAME r64
#define KIND real(real64)
#define TYPE BOUMA_TYPE_F64
#include "kinds.inc"
#undef NAME
#undef KIND
#undef TYPE
end program test_fortran_kinds
