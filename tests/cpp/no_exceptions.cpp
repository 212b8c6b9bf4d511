/* no_exceptions.cpp -- bouma.hpp compiled with -fno-exceptions: statuses work, and a
 * call that fails without one prints its message and aborts. */
#include <bouma.hpp>

#include <cstdio>

int main(int argc, char **)
{
    bouma::status st;
    bouma::dataset none = bouma::dataset::open("not there.bouma", {}, &st);

    if (st || none || st.code != BOUMA_ENOTFOUND)
        return 1;
    std::puts("told");
    if (argc > 1)
        bouma::dataset::open("not there.bouma");
    return 0;
}
