/* api_drain.c -- bouma_drain(): what was left in local copies. */
#include <string.h>

#include "api/api.h"
#include "check/drain_all.h"

int bm_api_drain(struct bm_comm *comm, const char *local, const char *path,
                 int remove, const bouma_options *opts,
                 bouma_drain_report *report, char *message, size_t bytes)
{
    struct bm_error error = {0};
    bouma_drain_report own;
    bouma_options options;
    int rc = bm_api_check(&options, opts, path, &error);

    memset(&own, 0, sizeof(own));
    if (!rc && (!local || !*local))
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "the path of the dataset to drain is empty");
    if (!rc && !strcmp(local, path))
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "%s: cannot be drained to where it is", path);
    rc = bm_comm_agree(comm, rc, &error);
    if (rc)
        bm_comm_free(comm);
    else
        rc = bm_drain_all(comm, local, path, remove, &options, &own, &error);
    bm_api_tell(message, bytes, error.text);
    if (report)
        *report = own;
    return rc;
}

int bouma_drain(const char *local, const char *path, int remove,
                const bouma_options *opts, bouma_drain_report *report,
                char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = bm_api_alone(&comm, opts, message, bytes);

    return rc ? rc
              : bm_api_drain(comm, local, path, remove, opts, report, message,
                             bytes);
}
