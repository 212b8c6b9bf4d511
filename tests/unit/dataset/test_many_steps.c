/* Datasets of very many steps: what opening one costs, and that nothing is
 * missing. */
#include "crowd.h"

enum { MANY = 100000 };

static void one_step_of_many_is_opened_without_a_list(void)
{
    struct crowd *c = crowd_here();
    bouma_dataset *ds;
    bouma_step *step;

    crowd_make(MANY, NULL, 0);
    ds = crowd_visit();
    CHECK_EQ(c->lists, 0);
    CHECK(c->bytes < 1024);
    CHECK_EQ(c->opened, 1); /* the file DATASET */
    MUST(ds, bouma_step_open(&step, ds, 0));
    bouma_step_free(step);
    CHECK_EQ(c->lists, 0);
    CHECK(c->bytes < 4096);
    CHECK_EQ(c->opened, 2);
    bouma_dataset_free(ds);
    crowd_free();
}

static void a_list_has_all_of_many_in_order(void)
{
    struct crowd *c = crowd_here();
    bouma_dataset *ds;

    crowd_make(MANY, NULL, 0);
    ds = crowd_visit();
    CHECK_EQ(bouma_dataset_step_count(ds), MANY);
    for (int64_t i = 0; i < MANY; i++) {
        bouma_step_info info = {.size = sizeof(info)};

        REQUIRE(!bouma_dataset_step_get(&info, ds, i));
        REQUIRE(info.step == i && info.time == (double)i / 4);
    }
    CHECK_EQ(c->lists, 1);  /* once for all */
    CHECK_EQ(c->opened, 2); /* DATASET and the index, and no manifest */
    CHECK(c->bytes < MANY * BM_INDEX_RECORD + 1024);
    CHECK_EQ(bouma_dataset_step_count(ds), MANY);
    CHECK_EQ(c->lists, 1);
    MUST(ds, bouma_dataset_refresh(ds));
    CHECK_EQ(c->lists, 2);
    CHECK_EQ(bouma_dataset_step_count(ds), MANY);
    CHECK_EQ(c->lists, 2);
    bouma_dataset_free(ds);
    crowd_free();
}

/* What the index says twice, or of steps that are not there. */
static void the_last_record_of_a_step_counts(void)
{
    enum { COUNT = 300, RECORDS = 2000 };
    uint64_t order[RECORDS], state = 5;
    double latest[COUNT];
    struct bm_step_list list;
    size_t bad;

    for (size_t i = 0; i < RECORDS; i++)
        order[i] = i < COUNT ? COUNT - 1 - i
                             : (uint64_t)check_below(&state, COUNT + 50);
    crowd_make(COUNT, order, RECORDS);
    for (size_t i = 0; i < RECORDS; i++)
        if (order[i] < COUNT)
            latest[order[i]] = (double)i + 1;
    bm_step_list_init(&list, bm_allocator_default());
    CHECK_EQ(bm_index_decode(&list, crowd_here()->index,
                             crowd_here()->index_bytes, crowd_id, &bad),
             BOUMA_OK);
    CHECK_EQ(bad, 0);
    CHECK(list.count > COUNT && list.count <= COUNT + 50);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_EQ(list.entries[i].step, i);
        CHECK_EQ(list.entries[i].generation.attempt, latest[i]);
    }
    bm_step_list_release(&list);
    crowd_free();
}

static void a_list_that_cannot_be_read_is_told(void)
{
    struct crowd *c = crowd_here();
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    bouma_step *step;

    crowd_make(10, NULL, 0);
    c->broken = 1;
    ds = crowd_visit();
    CHECK_EQ(bouma_dataset_step_count(ds), -1);
    CHECK_TEXT(bouma_error_message(ds), "crowd");
    CHECK_EQ(bouma_dataset_step_get(&info, ds, 0), BOUMA_EIO);
    CHECK(!bouma_dataset_attributes(ds));
    CHECK(!bouma_dataset_note(ds, 0));
    CHECK_EQ(bouma_step_open(&step, ds, 55), BOUMA_EIO);
    MUST(ds, bouma_step_open(&step, ds, 0)); /* this one is there */
    bouma_step_free(step);
    CHECK_EQ(bouma_dataset_refresh(ds), BOUMA_EIO);
    c->broken = 0;
    CHECK_EQ(bouma_dataset_step_count(ds), 10);
    CHECK_EQ(bouma_step_open(&step, ds, 55), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "it has 10, from 0 to 9");
    bouma_dataset_free(ds);
    crowd_free();
}

int main(void)
{
    one_step_of_many_is_opened_without_a_list();
    a_list_has_all_of_many_in_order();
    the_last_record_of_a_step_counts();
    a_list_that_cannot_be_read_is_told();
    return check_result();
}
