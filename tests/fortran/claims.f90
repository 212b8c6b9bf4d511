! claims.f90 -- what a test claims: those that do not hold are printed, and the test
! fails at its end.
module claims
  use iso_fortran_env, only: error_unit
  implicit none
  integer, private :: wrong = 0

contains

  subroutine claim(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    write (error_unit, '(a)') 'does not hold: ' // what
    wrong = wrong + 1
  end subroutine

  ! Text has a word in it.
  subroutine says(text, word)
    character(*), intent(in) :: text, word

    call claim(index(text, word) > 0, 'the message has "' // word // '": ' // trim(text))
  end subroutine

  subroutine end_of_claims()
    if (wrong > 0) stop 1, quiet=.true.
  end subroutine

  ! A path in the directory of this test, which is its first argument.
  function in_place(name) result(path)
    character(*), intent(in) :: name
    character(:), allocatable :: path
    character(500) :: folder

    call get_command_argument(1, folder)
    path = trim(folder) // '/' // name
    call execute_command_line('rm -rf "' // path // '" && mkdir -p "' // trim(folder) // '"')
  end function
end module claims
