/* Attributes as the program's own types: converted where nothing is lost. */
#include <math.h>

#include "bouma.h"
#include "check.h"
#include "must.h"
#include "tells.h"

static bouma_io *io;
static bouma_dataset *ds;
static bouma_attributes *a;

/* The status of both conversions of one value. */
static void both(bouma_type type, const void *value, int number, int integer)
{
    double f = 7;
    int64_t i = 7;

    MUST(ds, bouma_attributes_set(a, "v", type, 1, value));
    CHECK_EQ(bouma_attributes_get_number(&f, a, "v"), number);
    CHECK_EQ(bouma_attributes_get_int64(&i, a, "v"), integer);
    CHECK(!number || f == 0);
    CHECK(!integer || i == 0);
}

/* A value of each type that both know: 100. */
static void numbers_of_all_types_are_numbers(void)
{
#define SAME(type, ctype)                                                      \
    do {                                                                       \
        ctype value = 100;                                                     \
        double f = 0;                                                          \
        int64_t i = 0;                                                         \
                                                                               \
        MUST(ds, bouma_attributes_set(a, "v", type, 1, &value));               \
        CHECK_EQ(bouma_attributes_get_number(&f, a, "v"), BOUMA_OK);           \
        CHECK_EQ(bouma_attributes_get_int64(&i, a, "v"), BOUMA_OK);            \
        CHECK(f == 100 && i == 100);                                           \
    } while (0)
    SAME(BOUMA_TYPE_I8, int8_t);
    SAME(BOUMA_TYPE_I16, int16_t);
    SAME(BOUMA_TYPE_I32, int32_t);
    SAME(BOUMA_TYPE_I64, int64_t);
    SAME(BOUMA_TYPE_U8, uint8_t);
    SAME(BOUMA_TYPE_U16, uint16_t);
    SAME(BOUMA_TYPE_U32, uint32_t);
    SAME(BOUMA_TYPE_U64, uint64_t);
    SAME(BOUMA_TYPE_F32, float);
    SAME(BOUMA_TYPE_F64, double);
#undef SAME
}

static void nothing_is_lost(void)
{
    const int64_t exact[] = {INT64_MIN, (int64_t)1 << 53, -((int64_t)1 << 62)};
    const int64_t between[] = {((int64_t)1 << 53) + 1, INT64_MAX,
                               -((int64_t)1 << 53) - 1};
    const uint64_t large[] = {(uint64_t)1 << 63, UINT64_MAX, INT64_MAX};
    const double whole[] = {-0x1p63, 0, -0.0, 0x1p53, 0x1.8p62};
    const double others[] = {0.5, 0x1p63, -0x1.0000000000001p63, 1e300,
                             INFINITY};
    const float odd = 0.1f;
    double back;

    for (size_t i = 0; i < 3; i++) {
        both(BOUMA_TYPE_I64, &exact[i], BOUMA_OK, BOUMA_OK);
        both(BOUMA_TYPE_I64, &between[i], BOUMA_EINVAL, BOUMA_OK);
    }
    both(BOUMA_TYPE_U64, &large[0], BOUMA_OK, BOUMA_EINVAL);
    both(BOUMA_TYPE_U64, &large[1], BOUMA_EINVAL, BOUMA_EINVAL);
    both(BOUMA_TYPE_U64, &large[2], BOUMA_EINVAL, BOUMA_OK);
    for (size_t i = 0; i < 5; i++) {
        both(BOUMA_TYPE_F64, &whole[i], BOUMA_OK, BOUMA_OK);
        both(BOUMA_TYPE_F64, &others[i], BOUMA_OK, BOUMA_EINVAL);
    }
    both(BOUMA_TYPE_F32, &odd, BOUMA_OK, BOUMA_EINVAL);
    CHECK(!bouma_attributes_get_number(&back, a, "v") && back == (double)odd);
    MUST(ds, bouma_attributes_set_number(a, "v", NAN));
    CHECK(!bouma_attributes_get_number(&back, a, "v") && isnan(back));
    TELLS(ds, bouma_attributes_get_int64(&(int64_t){0}, a, "v"), BOUMA_EINVAL,
          "cannot be converted to int64_t exactly");
    MUST(ds, bouma_attributes_set_int64(a, "v", INT64_MAX));
    TELLS(ds, bouma_attributes_get_number(&back, a, "v"), BOUMA_EINVAL,
          "its value 9223372036854775807 cannot be converted to double "
          "exactly; its type is i64");
}

static void arrays_have_their_number_of_values(void)
{
    const uint16_t three[3] = {1, 2, 65535};
    const double halves[2] = {1, 1.5};
    double f[4] = {9, 9, 9, 9};
    int64_t i[3];

    MUST(ds, bouma_attributes_set(a, "three", BOUMA_TYPE_U16, 3, three));
    MUST(ds, bouma_attributes_set(a, "halves", BOUMA_TYPE_F64, 2, halves));
    MUST(ds, bouma_attributes_set(a, "none", BOUMA_TYPE_I8, 0, NULL));
    CHECK_EQ(bouma_attributes_get_numbers(f, 3, a, "three"), BOUMA_OK);
    CHECK(f[0] == 1 && f[1] == 2 && f[2] == 65535 && f[3] == 9);
    CHECK_EQ(bouma_attributes_get_int64s(i, 3, a, "three"), BOUMA_OK);
    CHECK(i[0] == 1 && i[1] == 2 && i[2] == 65535);
    TELLS(ds, bouma_attributes_get_numbers(f, 4, a, "three"), BOUMA_EINVAL,
          "has 3 values, not 4");
    TELLS(ds, bouma_attributes_get_number(f, a, "three"), BOUMA_EINVAL,
          "has 3 values, not 1");
    CHECK(f[0] == 0);
    CHECK_EQ(bouma_attributes_get_numbers(f, 2, a, "halves"), BOUMA_OK);
    CHECK(f[1] == 1.5);
    CHECK_EQ(bouma_attributes_get_int64s(i, 2, a, "halves"), BOUMA_EINVAL);
    CHECK(i[0] == 0 && i[1] == 0 && i[2] == 65535);
    CHECK_EQ(bouma_attributes_get_numbers(f, 0, a, "none"), BOUMA_OK);
    CHECK_EQ(bouma_attributes_get_number(f, a, "none"), BOUMA_EINVAL);
}

static void text_is_text(void)
{
    const char *text = "x";
    double f;

    MUST(ds, bouma_attributes_set_text(a, "t", "caf\xc3\xa9"));
    CHECK_EQ(bouma_attributes_get_text(&text, a, "t"), BOUMA_OK);
    CHECK(!strcmp(text, "caf\xc3\xa9"));
    TELLS(ds, bouma_attributes_get_number(&f, a, "t"), BOUMA_EINVAL,
          "attribute \"t\" is a text, not a number");
    MUST(ds, bouma_attributes_set_text(a, "t", ""));
    CHECK(!bouma_attributes_get_text(&text, a, "t") && !*text);
    MUST(ds, bouma_attributes_set(a, "t", BOUMA_TYPE_STRING, 3, "a\0b"));
    TELLS(ds, bouma_attributes_get_text(&text, a, "t"), BOUMA_EINVAL,
          "has a zero byte");
    CHECK(!text);
    MUST(ds, bouma_attributes_set_int64(a, "n", 5));
    TELLS(ds, bouma_attributes_get_text(&text, a, "n"), BOUMA_EINVAL,
          "attribute \"n\" is a number, not a text");
}

static void what_is_missing_is_told(void)
{
    const char *text = "x";
    int64_t i = 7;
    double f = 7;

    TELLS(ds, bouma_attributes_get_text(&text, a, "else"), BOUMA_ENOTFOUND,
          "there is no attribute \"else\"");
    TELLS(ds, bouma_attributes_get_number(&f, a, "else"), BOUMA_ENOTFOUND,
          "there is no attribute");
    TELLS(ds, bouma_attributes_get_int64(&i, a, NULL), BOUMA_ENOTFOUND,
          "there is no attribute");
    CHECK(!text && f == 0 && i == 0);
    TELLS(ds, bouma_attributes_get_number(NULL, a, "n"), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_attributes_get_text(NULL, a, "t"), BOUMA_EINVAL,
          "the pointer for ");
    CHECK_EQ(bouma_attributes_get_number(&f, NULL, "n"), BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set_int64(NULL, "n", 1), BOUMA_ESTATE);
}

int main(void)
{
    bouma_options o = {.size = sizeof(o)};

    io = bouma_io_memory_new();
    REQUIRE(io);
    o.io = io;
    MUST(ds, bouma_dataset_create(&ds, "d.bouma", &o));
    a = bouma_dataset_attributes(ds);
    numbers_of_all_types_are_numbers();
    nothing_is_lost();
    arrays_have_their_number_of_values();
    text_is_text();
    what_is_missing_is_told();
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    return check_result();
}
