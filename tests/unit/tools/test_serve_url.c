/* test_serve_url.c -- targets of requests as parts and parameters; which route
 * they fit. */
#include "check.h"
#include "serve/route.h"

static struct url url;
static char message[200];

static bool parse(const char *target)
{
    url_release(&url);
    return url_parse(&url, target, message, sizeof(message));
}

static void parts_and_parameters_are_decoded(void)
{
    CHECK(parse("/api/v1/my%20run/3?box=1:2%2C3:4&where=T+%3E+1%2B1&x"));
    CHECK_EQ(url.part_count, 4);
    CHECK(!strcmp(url.parts[2], "my run"));
    CHECK(!strcmp(url.parts[3], "3"));
    CHECK(!url.directory);
    CHECK_EQ(url.parameter_count, 3);
    CHECK(!strcmp(url_parameter(&url, "box"), "1:2,3:4"));
    CHECK(!strcmp(url_parameter(&url, "where"), "T > 1+1"));
    CHECK(!strcmp(url_parameter(&url, "x"), ""));
    CHECK(!url_parameter(&url, "y"));
    CHECK(parse("/a%2Fb/c+d/"));
    CHECK_EQ(url.part_count, 2);
    CHECK(!strcmp(url.parts[0], "a/b") && !strcmp(url.parts[1], "c+d"));
    CHECK(url.directory);
    CHECK(parse("/"));
    CHECK_EQ(url.part_count, 0);
    CHECK(parse("/a?&&b=1&"));
    CHECK_EQ(url.parameter_count, 1);
    CHECK(parse("/a?b=c=d"));
    CHECK(!strcmp(url_parameter(&url, "b"), "c=d"));
}

static void what_is_no_path_is_refused(void)
{
    static const char *const wrong[] = {
        "",         "*",      "a",         "http://x/a", "//",         "/a//b",
        "/./a",     "/a/..",  "/%2e%2E/a", "/a/%2e",     "/a%",        "/a%4",
        "/a%4g",    "/a%00b", "/a#b",      "/a?b=%0",    "/a?b=1&b=2", "/a?=1",
        "/a?b=%00", "/a?%zz", "/a?b&b",    "/a?b=1#",    "/..%2f..",   NULL};
    char many[400] = "";

    for (int i = 0; wrong[i] && strcmp(wrong[i], "/..%2f.."); i++) {
        CHECK(!parse(wrong[i]));
        CHECK(message[0]);
    }
    /* One part, with a slash in it: it names nothing, but it is a name. */
    CHECK(parse("/..%2f.."));
    CHECK_EQ(url.part_count, 1);
    for (int i = 0; i <= URL_PARTS; i++)
        strcat(many, "/a");
    CHECK(!parse(many));
    strcpy(many, "/?");
    for (int i = 0; i <= URL_PARAMETERS; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "p%d=1&", i);
    CHECK(!parse(many));
}

static void names_are_encoded(void)
{
    char out[16];

    CHECK(url_encode(out, sizeof(out), "a /\xc3\xa4~"));
    CHECK(!strcmp(out, "a%20%2F%C3%A4~"));
    CHECK(!url_encode(out, 4, "a b"));
    CHECK(url_encode(out, 6, "a b"));
    CHECK(!strcmp(out, "a%20b"));
    CHECK(!url_encode(out, 0, ""));
}

static void parts_can_be_skipped(void)
{
    CHECK(parse("/t/secret/api"));
    url_skip(&url, 2);
    CHECK_EQ(url.part_count, 1);
    CHECK(!strcmp(url.parts[0], "api"));
}

static bool fits(const char *pattern, const char *target,
                 struct request *request)
{
    *request = (struct request){.url = &url};
    return parse(target) && route_fits(pattern, request);
}

static void patterns_fit_part_by_part(void)
{
    struct request r;

    CHECK(fits("/", "/", &r) && !fits("/", "/a", &r));
    CHECK(fits("/api/v1", "/api/v1", &r) && fits("/api/v1", "/api/v1/", &r));
    CHECK(!fits("/api/v1", "/api", &r) && !fits("/api/v1", "/api/v1/a", &r));
    CHECK(!fits("/api/v1", "/api/v12", &r) && !fits("/api/v12", "/api/v1", &r));
    CHECK(fits("/api/*/x/*", "/api/run/x/7", &r));
    CHECK_EQ(r.name_count, 2);
    CHECK(!strcmp(r.names[0], "run") && !strcmp(r.names[1], "7"));
    CHECK(fits("/files/*/**", "/files/a", &r));
    CHECK_EQ(r.rest_count, 0);
    CHECK(fits("/files/*/**", "/files/a/b/c", &r));
    CHECK_EQ(r.rest_count, 2);
    CHECK(!strcmp(r.rest[1], "c"));
    CHECK(!fits("/files/*/**", "/files", &r));
}

int main(void)
{
    parts_and_parameters_are_decoded();
    what_is_no_path_is_refused();
    names_are_encoded();
    parts_can_be_skipped();
    patterns_fit_part_by_part();
    url_release(&url);
    return check_result();
}
