/* kill_check.c -- is every acknowledged step there, and every step whole?
 *
 *     kill_check [--repair] DATASET LOG
 *
 * LOG is what kill_writer or powercut_writer recorded. With --repair, what a
 * group held back is published first. A dataset that cannot be opened is an
 * error only if LOG has something about it; the line "created" says that it was
 * made. Exit status: 0 all is well, 1 a promise is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

static int complain(const char *text, long long step, const char *message)
{
    fprintf(stderr, "kill_check: step %lld: %s %s\n", step, text, message);
    return 1;
}

/* Every listed step must be readable, whoever wrote it. */
static int check_listed(bouma_dataset *ds)
{
    int64_t count = bouma_dataset_step_count(ds);
    int broken = 0;

    for (int64_t i = 0; i < count; i++) {
        bouma_step_info info = {.size = sizeof(info)};
        int generation;

        if (bouma_dataset_step_get(&info, ds, i))
            broken += complain("no entry", (long long)i, "");
        else if (scenario_read(ds, info.step, &generation) != SCENARIO_EXACT)
            broken += complain("damaged", (long long)info.step,
                               bouma_error_message(ds));
    }
    return broken;
}

/* Every acknowledged one must be listed, in the version that was recorded. */
static int check_log(bouma_dataset *ds, FILE *log, long *count)
{
    char line[64];
    int broken = 0;

    while (fgets(line, sizeof(line), log)) {
        long long step;
        int recorded, found = -1;

        if (sscanf(line, "%lld %d", &step, &recorded) != 2)
            continue;
        (*count)++;
        if (scenario_read(ds, step, &found) != SCENARIO_EXACT)
            broken += complain("lost", step, bouma_error_message(ds));
        else if (found != recorded)
            broken += complain("another version", step, "");
    }
    return broken;
}

static int repair(const char *path, const bouma_options *opts)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[256] = "";

    if (!bouma_repair(&report, path, 1, opts, NULL, NULL, message,
                      sizeof(message)))
        return 0;
    fprintf(stderr, "kill_check: repair: %s\n", message);
    return 1;
}

int main(int argc, char **argv)
{
    int with_repair = argc > 1 && !strcmp(argv[1], "--repair");
    bouma_dataset *ds = NULL;
    bouma_options opts;
    long acknowledged = 0;
    int broken = 0, vouched;
    FILE *log;

    if (argc != 3 + with_repair) {
        fputs("usage: kill_check [--repair] DATASET LOG\n", stderr);
        return 2;
    }
    argv += with_repair;
    scenario_options(&opts, NULL, NULL);
    log = fopen(argv[2], "r");
    vouched = log && fgetc(log) != EOF;
    if (log)
        rewind(log);
    if (bouma_dataset_open(&ds, argv[1], &opts)) {
        if (vouched)
            broken += complain("cannot open", -1, bouma_error_message(ds));
        bouma_dataset_free(ds);
        ds = NULL;
    } else if (with_repair) {
        broken += repair(argv[1], &opts);
        broken += bouma_dataset_refresh(ds) != BOUMA_OK;
    }
    if (ds) {
        broken += check_listed(ds);
        if (log)
            broken += check_log(ds, log, &acknowledged);
        printf("steps=%lld acknowledged=%ld broken=%d\n",
               (long long)bouma_dataset_step_count(ds), acknowledged, broken);
    }
    bouma_dataset_free(ds);
    if (log)
        fclose(log);
    return broken ? EXIT_FAILURE : EXIT_SUCCESS;
}
