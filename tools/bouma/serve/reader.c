/* reader.c -- datasets and steps that a thread has open. */
#include "reader.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "numbers.h"
#include "sized.h"

/* How long a list of steps is good without a look at the files, and how long
 * if these seem to be the same. */
#define LOOK_SECONDS    0.5
#define REFRESH_SECONDS 5.0

/* What a change of a file shows in. */
struct file_mark {
    uint64_t inode, size, seconds, nanoseconds;
};

/* Of DATASET, which is another one if the dataset was made anew; of the index
 * and the directory of steps, which change with each commit. */
struct dataset_mark {
    struct file_mark identity, index, steps;
};

struct open_dataset {
    bouma_dataset *ds; /* NULL: none */
    size_t number;     /* of the served one */
    uint64_t used;
    double looked, refreshed;
    struct dataset_mark mark;
};

struct open_step {
    bouma_step *step; /* NULL: none */
    struct open_dataset *of;
    int64_t number;
    uint64_t writing, used;
};

bool reader_init(struct reader *out, struct served *served,
                 struct memory_budget *memory, int step_room)
{
    *out = (struct reader){
        .served = served,
        .allocator = memory_budget_allocator(memory),
        .step_room = step_room < READER_STEPS ? step_room : READER_STEPS};
    out->datasets = calloc(READER_DATASETS, sizeof(*out->datasets));
    out->steps = calloc(READER_STEPS, sizeof(*out->steps));
    return out->datasets && out->steps;
}

static void close_step(struct open_step *step)
{
    bouma_step_free(step->step);
    *step = (struct open_step){0};
}

static void close_dataset(struct reader *reader, struct open_dataset *dataset)
{
    for (int i = 0; i < reader->step_room; i++)
        if (reader->steps[i].of == dataset)
            close_step(&reader->steps[i]);
    bouma_dataset_free(dataset->ds);
    *dataset = (struct open_dataset){0};
}

void reader_forget(struct reader *reader)
{
    for (int i = 0; reader->datasets && i < READER_DATASETS; i++)
        if (reader->datasets[i].ds)
            close_dataset(reader, &reader->datasets[i]);
}

void reader_release(struct reader *reader)
{
    if (reader->datasets && reader->steps)
        reader_forget(reader);
    free(reader->datasets);
    free(reader->steps);
    *reader = (struct reader){0};
}

/* ---- datasets ------------------------------------------------------------ */

static struct file_mark mark_file(const char *path, const char *name)
{
    struct file_mark mark = {0};
    char full[PATH_MAX];
    struct stat about;

    if (snprintf(full, sizeof(full), "%s/%s", path, name) < (int)sizeof(full) &&
        stat(full, &about) == 0)
        mark = (struct file_mark){
            (uint64_t)about.st_ino, (uint64_t)about.st_size,
            (uint64_t)about.st_mtim.tv_sec, (uint64_t)about.st_mtim.tv_nsec};
    return mark;
}

static struct dataset_mark mark_dataset(const char *path)
{
    return (struct dataset_mark){mark_file(path, "DATASET"),
                                 mark_file(path, "index"),
                                 mark_file(path, "steps")};
}

static struct open_dataset *find_dataset(struct reader *reader, size_t number)
{
    struct open_dataset *oldest = &reader->datasets[0];

    for (int i = 0; i < READER_DATASETS; i++) {
        struct open_dataset *at = &reader->datasets[i];

        if (at->ds && at->number == number)
            return at;
        if (at->used < oldest->used) /* of one that is not open: 0 */
            oldest = at;
    }
    close_dataset(reader, oldest);
    oldest->number = number;
    return oldest;
}

/* Steps that were rewritten or removed are not kept. */
static void check_steps(struct reader *reader, struct open_dataset *dataset)
{
    bouma_step_info info = {.size = sizeof(info)};

    for (int i = 0; i < reader->step_room; i++) {
        struct open_step *step = &reader->steps[i];

        if (step->of == dataset &&
            (bouma_dataset_next_step(&info, dataset->ds, step->number - 1) ||
             info.step != step->number || info.writing != step->writing))
            close_step(step);
    }
}

static int open_new(struct reader *reader, struct open_dataset *dataset,
                    const char *path)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bouma_options opts = {
        .size = sizeof(opts),
        .allocator = &reader->allocator,
        .threads = processors < 1   ? 1
                   : processors > 8 ? 8
                                    : (int)processors,
        /* What is read must have a size_t for its size, which has
                           * 32 bits in browsers. */
        .memory_limit = sizeof(size_t) < 8 ? (uint64_t)1 << 30 : 0,
        .trace = "off"};

    dataset->mark = mark_dataset(path);
    dataset->looked = dataset->refreshed = served_clock();
    return bouma_dataset_open(&dataset->ds, path, &opts);
}

/* Look whether there is something new. */
static int renew(struct reader *reader, struct open_dataset *dataset,
                 const char *path)
{
    struct dataset_mark mark;
    double now = served_clock();
    int rc = BOUMA_OK;

    if (now - dataset->looked < LOOK_SECONDS)
        return BOUMA_OK;
    mark = mark_dataset(path);
    dataset->looked = now;
    if (memcmp(&mark.identity, &dataset->mark.identity,
               sizeof(mark.identity)) != 0) {
        size_t number = dataset->number;

        close_dataset(reader, dataset);
        dataset->number = number;
        return open_new(reader, dataset, path);
    }
    if (now - dataset->refreshed < REFRESH_SECONDS &&
        memcmp(&mark, &dataset->mark, sizeof(mark)) == 0)
        return BOUMA_OK;
    rc = bouma_dataset_refresh(dataset->ds);
    if (!rc) {
        dataset->mark = mark;
        dataset->refreshed = now;
        check_steps(reader, dataset);
    }
    return rc;
}

static int open_number(struct open_dataset **out, struct reader *reader,
                       size_t number)
{
    const struct served_dataset *served = served_get(reader->served, number);
    struct open_dataset *dataset = find_dataset(reader, number);
    int rc = dataset->ds ? renew(reader, dataset, served->path)
                         : open_new(reader, dataset, served->path);

    dataset->used = ++reader->clock;
    *out = dataset;
    return rc;
}

/* Not kept if it failed: the message is copied before. */
static int fail_open(struct reader *reader, struct open_dataset *dataset,
                     struct answer *answer, int rc)
{
    answer_fail_status(answer, rc == BOUMA_ENOTFOUND ? BOUMA_EIO : rc,
                       bouma_error_message(dataset->ds));
    close_dataset(reader, dataset);
    return rc;
}

/* The names there are, as far as they fit. */
static void fail_unknown(struct reader *reader, struct answer *answer,
                         const char *name)
{
    size_t count = served_count(reader->served), used = 0;
    char names[600] = "none";

    for (size_t i = 0; i < count && used < 400; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.100s",
                                 i ? ", " : "",
                                 served_get(reader->served, i)->name);
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no dataset '%.100s'; those there are: %s%s", name,
                names, used >= 400 ? ", ..." : "");
}

static struct open_dataset *
dataset_named(struct reader *reader, struct answer *answer, const char *name)
{
    long number = served_find(reader->served, name);
    struct open_dataset *dataset;
    int rc;

    if (number < 0) {
        fail_unknown(reader, answer, name);
        return NULL;
    }
    answer->path = served_get(reader->served, (size_t)number)->path;
    answer->name = served_get(reader->served, (size_t)number)->name;
    rc = open_number(&dataset, reader, (size_t)number);
    if (rc == BOUMA_ENOMEM) {
        reader_forget(reader);
        rc = open_number(&dataset, reader, (size_t)number);
    }
    if (rc)
        fail_open(reader, dataset, answer, rc);
    return rc ? NULL : dataset;
}

bouma_dataset *reader_dataset(struct reader *reader, struct answer *answer,
                              const char *name)
{
    struct open_dataset *dataset = dataset_named(reader, answer, name);

    return dataset ? dataset->ds : NULL;
}

bouma_dataset *reader_dataset_now(struct reader *reader, struct answer *answer,
                                  const char *name)
{
    long number = served_find(reader->served, name);

    for (int i = 0; number >= 0 && i < READER_DATASETS; i++)
        if (reader->datasets[i].ds &&
            reader->datasets[i].number == (size_t)number)
            reader->datasets[i].looked = -LOOK_SECONDS;
    return reader_dataset(reader, answer, name);
}

int reader_open(bouma_dataset **out, struct reader *reader, size_t number)
{
    struct open_dataset *dataset;
    int rc = open_number(&dataset, reader, number);

    *out = rc ? NULL : dataset->ds;
    if (rc)
        close_dataset(reader, dataset);
    return rc;
}

/* ---- steps --------------------------------------------------------------- */

/* The number that "3" or "last" stands for. */
static bool step_number(int64_t *out, bouma_dataset *ds, struct answer *answer,
                        const char *text)
{
    bouma_step_info info = {.size = sizeof(info)};
    int rc;

    if (strcmp(text, "last") == 0) {
        rc = bouma_dataset_last_step(&info, ds);
        if (rc)
            answer_fail_status(answer, rc, bouma_error_message(ds));
        *out = info.step;
        return !rc;
    }
    if (text[0] && !text[strspn(text, "0123456789")] &&
        parse_integer(text, out) && *out >= 0)
        return true;
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "'%.60s' is no step: that is a number, or 'last'", text);
    return false;
}

static struct open_step *find_step(struct reader *reader,
                                   struct open_dataset *dataset, int64_t number)
{
    struct open_step *oldest = &reader->steps[0];

    for (int i = 0; i < reader->step_room; i++) {
        struct open_step *at = &reader->steps[i];

        if (at->step && at->of == dataset && at->number == number)
            return at;
        if (at->used < oldest->used)
            oldest = at;
    }
    close_step(oldest);
    return oldest;
}

static int open_step(struct open_step *step, struct open_dataset *dataset,
                     int64_t number)
{
    bouma_step_info info = {.size = sizeof(info)};
    int rc = bouma_step_open(&step->step, dataset->ds, number);

    /* Opening tells the list which writing it is. */
    if (!rc)
        rc = bouma_dataset_next_step(&info, dataset->ds, number - 1);
    if (rc) {
        bouma_step_free(step->step);
        *step = (struct open_step){0};
        return rc;
    }
    step->of = dataset;
    step->number = number;
    step->writing = info.writing;
    return BOUMA_OK;
}

/* A step that this reader does not know may be newer than its list: others may
 * have told of it already. */
static int find_open_step(struct open_step **out, struct reader *reader,
                          struct open_dataset *dataset, int64_t number)
{
    int rc = BOUMA_OK;

    *out = find_step(reader, dataset, number);
    if (!(*out)->step)
        rc = open_step(*out, dataset, number);
    if (rc == BOUMA_ENOTFOUND) {
        dataset->looked = -LOOK_SECONDS;
        rc = renew(reader, dataset,
                   served_get(reader->served, dataset->number)->path);
        if (!rc)
            rc = open_step(*out, dataset, number);
    }
    return rc;
}

bool reader_step(struct read_step *out, struct reader *reader,
                 struct answer *answer, const char *run, const char *step)
{
    struct open_dataset *dataset = dataset_named(reader, answer, run);
    bouma_step_details details = {.size = sizeof(details)};
    struct open_step *open;
    int64_t number;
    int rc;

    if (!dataset || !step_number(&number, dataset->ds, answer, step))
        return false;
    rc = find_open_step(&open, reader, dataset, number);
    if (rc) {
        answer_fail_status(answer, rc, bouma_error_message(dataset->ds));
        return false;
    }
    open->used = ++reader->clock;
    bouma_step_details_get(&details, open->step);
    *out = (struct read_step){dataset->ds, open->step, number, details.time,
                              details.tag};
    return true;
}

static void forget_step(struct reader *reader, const bouma_step *step)
{
    for (int i = 0; i < reader->step_room; i++)
        if (reader->steps[i].step == step)
            close_step(&reader->steps[i]);
}

/* Whether the work may go better with a step that is opened anew. */
static bool may_recover(int status)
{
    return status == BOUMA_ENOMEM || status == BOUMA_ESTATE ||
           status == BOUMA_ENOTFOUND || status == BOUMA_EIO ||
           status == BOUMA_EFORMAT;
}

void reader_with_step(const struct request *request, struct answer *answer,
                      const char *run, const char *step, reader_work work,
                      void *user)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        struct read_step read;
        int status;

        answer_release(answer);
        if (!reader_step(&read, request->reader, answer, run, step))
            return;
        answer_header(answer, "Bouma-Step", "%" PRId64, read.number);
        if (request_is_answered(request, answer, read.tag))
            return;
        status = work(user, &read, request, answer);
        if (!status || answer->code >= 400)
            return;
        if (attempt || !may_recover(status)) {
            answer_fail_status(answer, status, bouma_error_message(read.ds));
            return;
        }
        if (status == BOUMA_ENOMEM)
            reader_forget(request->reader);
        else
            forget_step(request->reader, read.step);
    }
}

uint64_t reader_bytes(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}
