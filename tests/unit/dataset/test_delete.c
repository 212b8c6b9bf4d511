/* Single steps that are deleted: they are gone for good, wherever they were,
 * and the others are as before. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"
#include "files.h"
#include "must.h"
#include "step_writer.h"

/* DIR/far/d.bouma is the dataset, DIR/near/d.bouma its local copy. */
struct world {
    char dir[64], far[128], near[128], local_copy[160];
};

static bouma_options options_of(const struct world *w, int persist)
{
    bouma_options o = {.size = sizeof(o)};

    o.files = 2;
    o.persist = persist;
    if (persist)
        o.local = w->near;
    return o;
}

/* Steps 0 to 3, all of generation 1. */
static void world_make(struct world *w, int persist)
{
    struct writer writer = {0};
    bouma_options o;

    memset(w, 0, sizeof(*w));
    snprintf(w->dir, sizeof(w->dir), "/tmp/test_delete.XXXXXX");
    REQUIRE(mkdtemp(w->dir));
    snprintf(w->far, sizeof(w->far), "%s/far", w->dir);
    snprintf(w->near, sizeof(w->near), "%s/near", w->dir);
    REQUIRE(!mkdir(w->far, 0777) && !mkdir(w->near, 0777));
    snprintf(w->local_copy, sizeof(w->local_copy), "%s/d.bouma", w->near);
    strcat(w->far, "/d.bouma");
    o = options_of(w, persist);
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &o));
    for (int step = 0; step < 4; step++)
        write_step(&writer, step, 1);
    end(&writer);
}

static void world_end(struct world *w)
{
    REQUIRE(!remove_tree(w->dir));
}

/* Which generation of steps 0 to 3 is in a store, as digits, '-' for none. */
static const char *look(const char *path, char text[5])
{
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_open(&ds, path, NULL));
    for (int step = 0; step < 4; step++) {
        int generation = -1;
        enum scenario_verdict verdict = scenario_read(ds, step, &generation);

        text[step] = verdict == SCENARIO_EXACT    ? (char)('0' + generation)
                     : verdict == SCENARIO_ABSENT ? '-'
                                                  : '?';
    }
    text[4] = 0;
    bouma_dataset_free(ds);
    return text;
}

static uint64_t findings(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)));
    return report.damages + report.unchecked + report.notes;
}

static int drain(const struct world *w, int remove, bouma_drain_report *report)
{
    char message[640];

    return bouma_drain(report, w->local_copy, w->far, remove, NULL, message,
                       sizeof(message));
}

static void shell(const struct world *w, const char *command)
{
    char text[400];

    snprintf(text, sizeof(text), "cd %s && %s", w->dir, command);
    REQUIRE(!system(text));
}

/* ---- claims ------------------------------------------------------------- */

static void a_step_in_the_middle_goes(void)
{
    struct writer writer;
    struct world w;
    bouma_options o;
    char text[5];

    world_make(&w, 0);
    o = options_of(&w, 0);
    append(&writer, w.far, &o);
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 3);
    CHECK_TEXT(look(w.far, text), "1-11");
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(writer.ds), "has no step 1");
    write_step(&writer, 1, 2); /* 'replace' is not needed */
    CHECK_TEXT(look(w.far, text), "1211");
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){3, 0, 3}, 3),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){2, 7}, 2),
             BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, NULL, 0), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(look(w.far, text), "-21-");
    CHECK_EQ(findings(w.far), 0);
    shell(&w, "test \"$(ls far/d.bouma/steps)\" = \"00000001\n00000002\"");
    world_end(&w);
}

static void what_is_wrong_is_told(void)
{
    struct writer writer;
    bouma_dataset *ds;
    struct world w;

    world_make(&w, 0);
    append(&writer, w.far, NULL);
    CHECK_EQ(bouma_step_delete(NULL, 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_delete(writer.ds, -1), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(writer.ds), "step numbers begin at 0");
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, NULL, 1), BOUMA_EINVAL);
    MUST(writer.ds, bouma_step_begin(writer.ds, 9, 0));
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_ESTATE);
    CHECK_EQ(bouma_step_abort(writer.ds), BOUMA_EABORTED);
    end(&writer);
    MUST(ds, bouma_dataset_open(&ds, w.far, NULL));
    CHECK_EQ(bouma_step_delete(ds, 1), BOUMA_ESTATE);
    bouma_dataset_free(ds);
    world_end(&w);
}

/* One who was killed: its manifest is gone, its files are not. */
static void an_interrupted_call_is_finished(void)
{
    struct writer writer;
    struct world w;
    char text[5];

    world_make(&w, 0);
    shell(&w, "cp -r far/d.bouma/steps/00000002 rest && rm rest/manifest");
    append(&writer, w.far, NULL);
    MUST(writer.ds, bouma_step_delete(writer.ds, 2));
    end(&writer);
    shell(&w, "mv rest far/d.bouma/steps/00000002");
    append(&writer, w.far, NULL);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "was dropped on purpose");
    CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
    CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_ENOTFOUND);
    end(&writer);
    CHECK_TEXT(look(w.far, text), "11-1");
    CHECK_EQ(findings(w.far), 0);
    world_end(&w);
}

/* Also one that nobody can read, and with it the record of its loss. */
static void a_damaged_step_can_go(void)
{
    struct writer writer;
    struct world w;
    char text[5];

    world_make(&w, 0);
    shell(&w, "printf x >far/d.bouma/steps/00000001/manifest");
    CHECK(findings(w.far) > 0);
    append(&writer, w.far, NULL);
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(look(w.far, text), "1-11");
    CHECK_EQ(findings(w.far), 0);
    world_end(&w);
}

static void steps_of_a_group_go_too(void)
{
    struct writer writer;
    struct world w;
    bouma_options o;
    char text[5];

    world_make(&w, 0);
    o = options_of(&w, 0);
    o.replace = 1;
    o.durability = BOUMA_DURABILITY_GROUP;
    append(&writer, w.far, &o);
    write_step(&writer, 1, 2);
    write_step(&writer, 2, 2);
    CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(look(w.far, text), "12-1");
    CHECK_EQ(findings(w.far), 0);
    world_end(&w);
}

/* From a local copy that the call does not know of. */
static void no_drain_brings_it_back(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    bouma_options o;
    struct world w;
    char text[5];

    world_make(&w, 1);
    append(&writer, w.far, NULL);
    MUST(writer.ds,
         bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2}, 2));
    write_step(&writer, 2, 5);
    end(&writer);
    CHECK_TEXT(look(w.local_copy, text), "1111");
    CHECK_EQ(drain(&w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.dropped, 2);
    CHECK_TEXT(look(w.far, text), "1-51");
    /* Who goes on with the local copy cleans it. */
    o = options_of(&w, 1);
    append(&writer, w.far, &o);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "2 steps were removed from");
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 3);
    write_step(&writer, 1, 6);
    end(&writer);
    CHECK_TEXT(look(w.local_copy, text), "16-1");
    CHECK_TEXT(look(w.far, text), "1651");
    CHECK_EQ(drain(&w, 1, &report), BOUMA_OK);
    CHECK_EQ(findings(w.far), 0);
    world_end(&w);
}

/* From both, by one who knows of it. */
static void local_copies_lose_it_as_well(void)
{
    struct writer writer;
    bouma_options o;
    struct world w;
    char text[5];

    world_make(&w, 1);
    o = options_of(&w, 1);
    append(&writer, w.far, &o);
    write_step(&writer, 4, 1);
    CHECK_EQ(bouma_step_delete(writer.ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_delete(writer.ds, 4), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(look(w.local_copy, text), "-111");
    CHECK_TEXT(look(w.far, text), "-111");
    CHECK_EQ(findings(w.far) + findings(w.local_copy), 0);
    world_end(&w);
}

/* Whatever memory is missing: gone, or as before. */
static void without_memory_it_stays_or_goes(void)
{
    for (long at = 1;; at++) {
        struct fault_alloc memory;
        struct writer writer;
        struct world w;
        bouma_options o;
        char text[5];
        int rc;

        world_make(&w, 0);
        o = options_of(&w, 0);
        fault_alloc_init(&memory);
        o.allocator = &memory.table;
        append(&writer, w.far, &o);
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_step_delete(writer.ds, 2);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        look(w.far, text);
        CHECK(!strcmp(text, "11-1") || (rc && !strcmp(text, "1111")));
        if (rc && !strcmp(text, "1111"))
            CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
        bouma_dataset_free(writer.ds);
        CHECK_TEXT(look(w.far, text), "11-1");
        CHECK_EQ(memory.live, 0);
        world_end(&w);
        if (!rc && !memory.fired)
            break;
    }
}

int main(void)
{
    a_step_in_the_middle_goes();
    what_is_wrong_is_told();
    an_interrupted_call_is_finished();
    a_damaged_step_can_go();
    steps_of_a_group_go_too();
    no_drain_brings_it_back();
    local_copies_lose_it_as_well();
    without_memory_it_stays_or_goes();
    return check_result();
}
