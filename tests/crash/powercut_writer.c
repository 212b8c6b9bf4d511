/* powercut_writer.c -- write steps, and cut the power in a given call.
 *
 *     powercut_writer DATASET LOG MOUNT CALL FLAG [OPTION=VALUE...]
 *
 * In call number CALL of the store, the file system at MOUNT is shut down as by
 * a power cut: what is not on the disk is lost. FLAG 2 drops the journal that
 * is still in memory, 1 writes it first. Acknowledged steps are recorded in
 * LOG, which must be elsewhere. Exit status: 0 the power was cut in that call,
 * 10 the writer was done before (and the power was cut then). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fault_io.h"
#include "scenario.h"

#define STEPS        3
#define IOC_SHUTDOWN _IOR('X', 125, uint32_t) /* the same for ext4 and XFS */

struct power {
    const char *mount;
    uint32_t flag;
    long cut_at;
    int is_cut;
};

static void cut(struct power *p)
{
    int fd = open(p->mount, O_RDONLY);

    if (fd < 0 || ioctl(fd, IOC_SHUTDOWN, &p->flag)) {
        perror("powercut_writer: shutdown");
        _exit(2);
    }
    close(fd);
    p->is_cut = 1;
}

static void before_call(void *user, long call)
{
    struct power *p = user;

    if (call == p->cut_at)
        cut(p);
}

/* Create, write, close; record what was acknowledged. */
static void write_all(const char *path, const bouma_options *opts, int log)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_create(&ds, path, opts);

    if (!rc)
        dprintf(log, "created\n");
    for (int step = 0; step < STEPS && !rc; step++) {
        rc = scenario_write(ds, &writer, step, 0, 0, 1);
        if (!rc)
            dprintf(log, "%d 0\n", step);
    }
    if (!rc)
        bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    static const struct fault none;
    struct fault_io io;
    struct power power;
    bouma_options opts;
    int log, done;

    if (argc < 6) {
        fputs("usage: powercut_writer DATASET LOG MOUNT CALL FLAG "
              "[OPTION=VALUE...]\n",
              stderr);
        return 2;
    }
    log = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    power = (struct power){argv[3], (uint32_t)atoi(argv[5]), atol(argv[4]), 0};
    fault_io_init(&io, bouma_io_posix());
    fault_io_arm(&io, &none, 0, 0);
    io.before = before_call;
    io.before_user = &power;
    scenario_options(&opts, &io.table, NULL);
    if (scenario_options_set(&opts, argc - 6, argv + 6) != argc - 6)
        return 2;
    write_all(argv[1], &opts, log);
    done = !power.is_cut;
    if (done)
        cut(&power);
    return done ? 10 : 0;
}
