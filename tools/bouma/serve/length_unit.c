/* length_unit.c -- units of length. */
#include "length_unit.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *texts; /* with blanks between */
    struct length_unit unit;
} known[] = {
    {"m meter metre meters metres", {"meter", 1}},
    {"dm decimeter decimetre", {"decimeter", 1e-1}},
    {"cm centimeter centimetre", {"centimeter", 1e-2}},
    {"mm millimeter millimetre", {"millimeter", 1e-3}},
    {"um \xc2\xb5m \xce\xbcm micron micrometer micrometre",
     {"micrometer", 1e-6}},
    {"nm nanometer nanometre", {"nanometer", 1e-9}},
    {"pm picometer picometre", {"picometer", 1e-12}},
    {"fm femtometer femtometre", {"femtometer", 1e-15}},
    {"km kilometer kilometre", {"kilometer", 1e3}},
    {"angstrom Angstrom \xc3\x85", {"angstrom", 1e-10}},
    {"inch in", {"inch", 0.0254}},
    {"ft foot", {"foot", 0.3048}},
    {"yd yard", {"yard", 0.9144}},
    {"mile mi", {"mile", 1609.344}},
    {"pc parsec", {"parsec", 3.0856775814913673e16}},
};

const struct length_unit *length_unit_find(const char *text)
{
    size_t length = text ? strlen(text) : 0;

    for (size_t i = 0; length && i < sizeof(known) / sizeof(*known); i++) {
        const char *words = known[i].texts;

        while (*words) {
            size_t word = strcspn(words, " ");

            if (word == length && memcmp(words, text, length) == 0)
                return &known[i].unit;
            words += word + (words[word] == ' ');
        }
    }
    return NULL;
}
