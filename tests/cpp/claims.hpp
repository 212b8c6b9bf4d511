/* claims.hpp -- what the tests of bouma.hpp share. */
#ifndef CLAIMS_HPP
#define CLAIMS_HPP

#include <bouma.hpp>

#include <cstdio>
#include <string>

static int failed;
static std::string folder;

#define CHECK(claim)                                                           \
    do {                                                                       \
        if (!(claim)) {                                                        \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);    \
            failed++;                                                          \
        }                                                                      \
    } while (0)

inline bool has(const std::string &text, const char *part)
{
    bool found = text.find(part) != std::string::npos;
    if (!found)
        std::printf("\"%s\" does not have \"%s\"\n", text.c_str(), part);
    return found;
}

/* Calls that must throw. */
template <class Call> static int code_of(Call call, std::string *text = nullptr)
{
    try {
        call();
    } catch (const bouma::error &e) {
        if (text)
            *text = e.what();
        return e.code();
    }
    return BOUMA_OK;
}

#endif
