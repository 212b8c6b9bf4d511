/* test_number_text.c -- numbers in text keep every digit that their type has
 * room for, and are refused where it has none. */
#include <math.h>

#include "check.h"
#include "number_text.h"

static struct number_text parse(const char *text)
{
    struct number_text number;

    number_text_parse(&number, text, strlen(text));
    return number;
}

static bool fits(const char *text, bouma_type type)
{
    struct number_text number = parse(text);
    char value[8];

    return number_text_store(value, type, &number);
}

static void kinds_are_told_apart(void)
{
    CHECK_EQ(parse("12").kind, NUMBER_SIGNED);
    CHECK_EQ(parse("-9223372036854775808").kind, NUMBER_SIGNED);
    CHECK_EQ(parse("-9223372036854775808").i, INT64_MIN);
    CHECK_EQ(parse("9223372036854775808").kind, NUMBER_UNSIGNED);
    CHECK_EQ(parse("18446744073709551616").kind, NUMBER_REAL);
    CHECK_EQ(parse("-9223372036854775809").kind, NUMBER_REAL);
    CHECK_EQ(parse("1e3").kind, NUMBER_REAL);
    CHECK(parse("-.5E-2").f == -.5e-2);
    CHECK(isnan(parse("NaN").f));
    CHECK(isinf(parse("-inf").f));
    CHECK_EQ(parse("-inf").kind, NUMBER_REAL);
    CHECK_EQ(parse("1e400").kind, NUMBER_BEYOND);
    CHECK_EQ(parse("-1e309").kind, NUMBER_BEYOND);
    CHECK_EQ(parse("1e308").kind, NUMBER_REAL);
    CHECK_EQ(parse("1e-400").kind, NUMBER_REAL); /* 0 is the nearest */
    CHECK(signbit(parse("-0").f));
    for (const char *const *text =
             (const char *const[]){"", "-", ".", "e5", "0x10", "1 2", " 1",
                                   "1,", "nan(1)", "1d5", "--1", "infinite",
                                   NULL};
         *text; text++)
        CHECK_EQ(parse(*text).kind, NUMBER_NONE);
}

static void values_fit_or_are_refused(void)
{
    CHECK(fits("127", BOUMA_TYPE_I8) && !fits("128", BOUMA_TYPE_I8));
    CHECK(fits("-128", BOUMA_TYPE_I8) && !fits("-129", BOUMA_TYPE_I8));
    CHECK(fits("255", BOUMA_TYPE_U8) && !fits("256", BOUMA_TYPE_U8));
    CHECK(!fits("-1", BOUMA_TYPE_U64) &&
          fits("18446744073709551615", BOUMA_TYPE_U64));
    CHECK(!fits("9223372036854775808", BOUMA_TYPE_I64));
    CHECK(fits("3.0", BOUMA_TYPE_I16) && !fits("3.5", BOUMA_TYPE_I16));
    CHECK(!fits("nan", BOUMA_TYPE_I32) && fits("nan", BOUMA_TYPE_F32));
    CHECK(fits("inf", BOUMA_TYPE_F32) && !fits("1e39", BOUMA_TYPE_F32));
    CHECK(fits("1e39", BOUMA_TYPE_F64));
    CHECK(!fits("1e400", BOUMA_TYPE_F64) && !fits("1e400", BOUMA_TYPE_F32));
}

static void digits_that_f64_drops_are_known(void)
{
    CHECK(!parse("9007199254740992").rounded);
    CHECK(parse("9007199254740993").rounded);
    CHECK(parse("-9007199254740993").rounded);
    CHECK(!parse("-9223372036854775808").rounded);
    CHECK(parse("9223372036854775807").rounded);
    CHECK(!parse("9223372036854775808").rounded);
    CHECK(parse("18446744073709551615").rounded);
    CHECK(!parse("18446744073709551616").rounded);
    CHECK(parse("-18446744073709551617").rounded);
    CHECK(!parse("+0010000000000000000000000").rounded); /* 1e22 */
    CHECK(parse("100000000000000000000000").rounded);    /* 1e23 */
    CHECK(!parse("0.1").rounded && !parse("1e23").rounded);
    CHECK(!parse("inf").rounded && !parse("nan").rounded);
    for (int asked = 0; asked < 2; asked++) {
        struct number_text n = parse("9007199254740993");

        CHECK_EQ(number_text_why(&n, BOUMA_TYPE_F64, asked) != NULL, !asked);
        CHECK(!number_text_why(&n, BOUMA_TYPE_I64, asked));
        CHECK(!number_text_why(&n, BOUMA_TYPE_U64, asked));
    }
}

static void numbers_that_become_0_are_known(void)
{
    struct number_text n = parse("1e-400");

    CHECK(n.tiny && number_text_vanishes(&n, BOUMA_TYPE_F64));
    CHECK(!fits("1e-400", BOUMA_TYPE_I32) && fits("1e-400", BOUMA_TYPE_F64));
    CHECK(parse("-0.001e-999").tiny);
    CHECK(!parse("0e5").tiny && !parse("0.00").tiny && !parse("5e-324").tiny);
    n = parse("1e-50");
    CHECK(!n.tiny && number_text_vanishes(&n, BOUMA_TYPE_F32) &&
          !number_text_vanishes(&n, BOUMA_TYPE_F64));
    n = parse("0");
    CHECK(!number_text_vanishes(&n, BOUMA_TYPE_F32));
}

int main(void)
{
    kinds_are_told_apart();
    values_fit_or_are_refused();
    digits_that_f64_drops_are_known();
    numbers_that_become_0_are_known();
    return check_result();
}
