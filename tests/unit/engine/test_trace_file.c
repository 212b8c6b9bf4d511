/* The file of a trace gets its name among others that want the same one. */
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "engine/trace_file.h"
#include "files.h"
#include "trace_lines.h"

enum { THREADS = 8, PROCESSES = 4, ROUNDS = 20 };

static const char foreign[] =
    "{\"otherData\":{\"writer\":\"bouma\",\"process\":\"another\",\n";

struct directory {
    char dir[64], path[128];
};

static void directory_make(struct directory *p)
{
    snprintf(p->dir, sizeof(p->dir), "/tmp/test_trace_file.XXXXXX");
    REQUIRE(mkdtemp(p->dir));
    snprintf(p->path, sizeof(p->path), "%s/t.json", p->dir);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f && fputs(text, f) >= 0 && !fclose(f));
}

static int write_trace(const char *path, struct bm_error *error)
{
    static const char event[] =
        "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"cat\":\"a\",\"name\":\"b\","
        "\"ts\":1,\"dur\":1},\n";
    struct bm_trace_file f = {0};
    struct bm_buffer about;
    int rc;

    bm_buffer_init(&about, bm_allocator_default());
    rc = bm_trace_file_open(&f, path, &about, error);
    if (!rc)
        rc = bm_trace_file_write(&f, event, strlen(event), error);
    rc = bm_trace_file_close(&f, rc, error);
    bm_buffer_release(&about);
    return rc;
}

static int is_whole(const char *path)
{
    struct trace_lines t;
    int whole = trace_load(&t, path) && t.count == 1;

    trace_drop(&t);
    return whole;
}

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int count = 0;

    REQUIRE(d);
    while (readdir(d))
        count++;
    closedir(d);
    return count - 2;
}

struct crowd {
    const char *path;
    pthread_barrier_t start;
};

static void *one_of_many(void *user)
{
    struct crowd *c = user;
    struct bm_error error = {0};

    pthread_barrier_wait(&c->start);
    return write_trace(c->path, &error) ? user : NULL;
}

/* Whatever is there before: nothing, an empty file, a trace of another. */
static void threads_get_a_file_each(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        struct directory p;
        struct crowd c;
        char name[160];

        directory_make(&p);
        c.path = p.path;
        REQUIRE(!pthread_barrier_init(&c.start, NULL, THREADS));
        if (round % 3)
            put(p.path, round % 3 == 1 ? "" : foreign);
        for (int i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, one_of_many, &c));
        for (int i = 0; i < THREADS; i++) {
            void *failed;

            REQUIRE(!pthread_join(threads[i], &failed));
            CHECK(!failed);
        }
        CHECK(is_whole(p.path));
        for (int i = 2; i <= THREADS; i++) {
            snprintf(name, sizeof(name), "%s/t-%d.json", p.dir, i);
            CHECK(is_whole(name));
        }
        CHECK_EQ(files_in(p.dir), THREADS);
        pthread_barrier_destroy(&c.start);
        CHECK(!remove_tree(p.dir));
    }
}

/* The last one replaces those of the others, and none fails. */
static void processes_replace_each_others(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[PROCESSES];
        int start[2];
        struct directory p;

        directory_make(&p);
        REQUIRE(!pipe(start));
        for (int i = 0; i < PROCESSES; i++) {
            pids[i] = fork();
            REQUIRE(pids[i] >= 0);
            if (!pids[i]) {
                struct bm_error error = {0};
                char byte;

                close(start[1]);
                (void)!read(start[0], &byte, 1); /* till it is closed */
                _exit(write_trace(p.path, &error) != 0);
            }
        }
        close(start[0]);
        close(start[1]);
        for (int i = 0; i < PROCESSES; i++) {
            int status;

            REQUIRE(waitpid(pids[i], &status, 0) == pids[i]);
            CHECK_EQ(status, 0);
        }
        CHECK(is_whole(p.path));
        CHECK_EQ(files_in(p.dir), 1);
        CHECK(!remove_tree(p.dir));
    }
}

static void what_is_no_trace_stays(void)
{
    char link[160], text[16] = "";
    struct bm_error error = {0};
    struct directory p;
    FILE *f;

    directory_make(&p);
    put(p.path, "mine");
    CHECK_EQ(write_trace(p.path, &error), BOUMA_EEXISTS);
    CHECK_TEXT(error.text, "a file t.json that is no trace");
    f = fopen(p.path, "r");
    REQUIRE(f && fgets(text, sizeof(text), f) && !fclose(f));
    CHECK(!strcmp(text, "mine"));

    bm_error_clear(&error);
    CHECK_EQ(write_trace(p.dir, &error), BOUMA_EEXISTS);
    CHECK_TEXT(error.text, " is a directory");
    bm_error_clear(&error);
    CHECK_EQ(write_trace(".", &error), BOUMA_EEXISTS);
    CHECK_TEXT(error.text, ". is a directory");

    snprintf(link, sizeof(link), "%s/link.json", p.dir);
    REQUIRE(!symlink("nowhere", link));
    bm_error_clear(&error);
    CHECK_EQ(write_trace(link, &error), BOUMA_EEXISTS);
    bm_error_clear(&error);
    CHECK_EQ(write_trace("/dev/null", &error), BOUMA_EEXISTS);
    CHECK_EQ(files_in(p.dir), 2);
    CHECK(!remove_tree(p.dir));
}

int main(void)
{
    threads_get_a_file_each();
    processes_replace_each_others();
    what_is_no_trace_stays();
    return check_result();
}
