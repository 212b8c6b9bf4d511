/* test_plot.c -- the file of `bouma plot`, and the ends of its axes. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "plot_data.h"

static char message[200];

static bool parse(struct plot *plot, const char *text)
{
    return plot_parse(plot, text, strlen(text), message, sizeof(message));
}

#define PLOT(kind, more, series)                                               \
    "{\"format\": \"bouma-plot\", \"kind\": \"" kind "\"" more                 \
    ", \"series\": " series "}"
#define ONE "[{\"name\": \"a\", \"x\": [1, 4], \"y\": [2, 8]}]"

static void all_of_a_file_is_read(void)
{
    struct plot plot;

    REQUIRE(parse(
        &plot,
        PLOT("curves",
             ", \"title\": \"T\", \"x\": {\"label\": \"ranks\", \"scale\": "
             "\"log2\"}, \"y\": {\"label\": \"s\", \"low\": -1, \"high\": 20}",
             "[{\"name\": \"a\", \"x\": [1, 4], \"y\": [2, 8]}, {\"name\": "
             "\"b\", \"dashed\": true, \"x\": [2], \"y\": [null], \"low\": "
             "[3], \"high\": [4.5]}]")));
    CHECK_EQ(plot.kind, PLOT_CURVES);
    CHECK(!strcmp(plot.title, "T") && !strcmp(plot.x.label, "ranks"));
    CHECK(!strcmp(plot.y.label, "s"));
    CHECK_EQ(plot.x.scale, AXIS_LOG2);
    CHECK_EQ(plot.y.scale, AXIS_LINEAR);
    CHECK(plot.y.low == -1 && plot.y.high == 20 && isnan(plot.x.low));
    REQUIRE(plot.count == 2);
    CHECK(plot.series[0].count == 2 && !plot.series[0].dashed);
    CHECK(plot.series[0].x[1] == 4 && plot.series[0].y[1] == 8);
    CHECK(isnan(plot.series[0].low[0]) && isnan(plot.series[0].high[1]));
    CHECK(plot.series[1].dashed && isnan(plot.series[1].y[0]));
    CHECK(plot.series[1].low[0] == 3 && plot.series[1].high[0] == 4.5);
    plot_release(&plot);

    REQUIRE(parse(&plot, PLOT("bars", ", \"labels\": [\"p\", \"q\"]", ONE)));
    CHECK_EQ(plot.kind, PLOT_BARS);
    CHECK(plot.label_count == 2 && !strcmp(plot.labels[1], "q"));
    CHECK(!strcmp(plot.title, ""));
    plot_release(&plot);
}

static void what_is_no_plot_is_refused(void)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{\"format\": \"other\", \"kind\": \"curves\", \"series\": " ONE "}",
        PLOT("pie", "", ONE),
        PLOT("curves", "", "[]"),
        PLOT("curves", "", "[{\"x\": [1], \"y\": [1]}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [1], \"y\": []}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [1], \"y\": [1, 2]}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [null], \"y\": [1]}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [1], \"y\": [\"1\"]}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [1], \"y\": [null]}]"),
        PLOT("curves", "", "[{\"name\": \"a\", \"x\": [1], \"y\": [1e200]}]"),
        PLOT("curves", "",
             "[{\"name\": \"a\", \"x\": [1], \"y\": [1], \"low\": [1, 2]}]"),
        PLOT("curves", ", \"x\": {\"scale\": \"log\"}",
             "[{\"name\": \"a\", \"x\": [0], \"y\": [1]}]"),
        PLOT("curves", ", \"y\": {\"scale\": \"log\"}",
             "[{\"name\": \"a\", \"x\": [0], \"y\": [-1]}]"),
        PLOT("curves", ", \"x\": {\"scale\": \"root\"}", ONE),
        PLOT("curves", ", \"x\": {\"low\": 3, \"high\": 3}", ONE),
        PLOT("curves", ", \"x\": {\"low\": \"3\"}", ONE),
        PLOT("curves", ", \"x\": [1]", ONE),
        PLOT("curves", "",
             "[{\"name\": \"a\", \"x\": [0, 5e-324], \"y\": [1, 2]}]"),
        PLOT("bars", "", ONE),
        PLOT("bars", ", \"labels\": [\"p\"]", ONE),
        PLOT("bars", ", \"labels\": [\"p\", 2]", ONE),
        PLOT("curves", "", ONE) "x",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct plot plot;

        if (parse(&plot, texts[i])) {
            printf("accepted: %s\n", texts[i]);
            CHECK(!"refused");
        }
        CHECK(message[0] != 0);
        plot_release(&plot);
    }
}

static void long_texts_are_refused(void)
{
    char text[1000], title[PLOT_MOST_TEXT + 2];
    struct plot plot;

    for (int more = 0; more < 2; more++) {
        size_t letters = (size_t)(PLOT_MOST_TEXT + more);

        memset(title, 'x', letters);
        title[letters] = 0;
        snprintf(text, sizeof(text), PLOT("curves", ", \"title\": \"%s\"", ONE),
                 title);
        CHECK_EQ(parse(&plot, text), !more);
        plot_release(&plot);
    }
}

static void ends_are_around_all_numbers(void)
{
    struct plot plot;
    double low, high;

    REQUIRE(parse(&plot, PLOT("curves", "", ONE)));
    plot_range_x(&plot, &low, &high);
    CHECK(low == 1 && high == 4);
    plot_range_y(&plot, &low, &high);
    CHECK(low == 0 && high > 8 && high < 9);
    plot_release(&plot);

    /* Lines through points count; a log axis has no 0. */
    REQUIRE(
        parse(&plot, PLOT("curves", ", \"y\": {\"scale\": \"log\"}",
                          "[{\"name\": \"a\", \"x\": [1], \"y\": [2], \"low\": "
                          "[0.5], \"high\": [30]}]")));
    plot_range_y(&plot, &low, &high);
    CHECK(low > 0.3 && low < 0.5 && high > 30 && high < 40);
    plot_range_x(&plot, &low, &high); /* one number */
    CHECK(low == 1 && high > 1);
    plot_release(&plot);
}

int main(void)
{
    all_of_a_file_is_read();
    what_is_no_plot_is_refused();
    long_texts_are_refused();
    ends_are_around_all_numbers();
    return check_result();
}
