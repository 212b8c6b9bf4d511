/* test_where.c -- conditions on particles mean what they say, to the last bit,
 * and what cannot be said is explained. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/where.h"
#include "check.h"

static const struct bm_where_variable variables[] = {
    {"position", BOUMA_TYPE_F64, 3}, {"mass", BOUMA_TYPE_F32, 1},
    {"id", BOUMA_TYPE_I64, 1},       {"big", BOUMA_TYPE_U64, 1},
    {"velocity", BOUMA_TYPE_F64, 3}, {"a b", BOUMA_TYPE_F64, 1},
    {"c_s[1]", BOUMA_TYPE_F64, 1},   {"y", BOUMA_TYPE_F64, 1}};
enum { COUNT = sizeof(variables) / sizeof(variables[0]) };

/* Compile a text that is understood. */
static void compile(struct bm_where *where, const char *text)
{
    struct bm_error error = {0};

    if (bm_where_compile(where, bm_allocator_default(), text, variables, COUNT,
                         &error))
        printf("%s: %s\n", text, error.text);
    CHECK_EQ(error.status, BOUMA_OK);
}

/* One range comes out. */
static struct bm_where_range compile_one(const char *text)
{
    struct bm_where_range range = {0};
    struct bm_where where;

    compile(&where, text);
    CHECK_EQ(where.count, 1);
    CHECK_EQ(where.ranges, 1);
    if (where.count)
        range = where.groups[0].ranges[0];
    bm_where_release(&where);
    return range;
}

static void expect_real(const char *text, double low, double high)
{
    struct bm_where_range range = compile_one(text);

    if (range.low.f != low || range.high.f != high)
        printf("%s: %.17g to %.17g\n", text, range.low.f, range.high.f);
    CHECK(range.low.f == low && range.high.f == high);
}

static void expect_integer(const char *text, int64_t low, int64_t high)
{
    struct bm_where_range range = compile_one(text);

    if (range.low.i != low || range.high.i != high)
        printf("%s: %" PRId64 " to %" PRId64 "\n", text, range.low.i,
               range.high.i);
    CHECK(range.low.i == low && range.high.i == high);
}

static void expect_large(const char *text, uint64_t low, uint64_t high)
{
    struct bm_where_range range = compile_one(text);

    CHECK(range.low.u == low && range.high.u == high);
}

static void expect_groups(const char *text, size_t groups, size_t ranges)
{
    struct bm_where where;

    compile(&where, text);
    if (where.count != groups || where.ranges != ranges)
        printf("%s: %zu groups, %zu ranges\n", text, where.count, where.ranges);
    CHECK_EQ(where.count, groups);
    CHECK_EQ(where.ranges, ranges);
    bm_where_release(&where);
}

static void expect_never(const char *text)
{
    expect_groups(text, 0, 0);
}

static void expect_status(const char *text, int status, const char *part)
{
    struct bm_error error = {0};
    struct bm_where where;

    CHECK_EQ(bm_where_compile(&where, bm_allocator_default(), text, variables,
                              COUNT, &error),
             status);
    CHECK_TEXT(error.text, part);
    bm_where_release(&where);
}

static void expect_refused(const char *text, const char *part)
{
    expect_status(text, BOUMA_EINVAL, part);
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
    struct bm_where where;
    const struct bm_where_range *r;

    compile(&where, "velocity[ 2 ] > 0 AND 'a b' < 1 && x<5&&z >= 1 and "
                    "c_s[1] == 4 and y < 2 and \"mass\" > 0");
    REQUIRE(where.count == 1 && where.ranges == 7);
    r = where.groups[0].ranges; /* by variable and component */
    CHECK_EQ(r[0].variable, 0);
    CHECK_EQ(r[0].component, 0);
    CHECK_EQ(r[1].component, 2);
    CHECK_EQ(r[2].variable, 1);
    CHECK_EQ(r[3].variable, 4);
    CHECK_EQ(r[3].component, 2);
    CHECK_EQ(r[4].variable, 5);
    CHECK_EQ(r[5].variable, 6); /* brackets of its own */
    CHECK_EQ(r[5].component, 0);
    CHECK_EQ(r[6].variable, 7); /* not the position's */
    bm_where_release(&where);
}

static void negations_are_carried_down(void)
{
    expect_real("!(mass > 3)", -INFINITY, 3);
    expect_real("not mass > 3", -INFINITY, 3);
    expect_real("~ ! ~(mass < 3)", 3, INFINITY);
    expect_real("not not mass <= 3", -INFINITY, 3);
    expect_real("!(mass <= 3 or mass > 5)", nextafter(3, 4), 5);
    expect_real("!(3 >= mass || 5 < mass)", nextafter(3, 4), 5);
    expect_real("!(mass != 2)", 2, 2);
    expect_real("!(2 != mass)", 2, 2);
    expect_integer("~(id < 4 | id > 6)", 4, 6);
    expect_groups("mass != 3", 2, 2);
    expect_groups("3 != mass", 2, 2);
    expect_groups("!(mass == 3)", 2, 2);
    expect_groups("!(3 < mass <= 5)", 2, 2);
    expect_groups("!(mass > 3 & id > 5)", 2, 2);
    expect_groups("!(mass > 3 | id > 5)", 1, 2);
    expect_real("mass != 1e400 && mass < inf", -INFINITY, DBL_MAX);
    expect_groups("id != 3.5", 2, 2);
}

/* As in C and in Python: ||, &&, not, |, &. */
static void operators_bind_as_elsewhere(void)
{
    expect_groups("id > 1 || mass > 1 && big > 1", 2, 3);
    expect_groups("(id > 1 || mass > 1) && big > 1", 2, 4);
    expect_groups("id > 1 or mass > 1 and big > 1", 2, 3);
    expect_groups("id > 1 | mass > 1 & big > 1", 2, 3);
    expect_groups("id > 1 | mass > 1 && big > 1", 2, 4);
    expect_groups("id > 1 && mass > 1 | big > 1", 2, 4);
    expect_groups("not id > 1 and mass > 1", 1, 2);
    expect_groups("not id > 1 & mass > 1", 2, 2);
    expect_groups("not id > 1 | mass > 1", 1, 2);
    expect_groups("!(id > 1) & mass > 1", 1, 2);
    expect_groups("id > 1&mass > 1|y>1||big>1", 3, 4);
    expect_groups("id>1or mass>1", 2, 2);
}

/* What has no values, or is within something else, is left out. */
static void groups_are_as_few_as_they_can_be(void)
{
    expect_real("mass < 1 | mass < 2", -INFINITY, nextafter(2, 1));
    expect_real("mass < 2 | mass < 1 & id > 3", -INFINITY, nextafter(2, 1));
    expect_real("id > 1 & mass < 1 | mass < 2", -INFINITY, nextafter(2, 1));
    expect_real("(mass < 1 | mass > 3) & mass > 2", nextafter(3, 4), INFINITY);
    expect_groups("mass != 1 & mass != 2 & mass != 3", 4, 4);
    expect_never("(mass < 1 | mass > 3) & 1 <= mass <= 3");
    expect_never("id == 3.5 | mass > inf");
    expect_groups("id == 3.5 | mass > 1", 1, 1);
}

static void what_cannot_be_said_is_explained(void)
{
    expect_refused("!mass", "write parentheses around what is negated");
    expect_refused("!mass < 3", "at character 2,");
    expect_refused("mass < 3 & not id > 5", "(not ...)");
    expect_refused("mass < (3)", "around comparisons");
    expect_refused("(mass) < 3", "expected a comparison");
    expect_refused("(mass < 3", "at the end: expected ')'");
    expect_refused("mass < 3)", "at character 9, ')': there is no '('");
    expect_refused("()", "expected the name");
    expect_refused("mass <> 3", "write !=");
    expect_refused("mass = 3", "write ==");
    expect_refused("mass & 3", "expected a comparison");
    expect_refused("mass < 3 &&& id > 3", "at character 12,");
    expect_refused("mass < 3 ||", "at the end");
    expect_refused("mass * 2 < 3", "no arithmetic");
    expect_refused("mass < 3 + 2", "no arithmetic");
    expect_refused("mass < nan", "NaN");
    expect_refused("mass < id", "two variables");
    expect_refused("3 < 4", "two numbers");
    expect_refused("mass", "expected a comparison");
    expect_refused("mass <", "at the end");
    expect_refused("", "at the end");
    expect_refused("mass < 3 mass > 2", "expected & or |");
    expect_refused("mass < 3x", "neither a number nor a name");
    expect_refused("velocity < 3", "say which: velocity[0]");
    expect_refused("velocity[3] < 3", "components 0 to 2");
    expect_refused("velocity[99999999999999999999] < 3", "components 0 to 2");
    expect_refused("velocity[-1] < 3", "write the component as [0]");
    expect_refused("velocity[1 < 3", "the bracket is not closed");
    expect_refused("'mass < 3", "the quote is not closed");
    expect_status("\xc3\xa9 > 1", BOUMA_ENOTFOUND, "at character 1,");
    expect_status(
        "\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6"
        "\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6"
        " < 3",
        BOUMA_ENOTFOUND, "at character 1, ''");
    /* Characters are counted, not bytes. */
    expect_refused("mass > 1 \xc2\xa0\xc2\xa0 ? ", "at character 10,");
    expect_status("mas < 3", BOUMA_ENOTFOUND,
                  "did you mean 'mass'? There are position, mass");
    expect_status("nothing < 3", BOUMA_ENOTFOUND, "there are position");
    expect_status("x[0] < 3", BOUMA_ENOTFOUND, "no variable 'x'");
}

/* The same piece so many times. */
static void repeat(char *out, const char *piece, size_t times)
{
    for (*out = '\0'; times > 0; times--, out += strlen(piece))
        strcpy(out, piece);
}

static void limits_are_told(void)
{
    static char text[BM_WHERE_TEXT + 100], part[BM_WHERE_TEXT];

    repeat(text, "(", 64);
    strcat(text, "id<3");
    repeat(part, ")", 64);
    strcat(text, part);
    expect_integer(text, INT64_MIN, 2);
    repeat(text, "(", 60000);
    expect_status(text, BOUMA_ELIMIT, "at character 65");
    repeat(text, "not ", 15001);
    strcat(text, "id < 3");
    expect_integer(text, 3, INT64_MAX);
    repeat(text, "id<3&", 511);
    strcat(text, "id<3");
    expect_integer(text, INT64_MIN, 2);
    strcat(text, "&id<3");
    expect_status(text, BOUMA_ELIMIT, "more than 512 comparisons");
    repeat(text, " ", BM_WHERE_TEXT - 4);
    strcat(text, "id<3");
    expect_integer(text, INT64_MIN, 2);
    strcat(text, " ");
    expect_status(text, BOUMA_ELIMIT, "more than 65536 bytes");
    text[0] = '\0';
    for (int i = 0; i < 256; i++)
        sprintf(text + strlen(text), "%sid==%d", i ? "|" : "", 2 * i);
    expect_groups(text, 256, 256);
    strcat(text, "|id==-5");
    expect_status(text, BOUMA_ELIMIT, "too many combinations");
    expect_status("x!=1&z!=1&mass!=1&id!=1&big!=1&velocity[0]!=1&velocity[1]!="
                  "1&velocity[2]!=1&y!=1",
                  BOUMA_ELIMIT, "256");
}

int main(void)
{
    real_numbers_are_cut_between_two_doubles();
    integers_are_exact_beyond_two_to_the_53();
    fractions_and_huge_numbers_lie_between_integers();
    names_are_found();
    negations_are_carried_down();
    operators_bind_as_elsewhere();
    groups_are_as_few_as_they_can_be();
    what_cannot_be_said_is_explained();
    limits_are_told();
    return check_result();
}
