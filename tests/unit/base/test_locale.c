/* A program may have set a locale whose numbers have a comma. The library reads
 * and writes numbers with a point all the same, and leaves the locale alone. */
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "bouma.h"
#include "files.h"
#include "must.h"

#define LOCALE "de_DE.UTF-8"

static char directory[] = "/tmp/test_locale.XXXXXX";

/* Make the locale in a directory of our own: few machines have it. */
static int make_locale(void)
{
    char command[256];

    snprintf(command, sizeof(command),
             "localedef -i de_DE -f UTF-8 '%s/" LOCALE "' >'%s/told' 2>&1",
             directory, directory);
    return !system(command) && !setenv("LOCPATH", directory, 1) &&
           setlocale(LC_ALL, LOCALE) && localeconv()->decimal_point[0] == ',';
}

/* The program's own numbers still have their comma. */
static void the_locale_is_left_alone(void)
{
    char text[16];

    snprintf(text, sizeof(text), "%.1f", 0.5);
    CHECK_TEXT(text, "0,5");
}

static void texts_of_numbers_have_a_point(void)
{
    char text[16];

    CHECK_EQ(bm_format(text, sizeof(text), "%g %s", 1234.5, "x"), 8);
    CHECK_TEXT(text, "1234.5 x");
    CHECK(bm_parse_real("2.5", NULL) == 2.5);
}

static void options_are_understood(void)
{
    bouma_options o = {.size = sizeof(o)};

    CHECK_EQ(bouma_options_set(&o, "timeout", "2.5", NULL, 0), BOUMA_OK);
    CHECK(o.timeout == 2.5);
    CHECK_EQ(bouma_options_set(&o, "file_size", "1.5K", NULL, 0), BOUMA_OK);
    CHECK_EQ(o.file_size, 1536);
    CHECK_EQ(bouma_options_set(&o, "timeout", "2,5", NULL, 0), BOUMA_EINVAL);
}

/* Every time in the trace is a number of JSON: with a comma behind it, and none
 * in it. */
static void check_trace(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    int events = 0;

    REQUIRE(f);
    while (fgets(line, sizeof(line), f)) {
        const char *accuracy = strstr(line, "\"clock_accuracy_us\":");
        const char *ts = strstr(line, "\"ts\":");
        int begin, fraction, length, rest, end = 0;

        if (accuracy)
            CHECK(sscanf(accuracy, "\"clock_accuracy_us\":%d.%d", &begin,
                         &fraction) == 2);
        if (!ts)
            continue;
        events++;
        CHECK(sscanf(ts, "\"ts\":%d.%d,\"dur\":%d.%d%n", &begin, &fraction,
                     &length, &rest, &end) == 4 &&
              end);
    }
    fclose(f);
    CHECK(events > 0);
}

static void a_trace_is_json(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;
    char trace[512];

    REQUIRE(io);
    o.io = io;
    snprintf(trace, sizeof(trace), "%s/trace.json", directory);
    o.trace = trace;
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, bouma_step_begin(ds, 0, 0.5));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    check_trace(o.trace);
}

static void messages_have_a_point(void)
{
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 1, .shape = {8}, .patch = {8}};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = BOUMA_TYPE_F32, .tolerance = -0.5};
    bouma_io *io = bouma_io_memory_new();
    bouma_variable *v;
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;
    bouma_grid *g;

    REQUIRE(io);
    o.io = io;
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, bouma_grid_define(&g, ds, "g", &shape));
    CHECK_EQ(bouma_variable_define(&v, g, "v", &kind), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "-0.5");
    kind.tolerance = 1.5;
    kind.tolerance_kind = BOUMA_TOLERANCE_RELATIVE;
    CHECK_EQ(bouma_variable_define(&v, g, "v", &kind), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "1.5");
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

int main(void)
{
    REQUIRE(mkdtemp(directory));
    if (!make_locale()) {
        printf("skipped: localedef cannot make the locale " LOCALE " here\n");
        remove_tree(directory);
        return 77;
    }
    texts_of_numbers_have_a_point();
    options_are_understood();
    a_trace_is_json();
    messages_have_a_point();
    the_locale_is_left_alone();
    REQUIRE(!remove_tree(directory));
    return check_result();
}
