/* test_serve_routes.c -- routes give answers without any socket, within limits
 * of memory, size and cost; and all memory comes back. */
#include <ftw.h>
#include <unistd.h>

#include "check.h"
#include "must.h"
#include "serve/reader.h"
#include "serve/route.h"
#include "serve/view_run.h"
#include "serve/viewer.h"

static char directory[] = "serve_routes_XXXXXX";
static char run[64];
static struct memory_budget memory;
static struct served served;
static struct reader reader;
static struct serve_limits limits = {1 << 20, 1 << 26};

/* ---- a dataset ----------------------------------------------------------- */

#define SIDE 24

static void write_steps(bouma_dataset *ds, int64_t first, int64_t last)
{
    static float data[SIDE * SIDE * SIDE];
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 3,
                            .shape = {SIDE, SIDE, SIDE},
                            .patch = {8, 8, 8}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F32};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data));
    bouma_box all = {{0}, {SIDE, SIDE, SIDE}};
    bouma_grid *grid;
    bouma_variable *variable;

    MUST(ds, bouma_grid_define(&grid, ds, "a b", &spec));
    MUST(ds, bouma_variable_define(&variable, grid, "v", &v));
    for (int64_t step = first; step <= last; step++) {
        for (int i = 0; i < SIDE * SIDE * SIDE; i++)
            data[i] = (float)(i + 100000 * step);
        MUST(ds, bouma_step_begin(ds, step, 0.5 * (double)step));
        MUST(ds, bouma_variable_put_borrow(variable, &all, &array));
        MUST(ds, bouma_step_end(ds));
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- asking -------------------------------------------------------------- */

static struct answer answer;

/* The code of the answer to 'target'; it is kept until the next one. */
static int ask_with(const char *target, const char *if_none_match)
{
    char message[200];
    struct url url;
    struct request request = {.url = &url,
                              .if_none_match = if_none_match,
                              .prefix = "",
                              .limits = limits,
                              .served = &served,
                              .reader = &reader};

    answer_release(&answer);
    answer_init(&answer, &memory, limits.answer_bytes);
    if (url_parse(&url, target, message, sizeof(message)))
        route_answer(&request, &answer);
    else
        answer_fail(&answer, 400, BOUMA_EINVAL, "%s", message);
    url_release(&url);
    return answer.code;
}

static int ask(const char *target)
{
    return ask_with(target, NULL);
}

static bool says(const char *text)
{
    return answer.body &&
           memmem(answer.body, answer.bytes, text, strlen(text)) != NULL;
}

static const char *header(const char *name)
{
    for (size_t i = 0; i < answer.header_count; i++)
        if (!strcmp(answer.headers[i].name, name))
            return answer.headers[i].value;
    return "";
}

#define SAMPLES "/api/v1/run/1/a%20b/v/samples"

static void paths_find_their_routes(void)
{
    CHECK_EQ(ask("/api/v1"), 200);
    CHECK(says("\"name\":\"run\",\"steps\":3,\"last\":2"));
    CHECK_EQ(ask("/api/v1/run"), 200);
    CHECK(says("\"steps\":[0,1,2],\"times\":[0,0.5,1]"));
    CHECK_EQ(ask("/api/v1/run/last"), 200);
    CHECK(says("\"step\":2"));
    CHECK_EQ(ask(SAMPLES "?level=1"), 200);
    CHECK_EQ(answer.bytes, 12 * 12 * 12 * 4);
    CHECK(((float *)answer.body)[1] == 100002);
    CHECK(!strcmp(header("Bouma-Shape"), "12,12,12"));
    CHECK_EQ(ask("/api/v1/run/1/a%20b/v/ranges"), 200);
    CHECK(!strcmp(header("Bouma-Shape"), "3,3,3,2"));
    CHECK_EQ(ask("/api/v1/run/series/a%20b/v?at=0,0,1"), 200);
    CHECK(says("\"values\":[1,100001,200001]"));
    CHECK_EQ(ask("/api/v1/run/events"), 200);
    CHECK(answer.events && answer.events_of == 0);
    CHECK_EQ(ask("/files/run/DATASET"), 200);
    CHECK(answer.file >= 0 && answer.file_bytes == 64);
    CHECK_EQ(ask("/api/v1/run/1/a%2Fb/v/samples"), 404);
    CHECK_EQ(ask("/"), viewer_file_count ? 200 : 404);
    CHECK_EQ(ask("/viewer/index.html"), viewer_file_count ? 200 : 404);
    CHECK_EQ(ask("/viewer/nothing"), 404);
    CHECK_EQ(ask("/nothing"), 404);
}

static void parameters_are_known_to_their_route(void)
{
    CHECK_EQ(ask("/api/v1?level=1"), 400);
    CHECK(says("there is no parameter 'level'"));
    CHECK_EQ(ask("/api/v1?token=x"), 200);
    CHECK_EQ(ask(SAMPLES "?where=1"), 400);
    CHECK(says("box level max_bytes"));
}

static void answers_have_the_tag_of_their_step(void)
{
    char etag[80], other[80];

    CHECK_EQ(ask(SAMPLES), 200);
    snprintf(etag, sizeof(etag), "\"%s\"", answer.etag);
    snprintf(other, sizeof(other), "%s?tag=%s", SAMPLES, answer.etag);
    CHECK(!answer.immutable);
    CHECK_EQ(ask_with(SAMPLES, etag), 304);
    CHECK(!answer.body);
    CHECK_EQ(ask(other), 200);
    CHECK(answer.immutable);
    memcpy(strstr(other, "/1/"), "/2/", 3);
    CHECK_EQ(ask(other), 409);
    CHECK_EQ(ask_with("/api/v1/run/2/a%20b/v/samples", etag), 200);
}

static void what_is_too_large_is_refused_before_it_is_read(void)
{
    limits.answer_bytes = 10000;
    CHECK_EQ(ask(SAMPLES), 413);
    CHECK_EQ(ask(SAMPLES "?level=1"), 200);
    CHECK_EQ(ask(SAMPLES "?max_bytes=1000000"), 200); /* as far as it goes */
    CHECK(!strcmp(header("Bouma-Level"), "1"));
    limits.answer_bytes = 1 << 20;
    limits.cost_bytes = 5000; /* two patches and a little */
    CHECK_EQ(ask(SAMPLES "?box=0:1,0:1,0:1"), 200);
    CHECK_EQ(ask(SAMPLES "?box=7:9,7:9,7:9"), 413);
    CHECK(says("decoded"));
    limits.cost_bytes = 1 << 26;
}

static void without_memory_it_is_for_later(void)
{
    size_t limit = memory.limit;

    answer_release(&answer);
    reader_forget(&reader);
    CHECK_EQ(atomic_load(&memory.used), 0);
    memory.limit = 2000;
    CHECK_EQ(ask(SAMPLES), 503);
    CHECK(!strcmp(header("Retry-After"), "1"));
    CHECK_EQ(ask("/api/v1/run"), 503);
    memory.limit = limit;
    CHECK_EQ(ask(SAMPLES), 200);
    /* What is open is closed if that helps. */
    CHECK_EQ(ask("/api/v1/run/0/a%20b/v/samples"), 200);
    answer_release(&answer);
    for (size_t room = 2000; room < 400000; room += 2000) {
        memory.limit = room;
        CHECK(ask(SAMPLES) == 200 || answer.code == 503);
    }
    CHECK_EQ(ask(SAMPLES), 200);
    memory.limit = limit;
}

/* With room for one step only, each request opens its own. */
static void steps_are_opened_in_turn(void)
{
    struct reader small;
    struct read_step step;

    answer_release(&answer);
    answer_init(&answer, &memory, limits.answer_bytes);
    REQUIRE(reader_init(&small, &served, &memory, 1));
    for (int i = 0; i < 6; i++) {
        char text[8];

        snprintf(text, sizeof(text), "%d", i % 3);
        REQUIRE(reader_step(&step, &small, &answer, "run", text));
        CHECK_EQ(step.number, i % 3);
        CHECK(step.time == 0.5 * (i % 3));
    }
    CHECK(!reader_step(&step, &small, &answer, "run", "3"));
    CHECK_EQ(answer.code, 404);
    reader_release(&small);
}

/* A dataset may be closed and opened again while steps are looked at: if memory
 * is needed, or if it was made anew. Here another reader has it. */
static void a_view_is_that_of_the_handle_it_reads_with(void)
{
    struct request request = {.served = &served, .reader = &reader};
    struct reader other;
    struct read_step step;
    struct view_run view;
    bouma_dataset *ds = NULL;

    answer_release(&answer);
    answer_init(&answer, &memory, limits.answer_bytes);
    REQUIRE(view_run_open(&view, &request, &answer, "run"));
    CHECK_EQ(view.count, 3);
    MUST(ds, bouma_dataset_append(&ds, run, NULL));
    write_steps(ds, 3, 3);
    REQUIRE(reader_init(&other, &served, &memory, 1));
    request.reader = &other;
    REQUIRE(view_run_example(&step, &view, &request, &answer, "a b", "v"));
    CHECK(view.ds == step.ds);
    CHECK_EQ(view.count, 4);
    reader_release(&other);
}

static void damage_is_told_and_nothing_else_fails(void)
{
    char name[200];
    FILE *file;

    CHECK_EQ(ask("/api/v1/run/0"), 200);
    snprintf(name, sizeof(name), "%s/steps/00000002/manifest", run);
    reader_forget(&reader);
    file = fopen(name, "r+b");
    REQUIRE(file);
    fseek(file, 40, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    CHECK_EQ(ask("/api/v1/run/2"), 500);
    CHECK(says("BOUMA_EFORMAT") && !says(directory));
    CHECK_EQ(ask("/api/v1/run/1"), 200);
}

static int remove_entry(const char *path, const struct stat *about, int type,
                        struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

int main(void)
{
    bouma_dataset *ds = NULL;
    char message[200];

    REQUIRE(mkdtemp(directory));
    snprintf(run, sizeof(run), "%s/run.bouma", directory);
    MUST(ds, bouma_dataset_create(&ds, run, NULL));
    write_steps(ds, 0, 2);
    memory_budget_init(&memory, 1 << 26);
    answer_init(&answer, &memory, limits.answer_bytes);
    REQUIRE(served_init(&served));
    REQUIRE(served_add(&served, run, message, sizeof(message)));
    REQUIRE(reader_init(&reader, &served, &memory, 4));
    paths_find_their_routes();
    parameters_are_known_to_their_route();
    answers_have_the_tag_of_their_step();
    what_is_too_large_is_refused_before_it_is_read();
    without_memory_it_is_for_later();
    steps_are_opened_in_turn();
    a_view_is_that_of_the_handle_it_reads_with();
    damage_is_told_and_nothing_else_fails();
    answer_release(&answer);
    reader_release(&reader);
    served_release(&served);
    CHECK_EQ(atomic_load(&memory.used), 0);
    nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return check_result();
}
