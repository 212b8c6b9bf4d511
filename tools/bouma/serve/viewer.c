/* viewer.c -- / and /viewer/NAME: the viewer, for people. */
#include "viewer.h"

#include <string.h>

#include "route.h"

/* All that a page needs comes from here, and it sends nothing elsewhere. */
static const char policy[] =
    "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

static const struct viewer_file *find(const char *name)
{
    for (size_t i = 0; i < viewer_file_count; i++)
        if (strcmp(viewer_files[i].name, name) == 0)
            return &viewer_files[i];
    return NULL;
}

void route_viewer(struct request *request, struct answer *answer)
{
    const struct viewer_file *file =
        find(request->name_count ? request->names[0] : "index.html");

    if (viewer_file_count == 0) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "this program was built without the viewer, as npm was not "
                    "there; /api/v1 tells what is served");
        return;
    }
    if (!request->name_count && !request->url->directory) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "the viewer is here with a slash at the end, since what "
                    "its page names lies below");
        return;
    }
    if (!file) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "the viewer has no such file; it is at /");
        return;
    }
    answer->encoding = "gzip";
    answer->policy = policy;
    if (request_has_tag(request, answer, file->tag))
        return;
    answer->type = file->type;
    answer->fixed = file->bytes;
    answer->bytes = file->count;
}
