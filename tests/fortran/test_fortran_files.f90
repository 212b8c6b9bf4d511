! test_fortran_files.f90 -- plain files in Fortran: arrays of any kind and rank at
! their offsets, and what is refused.
!
!   test_fortran_files FOLDER
program test_fortran_files
  use iso_fortran_env, only: int32, int64, real32, real64
  use bouma
  use claims
  implicit none

  call arrays_lie_at_their_offsets()
  call a_declaration_holds_for_several_writes()
  call mistakes_are_refused()
  call end_of_claims()

contains

  subroutine arrays_lie_at_their_offsets()
    type(bouma_file) :: file
    type(bouma_pieces) :: pieces, back
    type(bouma_file_report) :: report
    real(real64), target :: heat(3, 2), heat_back(3, 2)
    integer(int32), target :: ids(4), ids_back(4)
    integer(int64) :: offset
    real(real32), target :: none(0)
    character(:), allocatable :: path, next
    integer :: unit, group, rank, ranks

    path = in_place('arrays.dat')
    next = in_place('next.dat')
    heat = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [3, 2])
    ids = [7, 8, 9, 10]
    offset = 100
    call bouma_pieces_add(pieces, heat, 8)
    call bouma_pieces_add(pieces, ids, offset)
    call bouma_pieces_add(pieces, none, 0)
    call bouma_file_open(file, path, BOUMA_FILE_MODE_CREATE)
    call bouma_file_group(file, group, rank, ranks)
    call claim(group == 0 .and. rank == 0 .and. ranks == 1, 'a serial program is one group of one rank')
    call bouma_file_declare(file, pieces)
    call bouma_file_write(file, pieces)
    call bouma_file_report_get(report, file)
    call claim(report%bytes == 64, 'the report counts 64 bytes')
    call bouma_file_reopen(file, next, BOUMA_FILE_MODE_CREATE)
    call bouma_file_write(file, pieces)
    call bouma_file_close(file)
    call bouma_file_free(file)

    open(newunit=unit, file=path, access='stream', form='unformatted', status='old')
    read(unit, pos=9) heat_back
    read(unit, pos=101) ids_back
    close(unit)
    call claim(all(heat == heat_back) .and. all(ids == ids_back), 'Fortran reads what was written')
    heat_back = 0
    open(newunit=unit, file=next, access='stream', form='unformatted', status='old')
    read(unit, pos=9) heat_back
    close(unit)
    call claim(all(heat == heat_back), 'the next file has the same')

    heat_back = 0
    ids_back = 0
    call bouma_pieces_add(back, heat_back, 8)
    call bouma_pieces_add(back, ids_back(4:4), 112)
    call bouma_file_open(file, path, BOUMA_FILE_MODE_READ)
    call bouma_file_declare(file, back)
    call bouma_file_read(file, back)
    call bouma_file_close(file)
    call bouma_file_free(file)
    call claim(all(heat == heat_back) .and. all(ids_back == [0, 0, 0, 10]), 'and so does bouma')
  end subroutine

  subroutine a_declaration_holds_for_several_writes()
    type(bouma_file) :: file
    type(bouma_pieces) :: one, other
    integer(int32), target :: a(5), b(5), back(5)
    character(:), allocatable :: path
    integer :: unit

    path = in_place('again.dat')
    a = 1
    b = 2
    call bouma_pieces_add(one, a, 0)
    call bouma_pieces_add(other, b, 0)
    call bouma_file_open(file, path, BOUMA_FILE_MODE_UPDATE)
    call bouma_file_declare(file, one)
    call bouma_file_write(file, one)
    call bouma_file_write(file, other)
    call bouma_file_declare(file)
    call bouma_file_write(file)
    call bouma_file_close(file)
    call bouma_file_free(file)
    open(newunit=unit, file=path, access='stream', form='unformatted', status='old')
    read(unit) back
    close(unit)
    call claim(all(back == 2), 'the last write counts')
  end subroutine

  subroutine mistakes_are_refused()
    type(bouma_file) :: file
    type(bouma_pieces) :: pieces, wrong, none
    integer(int32), target :: a(8)
    character(300) :: text
    integer :: ierr

    a = 0
    text = ''
    call bouma_file_write(file, ierr=ierr, errmsg=text)
    call claim(ierr == BOUMA_EINVAL, 'a file that was not opened')
    call says(text, 'type(bouma_file): nothing was opened')
    call bouma_file_open(file, in_place('no such place/x.dat'), BOUMA_FILE_MODE_READ, ierr=ierr, errmsg=text)
    call claim(ierr /= BOUMA_OK, 'a file that is not there')
    call says(text, 'no such place')
    call claim(bouma_error_message(file) == text, 'and the handle has the message, too')
    call bouma_file_free(file)

    call bouma_file_open(file, in_place('wrong.dat'), BOUMA_FILE_MODE_CREATE)
    call bouma_pieces_add(pieces, a, 0)
    call bouma_file_write(file, pieces, ierr, text)
    call claim(ierr == BOUMA_ESTATE, 'nothing is declared')
    call bouma_file_declare(file, pieces)
    call bouma_pieces_add(wrong, a(1:7), 0)
    call bouma_file_write(file, wrong, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'an array of another size is refused')
    call says(text, 'other sizes')
    call bouma_file_write(file, none, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'and so is none')
    call bouma_pieces_add(wrong, a(1:8:2), 0, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'gaps are refused')
    call says(text, 'gaps')
    call bouma_file_declare(file, wrong, ierr, text)
    call claim(ierr == BOUMA_EINVAL, 'and fail the declaration')
    call says(text, 'gaps')
    call bouma_file_close(file)
    call bouma_file_free(file)
  end subroutine
end program test_fortran_files
