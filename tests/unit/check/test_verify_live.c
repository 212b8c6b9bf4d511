/* A dataset is verified while a writer changes it: what was replaced or dropped
 * meanwhile is no damage. The writer does its work between two calls of the
 * reader's I/O table, at each pair of calls in turn. */
#include "bouma.h"
#include "must.h"
#include "scenario.h"

enum { STEPS = 3 };

/* What the writer does. */
enum act { DROPS, REPLACES, DROPS_AND_WRITES, CLOBBERS, ACTS };

static const char *const acts[ACTS] = {"drops", "replaces", "drops and writes",
                                       "clobbers"};

static struct {
    bouma_io *memory;
    bouma_io io;
    int calls;
    int at; /* before this call the writer works; -1: never */
    enum act act;
} live;

static bouma_options options_of(const bouma_io *io)
{
    bouma_options o;

    scenario_options(&o, io, NULL);
    o.replace = 1;
    return o;
}

static void write_steps(bouma_dataset *ds, int first, int last, int generation)
{
    struct scenario_writer writer = {0};

    for (int step = first; step <= last; step++)
        MUST(ds, scenario_write(ds, &writer, step, generation, 0, 1));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void work(void)
{
    bouma_options o = options_of(live.memory);
    bouma_dataset *ds;

    if (live.act == CLOBBERS) {
        memset(o.id, 99, sizeof(o.id));
        o.clobber = 1;
        MUST(ds, bouma_dataset_create(&ds, "d", &o));
        write_steps(ds, 1, 1, 1);
        return;
    }
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    if (live.act != REPLACES)
        MUST(ds, bouma_dataset_truncate(ds, 0));
    write_steps(ds, 1, live.act == DROPS ? 0 : 1, 1);
}

static void tick(void)
{
    if (live.calls++ == live.at)
        work();
}

static int open_late(void *user, void *root, void **file, const char *name,
                     bouma_open_mode mode)
{
    tick();
    return live.memory->open(user, root, file, name, mode);
}

struct entries {
    char names[64][64];
    int count;
};

static int add_entry(void *context, const char *entry)
{
    struct entries *e = context;

    REQUIRE(e->count < 64 && strlen(entry) < sizeof(e->names[0]));
    strcpy(e->names[e->count++], entry);
    return 0;
}

/* The table in memory lets no other thread in while it lists, and the writer has
 * one. So the list is taken first: the writer may work at any entry of it. */
static int list_late(void *user, void *root, const char *name,
                     int (*each)(void *context, const char *entry),
                     void *context)
{
    struct entries e = {.count = 0};
    int code;

    tick();
    code = live.memory->list(user, root, name, add_entry, &e);
    for (int i = 0; i < e.count && !code; i++)
        code = each(context, e.names[i]);
    return code;
}

static int read_late(void *user, void *file, void *data, size_t bytes,
                     uint64_t offset, size_t *done)
{
    tick();
    return live.memory->read(user, file, data, bytes, offset, done);
}

static void tell(void *user, const bouma_finding *f)
{
    int *found = user;

    ++*found;
    if (f->severity != BOUMA_SEVERITY_NOTE)
        printf("%s before call %d: %s: %s\n", acts[live.act], live.at, f->name,
               f->text);
}

static void begin(enum act act, int at)
{
    bouma_options o;
    bouma_dataset *ds;

    live.memory = bouma_io_memory_new();
    REQUIRE(live.memory);
    live.io = *live.memory;
    live.io.open = open_late;
    live.io.list = list_late;
    live.io.read = read_late;
    live.act = act;
    live.at = at;
    o = options_of(live.memory);
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    write_steps(ds, 0, STEPS - 1, 0);
    live.calls = 0;
}

/* Verify, with the writer at work before call 'at'. Returns the calls. */
static int verify(enum act act, int at)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";
    bouma_options o;
    int found = 0, rc;

    begin(act, at);
    o = options_of(&live.io);
    rc = bouma_verify(&report, "d", BOUMA_DEPTH_DEEP, &o, tell, &found, message,
                      sizeof(message));
    if (act == CLOBBERS && rc) { /* what was to be verified is gone */
        CHECK_EQ(rc, BOUMA_ESTATE);
        CHECK_TEXT(message, "was replaced by another dataset");
    } else {
        CHECK_EQ(rc, BOUMA_OK);
    }
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.unchecked, 0);
    CHECK(at >= 0 || !found);
    bouma_io_memory_free(live.memory);
    return live.calls;
}

static void what_a_writer_changes_is_no_damage(void)
{
    int calls = verify(DROPS, -1);

    CHECK(calls > STEPS);
    for (int act = 0; act < ACTS; act++)
        for (int at = 0; at < calls; at++)
            verify((enum act)act, at);
}

int main(void)
{
    what_a_writer_changes_is_no_damage();
    return check_result();
}
