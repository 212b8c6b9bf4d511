/* Single steps that are deleted: they are gone for good, wherever they were,
 * and the others are as before. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"
#include "fault_io.h"
#include "files.h"
#include "must.h"
#include "two_stores.h"

static uint64_t findings(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)));
    return report.damages + report.unchecked + report.notes;
}

/* ---- claims ------------------------------------------------------------- */

static void a_step_in_the_middle_goes(void)
{
    struct writer writer;
    struct stores w;
    bouma_options o;
    char text[5];

    stores_make(&w, 0);
    o = stores_options(&w, 0);
    append(&writer, w.far, &o);
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 3);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1-11");
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_OK); /* it is gone */
    CHECK_EQ(bouma_step_delete(writer.ds, 5), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(writer.ds), "has no step 5");
    write_step(&writer, 1, 2); /* 'replace' is not needed */
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1211");
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){3, 0, 3}, 3),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){2, 7}, 2),
             BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, NULL, 0), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "-21-");
    CHECK_EQ(findings(w.far), 0);
    stores_shell(&w,
                 "test \"$(ls far/d.bouma/steps)\" = \"00000001\n00000002\"");
    stores_end(&w);
}

static void what_is_wrong_is_told(void)
{
    struct writer writer;
    bouma_dataset *ds;
    struct stores w;

    stores_make(&w, 0);
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
    stores_end(&w);
}

/* One who was killed: its manifest is gone, its files are not. */
static void an_interrupted_call_is_finished(void)
{
    struct writer writer;
    struct stores w;
    char text[5];

    stores_make(&w, 0);
    stores_shell(&w,
                 "cp -r far/d.bouma/steps/00000002 rest && rm rest/manifest");
    append(&writer, w.far, NULL);
    MUST(writer.ds, bouma_step_delete(writer.ds, 2));
    end(&writer);
    stores_shell(&w, "mv rest far/d.bouma/steps/00000002");
    append(&writer, w.far, NULL);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "was dropped on purpose");
    CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "11-1");
    CHECK_EQ(findings(w.far), 0);
    stores_end(&w);
}

/* One that was killed when step 3 of 1, 2 and 3 was gone: no file of it is left,
 * but the record of one that it had lost before. */
static void the_same_call_does_the_rest(void)
{
    bouma_repair_report report = {.size = sizeof(report)};
    struct writer writer;
    struct stores w;
    char text[5], message[640];

    stores_make(&w, 0);
    stores_shell(&w,
                 "cd far/d.bouma/steps/00000003 && rm $(ls -d d.* | head -1)");
    REQUIRE(!bouma_repair(&report, w.far, 1, NULL, NULL, NULL, message,
                          sizeof(message)));
    stores_shell(&w, "test -e far/d.bouma/lost/00000003.loss");
    stores_shell(&w, "cp -r far/d.bouma save");
    append(&writer, w.far, NULL);
    MUST(writer.ds,
         bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2, 3}, 3));
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1---");
    stores_shell(&w, "mv save/steps/0000000[12] far/d.bouma/steps &&"
                     "cp -r save/lost far/d.bouma && rm far/d.bouma/index");
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "111-");
    append(&writer, w.far, NULL);
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2, 3, 4}, 4),
             BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(writer.ds), "has no step 4; nothing");
    CHECK_EQ(bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2, 3}, 3),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 1);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1---");
    stores_shell(&w, "test ! -e far/d.bouma/lost/00000003.loss");
    CHECK_EQ(findings(w.far), 0);
    stores_end(&w);
}

/* Not even for the one who deletes it. */
static void an_open_step_is_not_kept(void)
{
    struct scenario_values values;
    bouma_array array = {.size = sizeof(array),
                         .type = BOUMA_TYPE_F64,
                         .data = values.temperature,
                         .bytes = sizeof(values.temperature)};
    struct writer writer;
    bouma_step *step;
    struct stores w;
    int rc;

    stores_make(&w, 0);
    append(&writer, w.far, NULL);
    MUST(writer.ds, bouma_step_open(&step, writer.ds, 1));
    MUST(writer.ds, bouma_step_delete(writer.ds, 1));
    rc = bouma_variable_read(bouma_grid_variable(bouma_step_grid(step, 0), 0),
                             0, NULL, &array);
    CHECK_EQ(rc, BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(writer.ds), "was removed since");
    bouma_step_free(step);
    end(&writer);
    stores_end(&w);
}

/* Also one that nobody can read, and with it the record of its loss. */
static void a_damaged_step_can_go(void)
{
    struct writer writer;
    struct stores w;
    char text[5];

    stores_make(&w, 0);
    stores_shell(&w, "printf x >far/d.bouma/steps/00000001/manifest");
    CHECK(findings(w.far) > 0);
    append(&writer, w.far, NULL);
    CHECK_EQ(bouma_step_delete(writer.ds, 1), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1-11");
    CHECK_EQ(findings(w.far), 0);
    stores_end(&w);
}

static void steps_of_a_group_go_too(void)
{
    struct writer writer;
    struct stores w;
    bouma_options o;
    char text[5];

    stores_make(&w, 0);
    o = stores_options(&w, 0);
    o.replace = 1;
    o.durability = BOUMA_DURABILITY_GROUP;
    append(&writer, w.far, &o);
    write_step(&writer, 1, 2);
    write_step(&writer, 2, 2);
    CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "12-1");
    CHECK_EQ(findings(w.far), 0);
    stores_end(&w);
}

/* From a local copy that the call does not know of. */
static void no_drain_brings_it_back(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    bouma_options o;
    struct stores w;
    char text[5];

    stores_make(&w, 1);
    append(&writer, w.far, NULL);
    MUST(writer.ds,
         bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2}, 2));
    write_step(&writer, 2, 5);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.local_copy, 0, text), "1111");
    CHECK_EQ(stores_drain(&w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.dropped, 2);
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1-51");
    /* Who goes on with the local copy cleans it. */
    o = stores_options(&w, 1);
    append(&writer, w.far, &o);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "2 steps were removed from");
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 3);
    write_step(&writer, 1, 6);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.local_copy, 0, text), "16-1");
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "1651");
    CHECK_EQ(stores_drain(&w, 1, &report), BOUMA_OK);
    CHECK_EQ(findings(w.far), 0);
    stores_end(&w);
}

/* From both, by one who knows of it. */
static void local_copies_lose_it_as_well(void)
{
    struct writer writer;
    bouma_options o;
    struct stores w;
    char text[5];

    stores_make(&w, 1);
    o = stores_options(&w, 1);
    append(&writer, w.far, &o);
    write_step(&writer, 4, 1);
    CHECK_EQ(bouma_step_delete(writer.ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_delete(writer.ds, 4), BOUMA_OK);
    end(&writer);
    CHECK_TEXT(stores_look(&w, w.local_copy, 0, text), "-111");
    CHECK_TEXT(stores_look(&w, w.far, 0, text), "-111");
    CHECK_EQ(findings(w.far) + findings(w.local_copy), 0);
    stores_end(&w);
}

/* Whatever memory is missing: gone, or as before. */
static void without_memory_it_stays_or_goes(void)
{
    for (long at = 1;; at++) {
        struct fault_alloc memory;
        struct writer writer;
        struct stores w;
        bouma_options o;
        char text[5];
        int rc;

        stores_make(&w, 0);
        o = stores_options(&w, 0);
        fault_alloc_init(&memory);
        o.allocator = &memory.table;
        append(&writer, w.far, &o);
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_step_delete(writer.ds, 2);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        stores_look(&w, w.far, 0, text);
        CHECK(!strcmp(text, "11-1") || (rc && !strcmp(text, "1111")));
        /* The handle knows what is left. */
        CHECK_EQ(bouma_dataset_step_count(writer.ds), text[2] == '-' ? 3 : 4);
        if (rc)
            CHECK_EQ(bouma_step_delete(writer.ds, 2), BOUMA_OK);
        bouma_dataset_free(writer.ds);
        CHECK_TEXT(stores_look(&w, w.far, 0, text), "11-1");
        CHECK_EQ(memory.live, 0);
        stores_end(&w);
        if (!rc && !memory.fired)
            break;
    }
}

/* Storage that fails once, anywhere: some are gone, others not, and the handle
 * knows which. */
static void after_a_failure_the_list_is_what_is_left(void)
{
    const struct fault fault = {"EIO", FAULT_ERROR, 5};
    int half_way = 0;

    for (long at = 1;; at += 2) {
        struct fault_io io;
        struct writer writer;
        struct stores w;
        bouma_options o;
        char text[5];
        int left, rc;

        stores_make(&w, 0);
        o = stores_options(&w, 0);
        fault_io_init(&io, bouma_io_posix());
        o.io = &io.table;
        append(&writer, w.far, &o);
        fault_io_arm(&io, &fault, at, 0);
        rc = bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2, 3}, 3);
        fault_io_disarm(&io);
        stores_look(&w, w.far, 0, text);
        left = (text[1] != '-') + (text[2] != '-') + (text[3] != '-');
        CHECK_EQ(bouma_dataset_step_count(writer.ds), 1 + left);
        half_way += left > 0 && left < 3;
        if (rc) {
            CHECK(bouma_error_message(writer.ds)[0]);
            CHECK_EQ(
                bouma_dataset_delete_steps(writer.ds, (int64_t[]){1, 2, 3}, 3),
                BOUMA_OK);
        }
        bouma_dataset_free(writer.ds);
        CHECK_TEXT(stores_look(&w, w.far, 0, text), "1---");
        stores_end(&w);
        if (!io.fired)
            break;
    }
    CHECK(half_way > 0);
}

int main(void)
{
    a_step_in_the_middle_goes();
    what_is_wrong_is_told();
    an_interrupted_call_is_finished();
    the_same_call_does_the_rest();
    an_open_step_is_not_kept();
    a_damaged_step_can_go();
    steps_of_a_group_go_too();
    no_drain_brings_it_back();
    local_copies_lose_it_as_well();
    without_memory_it_stays_or_goes();
    after_a_failure_the_list_is_what_is_left();
    return check_result();
}
