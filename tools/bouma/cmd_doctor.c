/* cmd_doctor.c -- bouma doctor: what this installation has, and what may be
 * wrong with it, with a directory or with a dataset. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arguments.h"
#include "choice_names.h"
#include "format_text.h"
#include "import_memory.h"
#include "numbers.h"
#include "print_json.h"
#include "progress_bar.h"
#include "report_findings.h"
#include "sized.h"

static const struct option_spec options[] = {{0}};

/* What was found so far; the lists are made with --json alone. */
struct doctor {
    struct context *ctx;
    const char *path;
    json_t *root, *problems, *suggestions;
    uint64_t problem_count;
};

/* ---- what is told -------------------------------------------------------- */

/* A line, or a member of the JSON object; takes 'value'. */
__attribute__((format(printf, 4, 5))) static void fact(struct doctor *doctor,
                                                       const char *key,
                                                       json_t *value,
                                                       const char *format, ...)
{
    char text[2048];
    va_list list;

    if (doctor->ctx->json) {
        json_put(doctor->root, key, value);
        return;
    }
    json_decref(value);
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    printf("%-13s ", key);
    print_clean(text);
    putchar('\n');
}

static void advise(struct doctor *doctor, json_t *list, const char *kind,
                   const char *format, va_list arguments)
{
    char text[2048];

    vsnprintf(text, sizeof(text), format, arguments);
    if (doctor->ctx->json) {
        json_array_append_new(list, json_text(text));
        return;
    }
    printf("%-13s ", kind);
    print_clean(text);
    putchar('\n');
}

__attribute__((format(printf, 2, 3))) static void
problem(struct doctor *doctor, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    advise(doctor, doctor->problems, "problem", format, list);
    va_end(list);
    doctor->problem_count++;
}

__attribute__((format(printf, 2, 3))) static void
suggest(struct doctor *doctor, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    advise(doctor, doctor->suggestions, "suggestion", format, list);
    va_end(list);
}

/* ---- the installation ---------------------------------------------------- */

static void tell_build(struct doctor *doctor)
{
    json_t *build = json_object();
    char text[1024] = "";
    size_t at = 0;

    for (int i = 0; bouma_build_field(i); i++) {
        const char *name = bouma_build_field(i);
        const char *value = bouma_build_info(name);

        json_put(build, name, json_text(value));
        if (at < sizeof(text))
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s",
                                   i ? ", " : "", name, value);
    }
    fact(doctor, "version", json_text(bouma_version()), "%s %s",
         session_program(), bouma_version());
    fact(doctor, "build", build, "%s", text);
}

static void tell_codecs(struct doctor *doctor)
{
#define VALUE(name, value, word) value,
    static const bouma_codec all[] = {BOUMA_CODEC_LIST(VALUE)};
#undef VALUE
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        json_array_append_new(list, json_text(bouma_codec_name(all[i])));
    fact(doctor, "codecs", list, "%s", CHOICE_NAMES(BOUMA_CODEC_LIST));
}

/* What BOUMA_OPTIONS and its kin set; false if they are wrong. */
static bool tell_options(struct doctor *doctor)
{
    const bouma_option_info *about;
    json_t *set = json_object();
    char text[1024] = "", value[4096], message[1024] = "";
    size_t at = 0;
    int status = BOUMA_OK;

    for (int i = 0; !status && (about = bouma_options_info(i)); i++) {
        status = bouma_options_get(value, sizeof(value), NULL, about->name,
                                   message, sizeof(message));
        if (status || !value[0])
            continue;
        json_put(set, about->name, json_text(value));
        if (at < sizeof(text))
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=%s",
                                   at ? "; " : "", about->name, value);
    }
    fact(doctor, "options", set, "%s",
         status ? "not understood"
         : at   ? text
                : "none in the environment");
    if (status)
        problem(doctor, "%s", message);
    return !status;
}

static json_t *limit_json(rlim_t limit)
{
    return limit == RLIM_INFINITY ? json_null() : json_count(limit);
}

/* As many as the option says, or as the library chooses: see bouma_options. */
static void tell_threads(struct doctor *doctor, long processors)
{
    long chosen = session_size(doctor->ctx->session) > 1 ? 1
                  : processors > 8                       ? 8
                                                         : processors;
    int64_t threads = 0;
    char text[64] = "";

    if (bouma_options_get(text, sizeof(text), NULL, "threads", NULL, 0) ||
        !parse_integer(text, &threads) || threads <= 0)
        threads = chosen;
    fact(doctor, "threads", json_integer(threads), "%lld in each process",
         (long long)threads);
}

static void tell_limits(struct doctor *doctor, uint64_t memory)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int processes = session_size(doctor->ctx->session);
    struct rlimit files = {RLIM_INFINITY, RLIM_INFINITY}, size = files;
    char text[FORMAT_BYTES];

    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_FSIZE, &size);
    fact(doctor, "processes", json_integer(processes), "%d%s", processes,
         strcmp(bouma_build_info("mpi"), "no") == 0 ? ", without MPI" : "");
    fact(doctor, "processors", json_integer(processors), "%ld", processors);
    tell_threads(doctor, processors);
    fact(doctor, "memory", json_count(memory),
         "%s for import and copy, in each process", format_bytes(text, memory));
    if (files.rlim_cur == RLIM_INFINITY)
        fact(doctor, "open_files", json_null(), "any number");
    else
        fact(doctor, "open_files", limit_json(files.rlim_cur), "at most %llu",
             (unsigned long long)files.rlim_cur);
    if (files.rlim_cur < 256)
        suggest(doctor,
                "few files can be open at once: raise that by 'ulimit -n'");
    if (size.rlim_cur == RLIM_INFINITY)
        fact(doctor, "file_size", json_null(), "any");
    else
        fact(doctor, "file_size", limit_json(size.rlim_cur), "at most %s",
             format_bytes(text, size.rlim_cur));
    if (size.rlim_cur != RLIM_INFINITY)
        suggest(doctor, "the size of files is limited: see 'ulimit -f'");
}

/* ---- a directory --------------------------------------------------------- */

/* The numbers are those of statfs(2). */
static const char *file_system_name(unsigned long type)
{
    static const struct {
        unsigned long type;
        const char *name;
    } known[] = {
        {0xef53, "ext4"},       {0x58465342, "xfs"},     {0x9123683e, "btrfs"},
        {0x01021994, "tmpfs"},  {0x794c7630, "overlay"}, {0x2fc12fc1, "zfs"},
        {0x6969, "nfs"},        {0x0bd00bd0, "lustre"},  {0x47504653, "gpfs"},
        {0x19830326, "beegfs"}, {0x00c36400, "ceph"},    {0x65735546, "fuse"},
        {0xff534d42, "cifs"},   {0xfe534d42, "smb2"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].type == (type & 0xffffffff))
            return known[i].name;
    return "unknown";
}

static int tell_directory(struct doctor *doctor)
{
    struct statfs about;
    char text[FORMAT_BYTES];
    const char *name;
    uint64_t left;
    bool writable = access(doctor->path, W_OK) == 0;

    if (statfs(doctor->path, &about))
        return context_fail_errno(doctor->ctx, "look at", doctor->path);
    name = file_system_name((unsigned long)about.f_type);
    left = (uint64_t)about.f_bavail * (uint64_t)about.f_bsize;
    fact(doctor, "path", json_text(doctor->path), "%s", doctor->path);
    fact(doctor, "file_system", json_text(name), "%s, blocks of %s", name,
         format_bytes(text, (uint64_t)about.f_bsize));
    fact(doctor, "free", json_count(left), "%s", format_bytes(text, left));
    fact(doctor, "writable", json_boolean(writable), "%s",
         writable ? "yes" : "no");
    if (strcmp(name, "tmpfs") == 0)
        suggest(doctor, "%s is in memory: it is gone when the machine restarts",
                doctor->path);
    return DONE;
}

/* ---- a dataset ----------------------------------------------------------- */

/* Many small files, or some much larger than others, of the last step. */
static void judge_files(struct doctor *doctor, bouma_dataset *ds)
{
    bouma_step_info last = {.size = sizeof(last)};
    bouma_record record = {.size = sizeof(record)};
    bouma_step *step = NULL;
    char text[FORMAT_BYTES];

    if (bouma_dataset_last_step(&last, ds) ||
        bouma_step_open(&step, ds, last.step) ||
        bouma_step_record_get(&record, step)) {
        bouma_step_free(step);
        return;
    }
    if (record.files > 16 && record.mean_file < (uint64_t)1 << 20)
        suggest(doctor,
                "step %lld has %lld files of %s on average: fewer are faster, "
                "by the options files or file_size",
                (long long)last.step, (long long)record.files,
                format_bytes(text, record.mean_file));
    if (record.files > 1 && record.largest_file > 2 * record.mean_file &&
        record.largest_file > (uint64_t)64 << 20)
        suggest(doctor,
                "the largest file of step %lld has %s, more than twice the "
                "mean: see the option assign",
                (long long)last.step, format_bytes(text, record.largest_file));
    bouma_step_free(step);
}

static void judge_check(struct doctor *doctor,
                        const bouma_verify_report *report)
{
    if (report->damages)
        problem(doctor,
                "%s is damaged: 'bouma repair %s' shows what can be done",
                doctor->path, doctor->path);
    if (report->unchecked)
        problem(doctor, "a part of %s could not be checked", doctor->path);
    if (report->notes)
        suggest(doctor,
                "leftovers do no harm: 'bouma repair %s' shows what would be "
                "moved out of the way",
                doctor->path);
    if (!report->damages && !report->unchecked)
        suggest(doctor,
                "only manifests and sizes of files were looked at: 'bouma "
                "verify %s' checks every byte",
                doctor->path);
}

static void tell_dataset(struct doctor *doctor)
{
    struct context *ctx = doctor->ctx;
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds = NULL;
    struct progress_bar bar;
    struct findings findings;
    char message[1024] = "";
    int status;

    progress_bar_init(&bar, ctx, &opts);
    findings_init(&findings, ctx, &bar);
    status = bouma_verify(&report, doctor->path, BOUMA_DEPTH_QUICK, &opts,
                          findings_add, &findings, message, sizeof(message));
    progress_bar_clear(&bar);
    if (status) {
        problem(doctor, "%s", message);
    } else {
        fact(doctor, "steps", json_count(report.steps), "%" PRIu64,
             report.steps);
        fact(doctor, "files", json_count(report.files), "%" PRIu64,
             report.files);
        judge_check(doctor, &report);
    }
    if (ctx->json)
        json_put(doctor->root, "findings", json_incref(findings.list));
    findings_release(&findings);
    if (!status && !bouma_dataset_open(&ds, doctor->path, NULL))
        judge_files(doctor, ds);
    bouma_dataset_free(ds);
}

static bool is_dataset(const char *path)
{
    char file[PATH_MAX];

    return (size_t)snprintf(file, sizeof(file), "%s/DATASET", path) <
               sizeof(file) &&
           access(file, F_OK) == 0;
}

/* ---- the command --------------------------------------------------------- */

static int examine(struct doctor *doctor, uint64_t memory)
{
    bool usable;
    int rc;

    tell_build(doctor);
    tell_codecs(doctor);
    usable = tell_options(doctor);
    tell_limits(doctor, memory);
    rc = tell_directory(doctor);
    if (!rc && usable && is_dataset(doctor->path))
        tell_dataset(doctor);
    return rc;
}

static int finish(struct doctor *doctor)
{
    char text[FORMAT_BYTES];

    if (!doctor->ctx->json) {
        if (doctor->problem_count)
            printf("%s\n",
                   format_count(text, doctor->problem_count, "problem"));
        else
            puts("no problems");
        return DONE;
    }
    json_put(doctor->root, "problems", json_incref(doctor->problems));
    json_put(doctor->root, "suggestions", json_incref(doctor->suggestions));
    return print_json(doctor->ctx, json_incref(doctor->root));
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct doctor doctor = {
        .ctx = ctx, .path = args->operand_count ? args->operands[0] : "."};
    bouma_options opts = {.size = sizeof(opts)};
    char limit[64] = "";
    uint64_t memory;
    int rc = DONE;

    if (!bouma_options_get(limit, sizeof(limit), NULL, "memory_limit", NULL,
                           0) &&
        limit[0])
        bouma_options_set(&opts, "memory_limit", limit, NULL, 0);
    memory = import_memory_limit(ctx, &opts);

    if (!context_prints(ctx)) /* process 0 looks */
        return DONE;
    if (access(doctor.path, F_OK))
        return context_fail_errno(ctx, "look at", doctor.path);
    if (ctx->json) {
        doctor.root = json_object();
        doctor.problems = json_array();
        doctor.suggestions = json_array();
    }
    rc = examine(&doctor, memory);
    if (!rc)
        rc = finish(&doctor);
    json_decref(doctor.root);
    json_decref(doctor.problems);
    json_decref(doctor.suggestions);
    return !rc && doctor.problem_count ? DATA_AT_FAULT : rc;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "tell what this installation has, and what may be wrong",
    .operands = "[DS|DIRECTORY]",
    .least = 0,
    .most = 1,
    .examples = "  bouma doctor\n"
                "  bouma doctor /scratch\n"
                "  bouma doctor run.bouma\n",
    .footer = "The version, how it was built, codecs, limits, options in the "
              "environment with their\n"
              "mistakes, and the file system of a path (default: the current "
              "directory). Of a\n"
              "dataset also what `bouma verify DS quick` finds, leftovers, and "
              "suggestions. The exit\n"
              "status is 1 if there are problems.\n",
    .options = options,
    .run = run};
