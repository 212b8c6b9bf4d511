/* test_where.c -- conditions on particles mean what they say, to the last bit,
 * and what cannot be said is explained. */
#include <float.h>
#include <math.h>

#include "check.h"
#include "where.h"

static const struct where_variable variables[] = {
    {"position", BOUMA_TYPE_F64, 3}, {"mass", BOUMA_TYPE_F32, 1},
    {"id", BOUMA_TYPE_I64, 1},       {"big", BOUMA_TYPE_U64, 1},
    {"velocity", BOUMA_TYPE_F64, 3}, {"a b", BOUMA_TYPE_F64, 1},
    {"c_s[1]", BOUMA_TYPE_F64, 1},   {"y", BOUMA_TYPE_F64, 1}};
enum { COUNT = sizeof(variables) / sizeof(variables[0]) };

/* One range comes out: its ends are in *range; "never" is false. */
static void compile(const char *text, struct where_range *range, bool *never)
{
    struct where where;
    char message[512];

    if (!where_compile(&where, text, variables, COUNT, message,
                       sizeof(message)))
        printf("%s: %s\n", text, message);
    CHECK_EQ(where.count, 1);
    *range = where.count ? where.ranges[0] : (struct where_range){0};
    *never = where.never;
    where_release(&where);
}

static void expect_real(const char *text, double low, double high)
{
    struct where_range range;
    bool never;

    compile(text, &range, &never);
    CHECK(!never);
    if (range.low.f != low || range.high.f != high)
        printf("%s: %.17g to %.17g\n", text, range.low.f, range.high.f);
    CHECK(range.low.f == low && range.high.f == high);
}

static void expect_integer(const char *text, int64_t low, int64_t high)
{
    struct where_range range;
    bool never;

    compile(text, &range, &never);
    CHECK(!never);
    if (range.low.i != low || range.high.i != high)
        printf("%s: %" PRId64 " to %" PRId64 "\n", text, range.low.i,
               range.high.i);
    CHECK(range.low.i == low && range.high.i == high);
}

static void expect_large(const char *text, uint64_t low, uint64_t high)
{
    struct where_range range;
    bool never;

    compile(text, &range, &never);
    CHECK(!never);
    CHECK(range.low.u == low && range.high.u == high);
}

static void expect_never(const char *text)
{
    struct where_range range;
    bool never;

    compile(text, &range, &never);
    if (!never)
        printf("%s: not never\n", text);
    CHECK(never);
}

static void expect_refused(const char *text, const char *part)
{
    struct where where;
    char message[512];

    CHECK(!where_compile(&where, text, variables, COUNT, message,
                         sizeof(message)));
    CHECK_TEXT(message, part);
    where_release(&where);
}

static void real_numbers_are_cut_between_two_doubles(void)
{
    expect_real("mass < 3", -INFINITY, nextafter(3, 0));
    expect_real("mass <= 3", -INFINITY, 3);
    expect_real("mass > 0.1", nextafter(0.1, 1), INFINITY);
    expect_real("mass >= 0.1", 0.1, INFINITY);
    expect_real("mass == -2.5e-3", -2.5e-3, -2.5e-3);
    expect_real("3 < mass", nextafter(3, 4), INFINITY);
    expect_real("3 < mass <= 5", nextafter(3, 4), 5);
    expect_real("5 >= mass > 3", nextafter(3, 4), 5);
    expect_real("mass > 1 && mass > 2 and mass<4", nextafter(2, 3),
                nextafter(4, 3));
    expect_real("mass > 0", DBL_TRUE_MIN, INFINITY);
    expect_real("mass < -0", -INFINITY, -DBL_TRUE_MIN);
    expect_real("mass < 1e400", -INFINITY, DBL_MAX);
    expect_real("mass <= 1e400", -INFINITY, DBL_MAX);
    expect_real("mass >= 1e400", INFINITY, INFINITY);
    expect_real("mass > -1e400", -DBL_MAX, INFINITY);
    expect_real("mass <= inf", -INFINITY, INFINITY);
    expect_real("mass == -inf", -INFINITY, -INFINITY);
    expect_real("mass >= 1e-400", DBL_TRUE_MIN, INFINITY);
    expect_real("mass < 1e-400", -INFINITY, 0);
    expect_never("mass == 1e-400");
    expect_never("mass == 1e400");
    expect_never("mass > inf");
    expect_never("mass < -infinity");
    expect_never("mass > 3 and mass < 3");
    expect_never("mass < 2 && mass > 3 && mass > 1");
}

static void integers_are_exact_beyond_two_to_the_53(void)
{
    expect_integer("id > 3", 4, INT64_MAX);
    expect_integer("id < 3", INT64_MIN, 2);
    expect_integer("id == 9007199254740993", 9007199254740993,
                   9007199254740993);
    expect_integer("id < 9007199254740993.0", INT64_MIN, 9007199254740992);
    expect_integer("id >= 900719925474099.3e1", 9007199254740993, INT64_MAX);
    expect_integer("id <= -9223372036854775808", INT64_MIN, INT64_MIN);
    expect_integer("id >= 9223372036854775807", INT64_MAX, INT64_MAX);
    expect_large("big == 18446744073709551615", UINT64_MAX, UINT64_MAX);
    expect_large("big > 18446744073709551614", UINT64_MAX, UINT64_MAX);
    expect_large("big < 9223372036854775808", 0, INT64_MAX);
    expect_never("id > 9223372036854775807");
    expect_never("id < -9223372036854775808");
    expect_never("big > 18446744073709551615");
    expect_never("big < 0");
}

static void fractions_and_huge_numbers_lie_between_integers(void)
{
    expect_integer("id > 3.5", 4, INT64_MAX);
    expect_integer("id >= 3.5", 4, INT64_MAX);
    expect_integer("id < 3.5", INT64_MIN, 3);
    expect_integer("id <= 3.5", INT64_MIN, 3);
    expect_integer("id > -3.5", -3, INT64_MAX);
    expect_integer("id < -3.5", INT64_MIN, -4);
    expect_integer("id < 35e-1", INT64_MIN, 3);
    expect_integer("id < 4.000", INT64_MIN, 3);
    expect_integer("id < 4.0001", INT64_MIN, 4);
    expect_integer("id > 1e3", 1001, INT64_MAX);
    expect_integer("id < 1e400", INT64_MIN, INT64_MAX);
    expect_integer("id > -1e400", INT64_MIN, INT64_MAX);
    expect_integer("id < inf", INT64_MIN, INT64_MAX);
    expect_integer("id > 0.0001e4", 2, INT64_MAX);
    expect_integer("id >= 0e999999999999", 0, INT64_MAX);
    expect_large("big > -1", 0, UINT64_MAX);
    expect_large("big >= 0.5", 1, UINT64_MAX);
    expect_large("big <= 99999999999999999999", 0, UINT64_MAX);
    expect_never("id == 3.5");
    expect_never("id > 1e400");
    expect_never("id == 1e400");
    expect_never("big == -0.5");
}

static void names_are_found(void)
{
    struct where where;
    char message[512];

    CHECK(where_compile(&where,
                        "velocity[2] > 0 AND 'a b' < 1 && x<5&&z >= 1 and "
                        "c_s[1] == 4 and y < 2 and \"mass\" > 0",
                        variables, COUNT, message, sizeof(message)));
    REQUIRE(where.count == 7);
    CHECK_EQ(where.ranges[0].variable, 4);
    CHECK_EQ(where.ranges[0].component, 2);
    CHECK_EQ(where.ranges[1].variable, 5);
    CHECK_EQ(where.ranges[2].variable, 0);
    CHECK_EQ(where.ranges[2].component, 0);
    CHECK_EQ(where.ranges[3].component, 2);
    CHECK_EQ(where.ranges[4].variable, 6); /* brackets of its own */
    CHECK_EQ(where.ranges[4].component, 0);
    CHECK_EQ(where.ranges[5].variable, 7); /* not the position's */
    CHECK_EQ(where.ranges[6].variable, 1);
    where_release(&where);
}

static void what_cannot_be_said_is_explained(void)
{
    expect_refused("mass < 3 || mass > 5", "'or' is not supported");
    expect_refused("mass < 3 || mass > 5", "at character 10");
    expect_refused("mass < 3 or mass > 5", "a query for each side");
    expect_refused("mass != 3", "'not equal' is not supported");
    expect_refused("!mass", "'not' is not supported");
    expect_refused("mass < 3 && (id > 5)", "parentheses are not supported");
    expect_refused("(mass < 3)", "at character 1,");
    expect_refused("mass = 3", "write ==");
    expect_refused("mass & 3", "write &&");
    expect_refused("mass * 2 < 3", "no arithmetic");
    expect_refused("mass < 3 + 2", "no arithmetic");
    expect_refused("mass < nan", "NaN");
    expect_refused("mass < id", "two variables");
    expect_refused("3 < 4", "two numbers");
    expect_refused("mass", "expected a comparison");
    expect_refused("mass <", "at the end");
    expect_refused("", "at the end");
    expect_refused("mass < 3 mass > 2", "expected &&");
    expect_refused("mass < 3x", "neither a number nor a name");
    expect_refused("mas < 3", "did you mean 'mass'? There are position, mass");
    expect_refused("nothing < 3", "there are position");
    expect_refused("velocity < 3", "say which: velocity[0]");
    expect_refused("velocity[3] < 3", "components 0 to 2");
    expect_refused("velocity[99999999999999999999] < 3", "components 0 to 2");
    expect_refused("velocity[-1] < 3", "write the component as [0]");
    expect_refused("velocity[1 < 3", "the bracket is not closed");
    expect_refused("'mass < 3", "the quote is not closed");
    expect_refused("x[0] < 3", "no variable 'x'");
}

int main(void)
{
    real_numbers_are_cut_between_two_doubles();
    integers_are_exact_beyond_two_to_the_53();
    fractions_and_huge_numbers_lie_between_integers();
    names_are_found();
    what_cannot_be_said_is_explained();
    return check_result();
}
