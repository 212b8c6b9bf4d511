/* route.c -- which function answers which path. */
#include "route.h"

#include <stdio.h>
#include <string.h>

struct route {
    const char *pattern, *parameters;
    void (*answer)(struct request *request, struct answer *answer);
};

#define ENTRY(pattern, parameters, name) {pattern, parameters, route_##name},
static const struct route routes[] = {SERVE_ROUTES(ENTRY)};
enum { ROUTE_COUNT = sizeof(routes) / sizeof(routes[0]) };

bool route_fits(const char *pattern, struct request *request)
{
    const struct url *url = request->url;
    size_t part = 0;

    request->name_count = request->rest_count = 0;
    while (*pattern) {
        size_t length = strcspn(++pattern, "/");

        if (length == 0) /* the pattern is "/" */
            break;
        if (length == 2 && memcmp(pattern, "**", 2) == 0) {
            request->rest = url->parts + part;
            request->rest_count = url->part_count - part;
            return true;
        }
        if (part == url->part_count)
            return false;
        if (length == 1 && pattern[0] == '*')
            request->names[request->name_count++] = url->parts[part];
        else if (strlen(url->parts[part]) != length ||
                 memcmp(url->parts[part], pattern, length) != 0)
            return false;
        part++;
        pattern += length;
    }
    return part == url->part_count;
}

/* Whether 'name' is in a list of words with blanks between. */
static bool is_listed(const char *words, const char *name)
{
    size_t length = strlen(name);

    while (*words) {
        size_t word = strcspn(words, " ");

        if (word == length && memcmp(words, name, length) == 0)
            return true;
        words += word + (words[word] == ' ');
    }
    return false;
}

static bool knows_parameters(const struct route *route,
                             const struct request *request,
                             struct answer *answer)
{
    for (size_t i = 0; i < request->url->parameter_count; i++) {
        const char *name = request->url->parameters[i].name;

        if (is_listed(route->parameters, name) || is_listed("tag token", name))
            continue;
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "there is no parameter '%.60s' here; those there are: %s%s"
                    "tag token",
                    name, route->parameters, route->parameters[0] ? " " : "");
        return false;
    }
    return true;
}

void route_answer(struct request *request, struct answer *answer)
{
    for (int i = 0; i < ROUTE_COUNT; i++) {
        if (!route_fits(routes[i].pattern, request))
            continue;
        if (knows_parameters(&routes[i], request, answer))
            routes[i].answer(request, answer);
        return;
    }
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is nothing at this path; the viewer is at /, and "
                "/api/v1 tells what is served");
}
