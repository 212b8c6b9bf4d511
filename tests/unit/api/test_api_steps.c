/* Steps: when they become visible, what they hold, and what is left behind. */
#include <math.h>

#include "arrays.h"
#include "bouma.h"
#include "check.h"
#include "field.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

/* A writer of one small grid with two variables. */
struct writer {
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *a, *b;
};

static const bouma_box whole = {{0, 0, 0}, {12, 10, 0}};

static void define_two(struct writer *w)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {12, 10},
                         .patch = {4, 4},
                         .levels = 2,
                         .origin = {100, 200},
                         .spacing = {0.5, 2},
                         .unit = "m"};
    bouma_variable_spec a = {
        .size = sizeof(a), .type = BOUMA_TYPE_F32, .unit = "K"};
    bouma_variable_spec b = {
        .size = sizeof(b), .type = BOUMA_TYPE_U64, .codec = BOUMA_CODEC_RAW};

    MUST(w->ds, bouma_grid_define(&w->grid, w->ds, "g", &g));
    MUST(w->ds, bouma_variable_define(&w->a, w->grid, "a", &a));
    MUST(w->ds, bouma_variable_define(&w->b, w->grid, "b", &b));
}

static void begin_writing(struct writer *w, const char *path,
                          const bouma_options *o, int append)
{
    MUST(w->ds, append ? bouma_dataset_append(&w->ds, path, o)
                       : bouma_dataset_create(&w->ds, path, o));
    define_two(w);
}

/* A step of 'a' alone, all samples 'value'. */
static int write_step(struct writer *w, int64_t step, float value)
{
    float data[120];

    for (int i = 0; i < 120; i++)
        data[i] = value;
    MUST(w->ds, bouma_step_begin(w->ds, step, (double)step / 4));
    MUST(w->ds, test_put(w->a, &whole, data));
    return bouma_step_end(w->ds);
}

/* The value of a step as a reader sees it; -1 if there is no such step. */
static float look(const char *path, int64_t number)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;
    bouma_step *step;
    float data[120] = {-1};

    MUST(ds, bouma_dataset_open(&ds, path, &o));
    if (!bouma_step_open(&step, ds, number)) {
        MUST(ds, test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0,
                           NULL, data));
        bouma_step_free(step);
    } else {
        CHECK_TEXT(bouma_error_message(ds), "no step");
    }
    bouma_dataset_free(ds);
    return data[0];
}

static int64_t count_steps(const char *path)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;
    int64_t n;

    MUST(ds, bouma_dataset_open(&ds, path, &o));
    n = bouma_dataset_step_count(ds);
    bouma_dataset_free(ds);
    return n;
}

/* ---- what a step holds -------------------------------------------------- */

static void a_variable_may_be_absent(void)
{
    bouma_options o = memory_options();
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_variable *b;
    bouma_step *step;
    struct writer w;
    uint64_t data[120];

    begin_writing(&w, "absent", &o, 0);
    MUST(w.ds, write_step(&w, 0, 1));
    MUST(w.ds, bouma_step_open(&step, w.ds, 0));
    b = bouma_grid_find_variable(bouma_step_grid(step, 0), "b");
    REQUIRE(b);
    bouma_variable_info_get(&info, b);
    CHECK(!info.present && !info.raw_bytes && !info.stored_bytes);
    CHECK_EQ(test_read(b, 0, NULL, data), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(w.ds), "\"g/b\"");
    bouma_step_free(step);
    /* In the next step it is there. */
    memset(data, 7, sizeof(data));
    MUST(w.ds, bouma_step_begin(w.ds, 1, 0));
    MUST(w.ds, test_put(w.b, &whole, data));
    MUST(w.ds, bouma_step_end(w.ds));
    MUST(w.ds, bouma_step_open(&step, w.ds, 1));
    b = bouma_grid_find_variable(bouma_step_grid(step, 0), "b");
    memset(data, 0, sizeof(data));
    MUST(w.ds, test_read(b, 0, NULL, data));
    CHECK(data[119] == 0x0707070707070707u);
    bouma_step_free(step);
    bouma_dataset_free(w.ds);
}

static void a_step_may_be_empty(void)
{
    for (int assign = BOUMA_ASSIGN_OPTIMAL; assign <= BOUMA_ASSIGN_SINGLE;
         assign++) {
        bouma_options o = memory_options();
        char path[32];
        bouma_step_details d = {.size = sizeof(d)};
        bouma_record record = {.size = sizeof(record)};
        bouma_step *step;
        struct writer w;

        o.assign = (bouma_assign)assign;
        snprintf(path, sizeof(path), "empty%d", assign);
        MUST(w.ds, bouma_dataset_create(&w.ds, path, &o));
        MUST(w.ds, bouma_step_begin(w.ds, 5, 0)); /* nothing defined */
        MUST(w.ds, bouma_step_end(w.ds));
        CHECK(!bouma_dataset_note(w.ds, 0));
        define_two(&w);
        for (int i = 6; i < 8; i++) { /* nothing put: told once */
            MUST(w.ds, bouma_step_begin(w.ds, i, 0));
            MUST(w.ds, bouma_step_end(w.ds));
            REQUIRE(bouma_dataset_note(w.ds, 0));
            CHECK_TEXT(bouma_dataset_note(w.ds, 0), "step 6 has no data");
            CHECK(!bouma_dataset_note(w.ds, 1));
        }
        MUST(w.ds, bouma_dataset_close(w.ds));
        bouma_dataset_free(w.ds);
        CHECK_EQ(count_steps(path), 3);
        MUST(w.ds, bouma_dataset_open(&w.ds, path, &o));
        MUST(w.ds, bouma_step_open(&step, w.ds, 5));
        CHECK_EQ(bouma_step_grid_count(step), 0);
        bouma_step_free(step);
        MUST(w.ds, bouma_step_open(&step, w.ds, 6));
        CHECK_EQ(bouma_step_grid_count(step), 1);
        bouma_step_details_get(&d, step);
        bouma_step_record_get(&record, step);
        CHECK_EQ(record.chunks, 0);
        CHECK_EQ(record.raw_bytes, 0);
        bouma_step_free(step);
        bouma_dataset_free(w.ds);
    }
}

/* The tag and the writing of step 1, as a new reader sees them. */
static void identify(uint64_t *tag, uint64_t *writing, const bouma_options *o)
{
    bouma_step_details d = {.size = sizeof(d)};
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    bouma_step *step;

    MUST(ds, bouma_dataset_open(&ds, "tags", o));
    MUST(ds, bouma_dataset_step_get(&info, ds, 0));
    CHECK_EQ(info.step, 1);
    *writing = info.writing;
    MUST(ds, bouma_dataset_last_step(&info, ds));
    CHECK(info.writing != *writing);
    MUST(ds, bouma_step_open(&step, ds, 1));
    MUST(ds, bouma_step_details_get(&d, step));
    *tag = d.tag;
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void a_step_has_another_tag_when_it_is_rewritten(void)
{
    uint64_t tag[3], writing[3];
    bouma_options o = memory_options();
    struct writer w;

    o.replace = 1;
    begin_writing(&w, "tags", &o, 0);
    MUST(w.ds, write_step(&w, 1, 3));
    MUST(w.ds, write_step(&w, 2, 3));
    identify(&tag[0], &writing[0], &o);
    identify(&tag[1], &writing[1], &o);
    MUST(w.ds, write_step(&w, 1, 3)); /* the same values */
    identify(&tag[2], &writing[2], &o);
    CHECK(tag[0] == tag[1] && writing[0] == writing[1]);
    CHECK(tag[0] != tag[2] && writing[0] != writing[2]);
    CHECK(writing[0] && writing[2]);
    bouma_dataset_free(w.ds);
}

static void steps_are_listed_in_order_with_their_times(void)
{
    static const int64_t numbers[] = {30, 2, 1000000000000, 7, 0};
    static const int64_t sorted[] = {0, 2, 7, 30, 1000000000000};
    bouma_options o = memory_options();
    bouma_step_info info = {.size = sizeof(info)};
    struct writer w;

    begin_writing(&w, "order", &o, 0);
    for (int i = 0; i < 5; i++)
        MUST(w.ds, write_step(&w, numbers[i], (float)i));
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(bouma_dataset_step_count(w.ds), 5);
        for (int i = 0; i < 5; i++) {
            CHECK_EQ(bouma_dataset_step_get(&info, w.ds, i), BOUMA_OK);
            CHECK_EQ(info.step, sorted[i]);
            CHECK(info.time == (double)sorted[i] / 4);
        }
        CHECK_EQ(bouma_dataset_step_get(&info, w.ds, 5), BOUMA_ENOTFOUND);
        CHECK_EQ(bouma_dataset_step_get(&info, w.ds, -1), BOUMA_ENOTFOUND);
        bouma_dataset_free(w.ds);
        MUST(w.ds, bouma_dataset_open(&w.ds, "order", &o));
    }
    bouma_dataset_free(w.ds);
    CHECK(look("order", 1000000000000) == 2);
    CHECK(look("order", 3) == -1);
}

static void a_step_tells_how_it_lies_on_disk(void)
{
    bouma_options o = memory_options();
    bouma_step_details d = {.size = sizeof(d)};
    bouma_record record = {.size = sizeof(record)};
    bouma_step_file file = {.size = sizeof(file)};
    bouma_selection s = {.size = sizeof(s)};
    bouma_grid_info g = {.size = sizeof(g)};
    bouma_variable_info v = {.size = sizeof(v)};
    bouma_step *step;
    bouma_box box = {{3, 2, 0}, {9, 9, 0}};
    struct writer w;
    uint64_t bytes = 0;
    int64_t chunks = 0;

    o.files = 3;
    o.order = BOUMA_ORDER_CHUNK;
    o.assign = BOUMA_ASSIGN_COUNT;
    begin_writing(&w, "details", &o, 0);
    MUST(w.ds, write_step(&w, 4, 1));
    MUST(w.ds, bouma_step_open(&step, w.ds, 4));
    bouma_step_details_get(&d, step);
    bouma_step_record_get(&record, step);
    CHECK(d.step == 4 && d.time == 1 && d.order == BOUMA_ORDER_CHUNK);
    CHECK(d.assign == BOUMA_ASSIGN_COUNT && d.place == BOUMA_PLACE_SPREAD);
    CHECK(record.files == 3 && record.chunks == 9 && record.ranks == 1);
    CHECK_EQ(record.raw_bytes, 480);
    CHECK(d.manifest_bytes > 64);
    for (int64_t i = 0; i < 3; i++) {
        CHECK_EQ(bouma_step_file_get(&file, step, i), BOUMA_OK);
        CHECK_EQ(file.chunks, 3);
        bytes += file.bytes;
        chunks += file.chunks;
        CHECK(file.bytes <= record.largest_file);
    }
    CHECK_EQ(bytes, record.stored_bytes);
    CHECK_EQ(chunks, 9);
    CHECK_EQ(bouma_step_file_get(&file, step, 3), BOUMA_ENOTFOUND);
    bouma_grid_info_get(&g, bouma_step_grid(step, 0));
    CHECK(!strcmp(g.name, "g") && !strcmp(g.unit, "m") && g.ndims == 2);
    CHECK(g.shape[0] == 12 && g.shape[1] == 10 && g.patch[1] == 4);
    CHECK(g.levels == 2 && g.variables == 2 && g.patches == 9);
    CHECK(g.origin[1] == 200 && g.spacing[0] == 0.5);
    bouma_variable_info_get(&v,
                            bouma_grid_variable(bouma_step_grid(step, 0), 1));
    CHECK(!strcmp(v.name, "b") && v.codec == BOUMA_CODEC_RAW);
    MUST(w.ds,
         bouma_variable_select(
             &s, bouma_grid_variable(bouma_step_grid(step, 0), 0), 1, &box));
    CHECK(s.shape[0] == 3 && s.shape[1] == 4); /* 4 6 8, 2 4 6 8 */
    CHECK(s.first[0] == 4 && s.first[1] == 2);
    CHECK(s.origin[0] == 102 && s.origin[1] == 204);
    CHECK(s.spacing[0] == 1 && s.spacing[1] == 4);
    CHECK_EQ(s.bytes, 48);
    bouma_step_free(step);
    bouma_dataset_free(w.ds);
}

static void ranges_leave_nan_out(void)
{
    bouma_options o = memory_options();
    bouma_variable *a, *b;
    uint64_t large[120];
    float data[120];
    bouma_range r;
    bouma_step *step;
    struct writer w;

    begin_writing(&w, "ranges", &o, 0);
    for (int i = 0; i < 120; i++) {
        data[i] = i % 3 ? (float)i : NAN;
        large[i] = UINT64_MAX - (uint64_t)i;
    }
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    MUST(w.ds, test_put(w.a, &whole, data));
    MUST(w.ds, test_put(w.b, &whole, large));
    MUST(w.ds, bouma_step_end(w.ds));
    MUST(w.ds, bouma_step_open(&step, w.ds, 0));
    a = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    b = bouma_grid_variable(bouma_step_grid(step, 0), 1);
    CHECK_EQ(bouma_variable_range(&r, a, 0), BOUMA_OK);
    CHECK(r.low == 1 && r.high == 119 && r.nans == 40 && !r.empty);
    CHECK_EQ(bouma_variable_range(&r, b, 0), BOUMA_OK);
    CHECK(r.exact_low.u == UINT64_MAX - 119 && r.exact_high.u == UINT64_MAX);
    CHECK(r.nans == 0 && !r.empty);
    CHECK_EQ(bouma_variable_range(&r, a, 1), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_variable_range(&r, a, -1), BOUMA_ENOTFOUND);
    bouma_step_free(step);
    MUST(w.ds, write_step(&w, 1, NAN));
    MUST(w.ds, bouma_step_open(&step, w.ds, 1));
    a = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    CHECK_EQ(bouma_variable_range(&r, a, 0), BOUMA_OK);
    CHECK(r.empty && r.nans == 120);
    bouma_step_free(step);
    bouma_dataset_free(w.ds);
}

/* ---- when they become visible ------------------------------------------- */

static void a_step_is_visible_when_it_has_ended(void)
{
    bouma_options o = memory_options();
    bouma_dataset *reader;
    struct writer w;

    begin_writing(&w, "visible", &o, 0);
    MUST(reader, bouma_dataset_open(&reader, "visible", &o));
    CHECK_EQ(bouma_dataset_step_count(reader), 0);
    MUST(w.ds, write_step(&w, 0, 3));
    CHECK_EQ(bouma_dataset_step_count(reader), 0);
    MUST(reader, bouma_dataset_refresh(reader));
    CHECK_EQ(bouma_dataset_step_count(reader), 1);
    CHECK(look("visible", 0) == 3);
    bouma_dataset_free(reader);
    bouma_dataset_free(w.ds);
}

static void a_group_becomes_visible_together(void)
{
    bouma_options o = memory_options();
    struct writer w;

    o.durability = BOUMA_DURABILITY_GROUP;
    o.group = 3;
    begin_writing(&w, "group", &o, 0);
    MUST(w.ds, write_step(&w, 0, 10));
    MUST(w.ds, write_step(&w, 1, 11));
    CHECK_EQ(count_steps("group"), 0);
    CHECK_EQ(bouma_dataset_step_count(w.ds), 0);
    CHECK_EQ(write_step(&w, 1, 99), BOUMA_EEXISTS); /* held counts, too */
    MUST(w.ds, write_step(&w, 2, 12));
    CHECK_EQ(count_steps("group"), 3);
    CHECK_EQ(bouma_dataset_step_count(w.ds), 3);
    MUST(w.ds, write_step(&w, 3, 13));
    CHECK_EQ(count_steps("group"), 3);
    MUST(w.ds, bouma_dataset_flush(w.ds));
    CHECK_EQ(count_steps("group"), 4);
    MUST(w.ds, bouma_dataset_flush(w.ds)); /* nothing to do */
    MUST(w.ds, write_step(&w, 4, 14));
    CHECK_EQ(count_steps("group"), 4);
    MUST(w.ds, bouma_dataset_close(w.ds));
    CHECK_EQ(count_steps("group"), 5);
    bouma_dataset_free(w.ds);
    for (int i = 0; i < 5; i++)
        CHECK(look("group", i) == (float)(10 + i));
}

static void what_a_group_holds_back_is_lost_without_a_close(void)
{
    bouma_options o = memory_options();
    struct writer w;
    const char *note;
    int found = 0;

    o.durability = BOUMA_DURABILITY_GROUP;
    begin_writing(&w, "lost", &o, 0);
    MUST(w.ds, write_step(&w, 0, 1));
    MUST(w.ds, bouma_dataset_flush(w.ds));
    MUST(w.ds, write_step(&w, 1, 2));
    bouma_dataset_free(w.ds);
    CHECK_EQ(count_steps("lost"), 1);
    /* The next writer is told, and can write that step. */
    begin_writing(&w, "lost", &o, 1);
    for (int i = 0; (note = bouma_dataset_note(w.ds, i)) != NULL; i++)
        found |= strstr(note, "step 1 was written") != NULL;
    CHECK(found);
    CHECK(!bouma_dataset_note(w.ds, -1));
    MUST(w.ds, write_step(&w, 1, 5));
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
    CHECK(look("lost", 1) == 5);
}

static void an_aborted_step_is_not_there(void)
{
    bouma_options o = memory_options();
    struct writer w;
    float data[120] = {0};

    begin_writing(&w, "aborted", &o, 0);
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    MUST(w.ds, test_put(w.a, &whole, data));
    CHECK_EQ(bouma_step_abort(w.ds), BOUMA_EABORTED);
    CHECK_TEXT(bouma_error_message(w.ds), "aborted");
    CHECK_EQ(count_steps("aborted"), 0);
    MUST(w.ds, write_step(&w, 0, 4));
    CHECK(look("aborted", 0) == 4);
    bouma_dataset_free(w.ds);
}

/* ---- again, and after others -------------------------------------------- */

static void a_step_is_replaced_only_on_demand(void)
{
    bouma_options o = memory_options();
    bouma_step *step;
    struct writer w;
    float data[120];

    begin_writing(&w, "replace", &o, 0);
    MUST(w.ds, write_step(&w, 0, 1));
    CHECK_EQ(write_step(&w, 0, 2), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(w.ds), "step 0 exists already");
    CHECK_TEXT(bouma_error_message(w.ds), "replace");
    CHECK(look("replace", 0) == 1);
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
    o.replace = 1;
    begin_writing(&w, "replace", &o, 1);
    MUST(w.ds, bouma_step_open(&step, w.ds, 0)); /* a reader of the old one */
    MUST(w.ds, write_step(&w, 0, 2));
    MUST(w.ds, test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0,
                         NULL, data));
    CHECK(data[0] == 1);
    bouma_step_free(step);
    CHECK(look("replace", 0) == 2);
    CHECK_EQ(count_steps("replace"), 1);
    MUST(w.ds, write_step(&w, 0, 3));
    CHECK(look("replace", 0) == 3);
    bouma_dataset_free(w.ds);
}

/* As a writer leaves it that was killed in the middle of a step. */
static void leave_files(const char *path, const char *dir, const char *file)
{
    size_t done;
    void *root, *f;

    REQUIRE(!io->attach(io->user, &root, path, 0));
    REQUIRE(!io->make_dir(io->user, root, dir));
    REQUIRE(!io->open(io->user, root, &f, file, BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!io->write(io->user, f, "half", 4, 0, &done));
    REQUIRE(!io->close(io->user, f));
    io->detach(io->user, root);
}

static void appending_tells_of_an_unfinished_step(void)
{
    bouma_options o = memory_options();
    struct writer w;
    const char *note;
    int found = 0;

    begin_writing(&w, "killed", &o, 0);
    MUST(w.ds, write_step(&w, 0, 1));
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
    leave_files("killed", "steps/00000001", "steps/00000001/d.0000.e1a2");
    CHECK_EQ(count_steps("killed"), 1);
    begin_writing(&w, "killed", &o, 1);
    for (int i = 0; (note = bouma_dataset_note(w.ds, i)) != NULL; i++)
        found |=
            strstr(note, "step 1 is incomplete (1 file, no manifest)") != NULL;
    CHECK(found);
    MUST(w.ds, write_step(&w, 1, 8));
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
    CHECK(look("killed", 1) == 8);
    CHECK_EQ(count_steps("killed"), 2);
}

static void plans_follow_changed_blocks_and_variables(void)
{
    bouma_options o = memory_options();
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_I8};
    const bouma_box low = {{0, 0, 0}, {5, 10, 0}},
                    high = {{5, 0, 0}, {12, 10, 0}};
    bouma_variable *c;
    bouma_step *step;
    struct writer w;
    float data[120];
    int8_t bytes[120], back[120];

    for (int i = 0; i < 120; i++) {
        data[i] = (float)i;
        bytes[i] = (int8_t)i;
    }
    begin_writing(&w, "plans", &o, 0);
    MUST(w.ds, write_step(&w, 0, 1));
    MUST(w.ds, write_step(&w, 1, 2)); /* the plan is used again */
    MUST(w.ds, bouma_step_begin(w.ds, 2, 0));
    MUST(w.ds, test_put(w.a, &high, data + 50));
    MUST(w.ds, test_put(w.a, &low, data));
    MUST(w.ds, bouma_step_end(w.ds));
    MUST(w.ds, bouma_variable_define(&c, w.grid, "c", &spec));
    MUST(w.ds, bouma_step_begin(w.ds, 3, 0));
    MUST(w.ds, test_put(c, &whole, bytes));
    MUST(w.ds, bouma_step_end(w.ds));
    MUST(w.ds, write_step(&w, 4, 5));
    CHECK(look("plans", 1) == 2 && look("plans", 4) == 5);
    MUST(w.ds, bouma_step_open(&step, w.ds, 2));
    memset(data, 0, sizeof(data));
    MUST(w.ds, test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0,
                         NULL, data));
    for (int i = 0; i < 120; i++)
        CHECK(data[i] == (float)i);
    bouma_step_free(step);
    MUST(w.ds, bouma_step_open(&step, w.ds, 3));
    MUST(w.ds,
         test_read(bouma_grid_find_variable(bouma_step_grid(step, 0), "c"), 0,
                   NULL, back));
    CHECK(!memcmp(back, bytes, sizeof(back)));
    bouma_step_free(step);
    bouma_dataset_free(w.ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    a_variable_may_be_absent();
    a_step_may_be_empty();
    a_step_has_another_tag_when_it_is_rewritten();
    steps_are_listed_in_order_with_their_times();
    a_step_tells_how_it_lies_on_disk();
    ranges_leave_nan_out();
    a_step_is_visible_when_it_has_ended();
    a_group_becomes_visible_together();
    what_a_group_holds_back_is_lost_without_a_close();
    an_aborted_step_is_not_there();
    a_step_is_replaced_only_on_demand();
    appending_tells_of_an_unfinished_step();
    plans_follow_changed_blocks_and_variables();
    bouma_io_memory_free(io);
    return check_result();
}
