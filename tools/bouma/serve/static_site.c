/* static_site.c -- a folder that any web server can serve:
 *
 *     index.html       the page; it names listing.json
 *     viewer/          its script and style, a worker, the reader (WebAssembly)
 *     listing.json     the datasets, their steps, their files with sizes
 *     data/RUN.bouma   a link to the dataset, or a copy of it */
#include "static_site.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../format_text.h"
#include "../output.h"
#include "json_out.h"
#include "site_files.h"
#include "url.h"
#include "viewer.h"

/* How a listing begins: a folder with one is ours. */
static const char signature[] = "{\"listing\":1,";

/* Of a million files, or so. */
#define LISTING_BYTES ((size_t)256 << 20)

static int join(struct context *ctx, char *out, const char *folder,
                const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? DONE
               : context_fail(ctx, CALL_AT_FAULT, "%s/%s: the name is too long",
                              folder, name);
}

/* ---- the folder ---------------------------------------------------------- */

static bool is_empty(const char *folder)
{
    DIR *open = opendir(folder);
    int count = 0;

    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return open && count == 2; /* "." and ".." */
}

static bool is_ours(const char *folder)
{
    char path[PATH_MAX], text[sizeof(signature)] = "";
    FILE *file = NULL;
    bool ours;

    if (snprintf(path, sizeof(path), "%s/listing.json", folder) <
        (int)sizeof(path))
        file = fopen(path, "r");
    ours = file && fread(text, 1, sizeof(text) - 1, file) == sizeof(text) - 1 &&
           strcmp(text, signature) == 0;
    if (file)
        fclose(file);
    return ours;
}

static int make_folder(struct context *ctx, const char *folder)
{
    struct stat about;

    if (mkdir(folder, 0777) == 0)
        return DONE;
    if (errno != EEXIST)
        return context_fail_errno(ctx, "make", folder);
    if (stat(folder, &about) == 0 && S_ISDIR(about.st_mode))
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT, "%s is not a folder", folder);
}

/* The folder's own path, which must not lie in a dataset. */
static int find_place(const struct static_site *site, struct context *ctx,
                      char *full)
{
    if (!realpath(site->folder, full))
        return context_fail_errno(ctx, "find", site->folder);
    for (size_t i = 0; i < served_count(site->served); i++) {
        const char *path = served_get(site->served, i)->path;
        size_t length = strlen(path);

        if (strncmp(full, path, length) == 0 &&
            (full[length] == '/' || !full[length]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "%s lies in the dataset %s; choose another "
                                "place",
                                site->folder, path);
    }
    return DONE;
}

static int take_folder(const struct static_site *site, struct context *ctx,
                       char *full)
{
    struct stat about;
    bool is_there = lstat(site->folder, &about) == 0;
    int rc = make_folder(ctx, site->folder);

    if (!rc && is_there && !site->forced && !is_empty(site->folder) &&
        !is_ours(site->folder))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "%s has other files in it, and was not written by "
                          "'bouma serve --static'; choose another folder, or "
                          "give --force to write into this one",
                          site->folder);
    if (!rc)
        rc = find_place(site, ctx, full);
    if (rc && !is_there)
        rmdir(site->folder);
    return rc;
}

/* ---- the viewer ---------------------------------------------------------- */

static const struct viewer_file *find_file(const char *name)
{
    for (size_t i = 0; i < viewer_file_count; i++)
        if (strcmp(viewer_files[i].name, name) == 0)
            return &viewer_files[i];
    return NULL;
}

static int check_build(struct context *ctx)
{
    if (find_file("bouma.wasm"))
        return DONE;
    return context_fail(
        ctx, CALL_AT_FAULT,
        "this %s is built without %s, which --static writes; './dev wasm' and "
        "then './dev build' build it%s",
        session_program(),
        viewer_file_count ? "the reader for browsers (WebAssembly)"
                          : "the viewer",
        viewer_file_count ? "" : ", where npm is installed");
}

/* What gzip -d would give: the last four bytes are its length. */
static void *unpack(const struct viewer_file *file, size_t *bytes)
{
    const unsigned char *end = file->bytes + file->count - 4;
    z_stream stream = {0};
    void *out;
    bool whole;

    *bytes = (size_t)end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 |
             (size_t)end[3] << 24;
    out = malloc(*bytes + 1);
    if (!out || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
        free(out);
        return NULL;
    }
    stream.next_in = (Bytef *)(uintptr_t)file->bytes;
    stream.avail_in = (uInt)file->count;
    stream.next_out = out;
    stream.avail_out = (uInt)*bytes + 1;
    whole = inflate(&stream, Z_FINISH) == Z_STREAM_END &&
            stream.total_out == *bytes;
    inflateEnd(&stream);
    if (!whole) {
        free(out);
        return NULL;
    }
    return out;
}

static int write_bytes(struct context *ctx, const char *folder,
                       const char *name, const void *data, size_t bytes)
{
    char path[PATH_MAX];
    struct output out;
    int rc = join(ctx, path, folder, name);

    if (rc)
        return rc;
    rc = output_create(&out, ctx, path);
    if (!rc)
        rc = output_write(&out, ctx, data, bytes, 0);
    return output_finish(&out, ctx, rc);
}

static int write_file(struct context *ctx, const char *folder, const char *name,
                      const struct viewer_file *file)
{
    size_t bytes;
    void *data = unpack(file, &bytes);
    int rc = data ? write_bytes(ctx, folder, name, data, bytes)
                  : context_fail_memory(ctx);

    free(data);
    return rc;
}

static int write_viewer(struct context *ctx, const char *folder)
{
    char path[PATH_MAX];
    int rc = join(ctx, path, folder, "viewer");

    if (!rc)
        rc = make_folder(ctx, path);
    for (size_t i = 0; !rc && i < viewer_file_count; i++)
        if (!strstr(viewer_files[i].name, ".html"))
            rc = write_file(ctx, path, viewer_files[i].name, &viewer_files[i]);
    return rc;
}

/* ---- data ---------------------------------------------------------------- */

/* 'path' as it is seen from the folder 'from'; both are whole and without
 * links. */
static int relative(struct context *ctx, char *out, const char *path,
                    const char *from)
{
    size_t same = 0, used = 0;

    for (size_t i = 0;; i++) {
        bool ends =
            (!path[i] || path[i] == '/') && (!from[i] || from[i] == '/');

        if (ends)
            same = i;
        if (path[i] != from[i] || !path[i])
            break;
    }
    for (const char *at = from + same; *at && used + 3 < PATH_MAX; at++)
        if (*at == '/')
            used += (size_t)snprintf(out + used, PATH_MAX - used, "../");
    if (used + strlen(path + same) >= PATH_MAX)
        return context_fail(ctx, CALL_AT_FAULT, "%s: the name is too long",
                            path);
    snprintf(out + used, PATH_MAX - used, "%s",
             path + same + (path[same] == '/'));
    return DONE;
}

/* A link in place of one that is there. */
static int link_data(struct context *ctx, const char *data, const char *to,
                     const char *path)
{
    char target[PATH_MAX], temporary[PATH_MAX];
    struct stat about;
    int rc = relative(ctx, target, path, data);

    if (rc)
        return rc;
    if (lstat(to, &about) == 0 && !S_ISLNK(about.st_mode))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s is there, and not a link; remove it, or give "
                            "--copy to bring a copy up to date",
                            to);
    if (snprintf(temporary, sizeof(temporary), "%s.%ld.part", to,
                 (long)getpid()) >= (int)sizeof(temporary))
        return context_fail(ctx, CALL_AT_FAULT, "%s: the name is too long", to);
    if (symlink(target, temporary) != 0)
        return context_fail_errno(ctx, "make", to);
    if (rename(temporary, to) == 0)
        return DONE;
    rc = context_fail_errno(ctx, "make", to);
    unlink(temporary);
    return rc;
}

/* A link that is there leads to the dataset: nothing is written through it. */
static int copy_data(struct context *ctx, const struct site_files *files,
                     const char *to, const char *path)
{
    struct stat about;
    int rc;

    if (lstat(to, &about) == 0 && S_ISLNK(about.st_mode) && unlink(to) != 0)
        return context_fail_errno(ctx, "remove", to);
    rc = make_folder(ctx, to);
    return rc ? rc : site_files_copy(files, ctx, path, to);
}

static int put_data(const struct static_site *site, struct context *ctx,
                    const char *data, const struct served_dataset *dataset,
                    const struct site_files *files)
{
    char to[PATH_MAX], name[PATH_MAX];
    int rc;

    snprintf(name, sizeof(name), "%s.bouma", dataset->name);
    rc = join(ctx, to, data, name);
    if (rc)
        return rc;
    return site->copies ? copy_data(ctx, files, to, dataset->path)
                        : link_data(ctx, data, to, dataset->path);
}

/* ---- the listing --------------------------------------------------------- */

static void put_steps(struct json_out *out, bouma_dataset *ds)
{
    int64_t count = bouma_dataset_step_count(ds);

    for (int times = 0; times < 2; times++) {
        json_out_key(out, times ? "times" : "steps");
        json_out_open(out, '[');
        for (int64_t i = 0; i < count; i++) {
            bouma_step_info info = {.size = sizeof(info)};

            bouma_dataset_step_get(&info, ds, i);
            if (times)
                json_out_number(out, info.time);
            else
                json_out_integer(out, info.step);
        }
        json_out_close(out, ']');
    }
}

static int put_dataset(struct json_out *out, struct context *ctx,
                       const struct served_dataset *dataset, bouma_dataset *ds,
                       const struct site_files *files)
{
    char name[3 * NAME_MAX + 1], url[sizeof(name) + 16];

    if (!url_encode(name, sizeof(name), dataset->name))
        return context_fail(ctx, CALL_AT_FAULT, "%s: the name is too long",
                            dataset->name);
    snprintf(url, sizeof(url), "data/%s.bouma/", name);
    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, dataset->name);
    json_out_key(out, "url");
    json_out_text(out, url);
    put_steps(out, ds);
    json_out_key(out, "files");
    json_out_open(out, '{');
    for (size_t i = 0; i < files->count; i++) {
        json_out_key(out, files->all[i].name);
        json_out_count(out, files->all[i].bytes);
    }
    json_out_close(out, '}');
    json_out_close(out, '}');
    return DONE;
}

struct totals {
    uint64_t files, bytes;
};

/* The steps are read before the files are listed: all that they need is then
 * there. */
static int add_dataset(const struct static_site *site, struct context *ctx,
                       const char *data, const struct served_dataset *dataset,
                       struct json_out *out, struct totals *totals)
{
    bouma_options options = {.size = sizeof(options), .trace = "off"};
    bouma_dataset *ds = NULL;
    struct site_files files = {0};
    int status = bouma_dataset_open(&ds, dataset->path, &options), rc = DONE;

    if (!status && bouma_dataset_step_count(ds) < 0)
        status = BOUMA_EIO;
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(ds));
    if (!rc)
        rc = site_files_list(&files, ctx, dataset->path);
    if (!rc)
        rc = put_data(site, ctx, data, dataset, &files);
    if (!rc)
        rc = put_dataset(out, ctx, dataset, ds, &files);
    totals->files += files.count;
    totals->bytes += files.bytes;
    site_files_release(&files);
    bouma_dataset_free(ds);
    return rc;
}

static int write_data(const struct static_site *site, struct context *ctx,
                      const char *full, struct totals *totals)
{
    struct memory_budget memory;
    struct json_out out;
    char data[PATH_MAX];
    int rc = join(ctx, data, full, "data");

    memory_budget_init(&memory, 2 * LISTING_BYTES);
    json_out_init(&out, &memory, LISTING_BYTES);
    if (!rc)
        rc = make_folder(ctx, data);
    json_out_open(&out, '{');
    json_out_key(&out, "listing");
    json_out_integer(&out, 1);
    json_out_key(&out, "bouma");
    json_out_text(&out, bouma_version());
    json_out_key(&out, "datasets");
    json_out_open(&out, '[');
    for (size_t i = 0; !rc && i < served_count(site->served); i++)
        rc = add_dataset(site, ctx, data, served_get(site->served, i), &out,
                         totals);
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    json_out_raw(&out, "\n", 1);
    if (!rc && out.failed)
        rc = context_fail(ctx, DATA_AT_FAULT,
                          "the datasets have too many files for one listing; "
                          "write several folders");
    if (!rc)
        rc = write_bytes(ctx, full, "listing.json", out.text, out.used);
    memory_budget_release(&memory, out.text);
    return rc;
}

/* ---- the whole ----------------------------------------------------------- */

static void tell_json(const struct static_site *site,
                      const struct totals *totals)
{
    struct memory_budget memory;
    struct json_out out;

    memory_budget_init(&memory, 1 << 20);
    json_out_init(&out, &memory, 1 << 20);
    json_out_open(&out, '{');
    json_out_key(&out, "folder");
    json_out_text(&out, site->folder);
    json_out_key(&out, "datasets");
    json_out_count(&out, served_count(site->served));
    json_out_key(&out, "files");
    json_out_count(&out, totals->files);
    json_out_key(&out, "bytes");
    json_out_count(&out, totals->bytes);
    json_out_key(&out, "copied");
    json_out_bool(&out, site->copies);
    json_out_close(&out, '}');
    printf("%.*s\n", (int)out.used, out.text ? out.text : "");
    memory_budget_release(&memory, out.text);
}

static void tell(const struct static_site *site, const struct totals *totals)
{
    char datasets[FORMAT_BYTES], files[FORMAT_BYTES], bytes[FORMAT_BYTES];

    printf("%s: %s, %s of %s\n", site->folder,
           format_count(datasets, served_count(site->served), "dataset"),
           format_count(files, totals->files, "file"),
           format_bytes(bytes, totals->bytes));
    printf("A web server that knows Range requests shows it, such as nginx, "
           "Caddy, S3, GitHub Pages, or\n"
           "    npx http-server %s\n"
           "'python3 -m http.server' does not know them.\n",
           site->folder);
    if (!site->copies)
        printf("data/ has links to the datasets: copy the folder with 'rsync "
               "-rL', or write it with --copy.\n");
}

int static_site_write(const struct static_site *site, struct context *ctx)
{
    struct totals totals = {0};
    char full[PATH_MAX];
    int rc = check_build(ctx);

    if (!rc && served_count(site->served) == 0)
        rc = context_fail(ctx, CALL_AT_FAULT, "there is no dataset to show");
    if (!rc)
        rc = take_folder(site, ctx, full);
    if (!rc)
        rc = write_viewer(ctx, full);
    if (!rc)
        rc = write_data(site, ctx, full, &totals);
    if (!rc)
        rc = write_file(ctx, full, "index.html", find_file("static.html"));
    if (!rc && ctx->json)
        tell_json(site, &totals);
    else if (!rc)
        tell(site, &totals);
    return rc;
}
